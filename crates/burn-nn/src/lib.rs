//! Layers, initializers and losses.
//!
//! So far: linear layers, convolutions, pools, layer and batch normalization, tables, dropout, simple activations and
//! cross entropy. A layer is a module; it is made by
//! its configuration (`LinearConfig::new(…).init(&device)`) and run by `forward`.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod activation;
pub mod loss;
pub mod modules;

mod initializer;
mod padding;

pub use activation::{Gelu, Relu, Sigmoid, Tanh};
pub use initializer::Initializer;
pub use modules::*;
pub use padding::{PaddingConfig1d, PaddingConfig2d, PaddingConfig3d};
