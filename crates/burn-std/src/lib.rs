//! Shapes, dtypes, elements, bytes, tensor data and errors shared by every crate.
//!
//! Nothing here computes on tensors, knows an instruction or a device: those live in the crates
//! above. Works without the standard library (`alloc` only) when the `std` feature is off.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod backtrace;
pub mod bytes;
pub mod config;
pub mod container;
pub mod data;
pub mod distribution;
pub mod dtype;
pub mod element;
pub mod errors;
pub mod future;
pub mod id;
pub mod indexing;
pub mod layout;
pub mod matmul;
pub mod metadata;
#[cfg(feature = "network")]
pub mod network;
pub mod ops;
#[cfg(feature = "std")]
mod pages;
pub mod quantization;
pub mod rand;
pub mod reader;
mod reshape;
#[cfg(feature = "std")]
mod reuse;
pub mod runtime_kind;
pub mod settings;
pub mod shape;
pub mod slice;
pub mod stream;
pub mod sync;

pub use bytes::Bytes;
pub use data::{
    DataError, TensorData, TensorDataView, TensorDataViewMut, TensorReadError, Tolerance,
};
pub use distribution::{Distribution, DistributionSampler, DistributionSamplerKind};
pub use dtype::{BoolDType, BoolStore, DType, FloatDType, FloatInfo, IntDType, Kind};
pub use element::{
    Element, ElementAdd, ElementComparison, ElementConversion, ElementEq, ElementLimits,
    ElementOrdered, ElementRandom, Scalar, cast, flex32,
};
pub use errors::{DeviceError, ExecutionError, ExpressionError, MetadataError};
pub use future::DynFut;
pub use half::{bf16, f16};
pub use indexing::{AsIndex, wrap_dim};
pub use matmul::{MatmulTransformAction, MatmulTransformAnalysis, MatmulTransformPolicy};
pub use metadata::Metadata;
pub use ops::*;
pub use quantization::{
    BlockLayout, BlockScale, BlockSize, Calibration, DecodedScales, QPARAM_ALIGN, QParamTensor,
    QParams, QuantAcc, QuantConfig, QuantMode, QuantPropagation, QuantScheme, QuantStore,
    QuantValue, QuantizedBytes, ScaleDtype,
};
pub use reader::{read_sync, try_read_sync};
pub use reshape::{ReshapeAction, ReshapeAnalysis};
pub use runtime_kind::RuntimeKind;
pub use settings::DeviceSettings;
pub use shape::{Shape, SliceOps, SmallVec, Strides, calculate_matmul_output};
pub use slice::{Slice, SliceArg, SliceIter};

/// The parts that describe a tensor: sizes, types and selections.
pub mod tensor {
    pub use crate::container;
    pub use crate::dtype::{self, BoolStore, DType, FloatDType, FloatInfo, IntDType};
    pub use crate::errors::{ExpressionError, MetadataError};
    pub use crate::indexing::{self, AsIndex};
    pub use crate::layout;
    pub use crate::matmul::{
        self, MatmulTransformAction, MatmulTransformAnalysis, MatmulTransformPolicy,
    };
    pub use crate::metadata::Metadata;
    pub use crate::quantization::{
        self, BlockLayout, BlockScale, BlockSize, Calibration, DecodedScales, QParamTensor,
        QParams, QuantAcc, QuantConfig, QuantMode, QuantPropagation, QuantScheme, QuantStore,
        QuantValue, QuantizedBytes, ScaleDtype,
    };
    pub use crate::reshape::{ReshapeAction, ReshapeAnalysis};
    pub use crate::shape::{self, Shape, SliceOps, SmallVec, Strides, calculate_matmul_output};
    pub use crate::slice::{self, Slice, SliceArg, SliceIter};
}
