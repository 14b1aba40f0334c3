//! Modules, parameters, configurations, records and data loading.
//!
//! Layers and optimizers live in crates above, tensors in the crate below.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;
// The derive macros name this crate, also within it.
extern crate self as burn_core;

pub mod config;
pub mod data;
pub mod module;
pub mod prelude;
pub mod store;

pub use burn_tensor::Tensor;
pub use serde;

/// Tensors, devices and functions on them.
pub mod tensor {
    pub use burn_tensor::*;
}
