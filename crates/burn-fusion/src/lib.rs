//! Chains of instructions as one kernel, for any backend that fulfils the fuse contract.
//!
//! An instruction that the backend can fuse waits in the tensor it defines. When a value is needed, the elementwise
//! instructions that lead to it and have its shape run as one [`Group`](burn_backend::Group), with a reduction or a
//! matrix product that they follow and with what leads to the reduction. Values that nobody holds are never written.
//! What forms a group is a property of the values, not of the order or the threads in which instructions arrived.
//! Kernels and their generation are the backend's.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod backend;
mod engine;
mod group;
mod tensor;

pub use backend::{Fusion, FusionDevice};
pub use engine::engine;
pub use tensor::FusionTensor;
