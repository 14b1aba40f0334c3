//! Modules, parameters, configurations, records and data loading.
//!
//! Layers and optimizers live in crates above, tensors in the crate below.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;
// The derive macros name this crate, also within it.
extern crate self as burn_core;

pub mod config;

pub use serde;
