//! What can be wrong with data, and with reading it from a device.

use core::error::Error;
use core::fmt;

use bytemuck::checked::CheckedCastError;

use crate::{DType, ExecutionError, Shape};

/// Data that is not what it should be.
#[derive(Clone, Debug, PartialEq)]
pub enum DataError {
    /// The elements are stored as another type than asked for.
    DTypeMismatch {
        /// The dtype asked for.
        expected: DType,
        /// The dtype of the data.
        actual: DType,
    },
    /// Another number of elements than asked for.
    ElementCountMismatch {
        /// The number asked for.
        expected: usize,
        /// The number of elements of the data.
        actual: usize,
    },
    /// The bytes are more or fewer than shape and dtype ask for.
    InvalidByteLength {
        /// The shape.
        shape: Shape,
        /// The dtype.
        dtype: DType,
        /// Bytes there are.
        len: usize,
    },
    /// Bytes that are no value of the element type.
    InvalidRepresentation(CheckedCastError),
    /// Elements that do not become elements of another type by themselves.
    UnsupportedConversion {
        /// The dtype of the data.
        from: DType,
        /// The dtype asked for.
        to: DType,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DTypeMismatch { expected, actual } => write!(
                f,
                "the data holds {} elements, not {}; convert it first",
                actual.name(),
                expected.name()
            ),
            Self::ElementCountMismatch { expected, actual } => {
                write!(f, "the data holds {actual} elements, not {expected}")
            }
            Self::InvalidByteLength { shape, dtype, len } => {
                write!(
                    f,
                    "{len} bytes do not make {} elements of shape {shape}",
                    dtype.name()
                )
            }
            Self::UnsupportedConversion { from, to } => write!(
                f,
                "{} elements do not convert to {to:?}; quantize them on a device",
                from.name()
            ),
            Self::InvalidRepresentation(error) => {
                write!(f, "the bytes are no valid elements: {error}")
            }
        }
    }
}

impl Error for DataError {}

/// A read from a device that failed.
#[derive(Clone, Debug)]
pub enum TensorReadError {
    /// The device failed.
    Execution(ExecutionError),
    /// The data is not of the type asked for.
    Data(DataError),
    /// The data has another number of elements than asked for.
    InvalidShape {
        /// The number asked for.
        expected: usize,
        /// The number of elements of the data.
        actual: usize,
    },
}

impl fmt::Display for TensorReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Execution(error) => error.fmt(f),
            Self::Data(error) => error.fmt(f),
            Self::InvalidShape { expected, actual } => {
                write!(f, "the tensor holds {actual} elements, not {expected}")
            }
        }
    }
}

impl Error for TensorReadError {}

impl From<ExecutionError> for TensorReadError {
    fn from(error: ExecutionError) -> Self {
        Self::Execution(error)
    }
}

impl From<DataError> for TensorReadError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}
