//! Programs from running code: a device that runs nothing and remembers how each tensor came to be.
//!
//! A captured tensor is a node that owns its instruction, so a program is found by walking back from its outputs: only
//! what they need is in it, nothing is recorded in the wrong place, and scopes never disturb each other. Running a
//! program is the interpreter's work.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod backend;
mod scope;
mod tensor;

pub use backend::{Capture, CaptureDevice};
pub use burn_ir::TensorId;
pub use scope::{CaptureError, CaptureScope, CapturedGraph, CompletedCaptureScope};
pub use tensor::CaptureTensor;
