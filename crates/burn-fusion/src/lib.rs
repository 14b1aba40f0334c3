//! Elementwise chains as one kernel, for any backend that fulfils the fuse contract.
//!
//! An elementwise instruction waits in the tensor it defines. When a value is needed, the instructions that lead to it
//! and have its shape run as one [`Group`](burn_backend::Group); values that nobody holds are never written. What
//! forms a group is a property of the values, not of the order or the threads in which instructions arrived. Kernels
//! and their generation are the backend's.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod backend;
mod engine;
mod group;
mod tensor;

pub use backend::{Fusion, FusionDevice};
pub use engine::engine;
pub use tensor::FusionTensor;
