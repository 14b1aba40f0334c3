//! CPU kernels in pure Rust: the backend that runs everywhere, and the reference for the others.
//!
//! [`Flex`] runs each instruction on the calling thread, and large ones on all threads with the feature `rayon`.
//! Storage that nobody else holds is overwritten. What an instruction means is described in `burn-ir`.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod backend;
mod ops;
mod parallel;
mod rows;
mod tensor;

pub use backend::{Flex, FlexDevice};
pub use tensor::FlexTensor;
