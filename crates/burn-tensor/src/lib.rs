//! Tensors, devices, activations and functional modules.
//!
//! [`Tensor`] is the user's view of a tensor: a handle with its rank and kind in the type. Each method is a shell that
//! converts its arguments and sends instructions through one door (`emit`), so that a user crate compiles no tensor
//! code of its own and sees no backend. Modules with parameters, optimizers and data loading are in other crates.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod activation;
#[cfg(feature = "autodiff")]
pub mod autodiff;
#[cfg(feature = "capture")]
mod capture;
#[cfg(feature = "std")]
mod closeness;
mod device;
mod dynamic;
mod einsum;
mod emit;
mod graph;
pub mod grid;
pub mod kind;
pub mod loss;
#[doc(hidden)]
pub mod macros;
pub mod module;
mod operators;
mod options;
mod primitive;
pub mod quantization;
mod tensor;
mod transaction;

/// Options of operations.
pub mod ops {
    pub use burn_std::ops::*;
}

pub use burn_backend::{MemoryPoolUsage, SlicedPoolReport};
#[cfg(feature = "autodiff")]
pub use burn_dispatch::autodiff::GradientCheckpointingStrategy;
pub use burn_std::backtrace::BackTrace;
pub use burn_std::distribution::*;
pub use burn_std::element::*;
pub use burn_std::indexing::*;
pub use burn_std::shape::*;
pub use burn_std::slice::*;
pub use burn_std::stream::StreamId;
pub use burn_std::{
    BoolDType, BoolStore, Bytes, DType, DataError, DeviceError, DeviceSettings, ExecutionError,
    FloatDType, IndexingUpdateOp, IntDType, TensorData, TensorReadError, Tolerance, bf16, f16,
    flex32, read_sync, s, try_read_sync,
};
#[cfg(feature = "capture")]
pub use capture::{
    CaptureError, CaptureScope, CapturedGraph, CompletedCaptureScope, ReplayError, TensorId,
};
#[cfg(feature = "std")]
pub use closeness::check_closeness;
pub use device::{
    Device, DeviceConfig, DeviceFilter, DeviceIndex, DeviceKind, DeviceType, Devices,
    ProfileDuration, ProfileOptions, ProfileTicks, TimingMethod,
};
pub use dynamic::{DynTensor, DynTensorError};
pub use einsum::EinsumOperand;
pub use graph::{Graph, capture};
pub use grid::cartesian_grid;
pub use kind::{Bool, Float, Int};
pub use options::TensorCreationOptions;
pub use primitive::PrimitiveConversionError;
#[cfg(feature = "autodiff")]
pub use tensor::Gradients;
pub use tensor::{
    BroadcastArgs, Cast, DimIter, IntoPadding, MovedimArgs, PrintOptions, ReshapeArgs, Tensor,
    set_print_options,
};
pub use transaction::Transaction;
