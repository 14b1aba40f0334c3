//! Layers with parameters.

mod linear;

pub use linear::{Linear, LinearConfig, LinearLayout};
