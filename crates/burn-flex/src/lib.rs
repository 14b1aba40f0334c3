//! CPU kernels in pure Rust: the backend that runs everywhere, and the reference for the others.
//!
//! [`Flex`] runs each instruction on the calling thread, and large ones on all threads with the feature `rayon`.
//! Storage that nobody else holds is overwritten. What an instruction means is described in `burn-ir`.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod backend;
mod block;
mod engine;
mod exec;
mod fuse;
mod math;
mod nontemporal;
mod ops;
mod parallel;
mod rows;
mod simd;
mod source;
#[cfg(feature = "rayon")]
mod team;
mod tensor;

#[cfg(test)]
mod tests;

/// Stops at elements that no kernel computes with: [`Flex`](backend::Flex) does not support them, or other instructions
/// take them.
#[cold]
fn unsupported(dtype: burn_std::DType) -> ! {
    unreachable!("`supports` and the check admit no elements of type {dtype:?} here")
}

pub use backend::{Flex, FlexDevice};
pub use engine::device;
pub use tensor::FlexTensor;
