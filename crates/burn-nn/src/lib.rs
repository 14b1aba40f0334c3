//! Layers, initializers and losses.
//!
//! A layer is a module; it is made by its configuration (`LinearConfig::new(…).init(&device)`) and run by `forward`.
//! Nothing is computed here that is not a composition of tensor methods and functional modules.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod activation;
pub mod loss;
pub mod modules;

mod check;
mod display;
mod initializer;
mod padding;

pub use activation::{
    Celu, CeluConfig, Elu, EluConfig, GLU, Gelu, HardShrink, HardShrinkConfig, HardSigmoid,
    HardSigmoidConfig, LeakyRelu, LeakyReluConfig, PRelu, PReluConfig, Relu, Selu, Shrink,
    ShrinkConfig, Sigmoid, SoftShrink, SoftShrinkConfig, Softplus, SoftplusConfig, Softsign,
    SwiGlu, SwiGluConfig, Tanh, ThresholdedRelu, ThresholdedReluConfig,
};
pub use initializer::Initializer;
pub use modules::*;
pub use padding::{PaddingConfig1d, PaddingConfig2d, PaddingConfig3d};
