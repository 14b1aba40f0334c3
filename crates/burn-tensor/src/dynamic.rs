//! Tensors whose rank and kind are not in the type.

use crate::kind::{Basic, Kind};
use crate::{Device, Tensor};
use burn_dispatch::Handle;
use burn_ir::Described;
use burn_std::{DType, Shape};
use core::fmt;

/// A tensor of any rank and kind, for lists of different ones.
#[derive(Clone)]
pub struct DynTensor(pub(crate) Handle);

impl DynTensor {
    /// The size of each dim.
    pub fn shape(&self) -> Shape {
        self.0.meta().shape.clone()
    }

    /// How the elements are stored.
    pub fn dtype(&self) -> DType {
        self.0.meta().dtype
    }

    /// Where the tensor lives.
    pub fn device(&self) -> Device {
        Device(self.0.device())
    }

    /// The tensor with its rank and kind in the type.
    ///
    /// # Errors
    /// If it is of another rank or kind.
    pub fn into_rank<const D: usize, K: Basic>(self) -> Result<Tensor<D, K>, DynTensorError> {
        let (rank, kind) = (self.0.meta().rank(), Kind::from(self.dtype()));
        if rank != D {
            return Err(DynTensorError::Rank {
                found: rank,
                expected: D,
            });
        }
        if kind != K::KIND {
            return Err(DynTensorError::Kind {
                found: kind,
                expected: K::KIND,
            });
        }
        Ok(Tensor::new(self.0))
    }
}

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// The tensor without its rank and kind in the type.
    pub fn into_dyn(self) -> DynTensor {
        self.into()
    }

    /// The tensor under another rank in the type, if it is of that: for code that is generic over ranks.
    ///
    /// # Errors
    /// If it is of another rank.
    pub fn into_rank<const D2: usize>(self) -> Result<Tensor<D2, K>, DynTensorError> {
        self.into_dyn().into_rank()
    }
}

impl<const D: usize, K: Basic> From<Tensor<D, K>> for DynTensor {
    fn from(tensor: Tensor<D, K>) -> Self {
        Self(tensor.handle)
    }
}

impl fmt::Debug for DynTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({} on {})", self.0.meta(), self.0.device())
    }
}

/// Why a tensor is not of the type asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynTensorError {
    /// It is of another rank.
    Rank {
        /// The rank of the tensor.
        found: usize,
        /// The rank asked for.
        expected: usize,
    },
    /// It is of another kind.
    Kind {
        /// The kind of the tensor.
        found: Kind,
        /// The kind asked for.
        expected: Kind,
    },
}

impl core::error::Error for DynTensorError {}

impl fmt::Display for DynTensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank { found, expected } => {
                write!(f, "the tensor has rank {found}, not {expected}")
            }
            Self::Kind { found, expected } => write!(
                f,
                "the tensor is of kind {}, not {}",
                found.as_str(),
                expected.as_str()
            ),
        }
    }
}
