//! A deep-learning framework in Rust: tensors, modules, training and inference.
//!
//! This crate only gathers what the crates behind it offer, under the paths that programs use.

#![cfg_attr(not(feature = "std"), no_std)]

pub use burn_core::*;

/// Limits for gradients.
pub mod grad_clipping {
    pub use burn_optim::grad_clipping::*;
}

/// Learning rates.
pub mod lr_scheduler {
    pub use burn_optim::lr_scheduler::*;
}

/// Modules: trees of parameters that are visited, mapped, moved, saved and printed.
pub mod module {
    pub use burn_core::module::*;
    pub use burn_nn::Initializer;
}

/// Layers and losses.
pub mod nn {
    pub use burn_nn::*;
}

/// Optimizers.
pub mod optim {
    pub use burn_optim::*;
}

/// What nearly every program uses.
pub mod prelude {
    pub use crate::nn;
    pub use burn_core::prelude::*;
}
