//! Errors that cross crates: of shapes, of expressions, of devices and of execution.
//!
//! Errors of data live beside it in [`crate::data`].

use alloc::format;
use alloc::string::String;
use core::error::Error;
use core::fmt;

use crate::backtrace::BackTrace;
use crate::{DType, Shape};

/// Shapes that do not fit together, or a dimension that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataError {
    /// Two ranks that have to agree differ.
    RankMismatch {
        /// First rank.
        left: usize,
        /// Second rank.
        right: usize,
    },
    /// The sizes of one dimension differ.
    IncompatibleDims {
        /// Size in the first shape.
        left: usize,
        /// Size in the second shape.
        right: usize,
        /// The dimension.
        dim: usize,
    },
    /// Two shapes as a whole do not fit.
    IncompatibleShapes {
        /// First shape.
        left: Shape,
        /// Second shape.
        right: Shape,
    },
    /// A dimension outside `-rank..rank`.
    OutOfBounds {
        /// The dimension asked for.
        dim: isize,
        /// The rank of the tensor.
        rank: usize,
    },
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RankMismatch { left, right } => {
                write!(f, "rank {left} does not fit rank {right}")
            }
            Self::IncompatibleDims { left, right, dim } => {
                write!(f, "sizes {left} and {right} of dimension {dim} do not fit")
            }
            Self::IncompatibleShapes { left, right } => {
                write!(f, "shapes {left} and {right} do not fit")
            }
            Self::OutOfBounds { dim, rank: 0 } => {
                write!(f, "dimension {dim} does not exist in a scalar")
            }
            Self::OutOfBounds { dim, rank } => {
                write!(f, "dimension {dim} is outside -{rank}..{rank}")
            }
        }
    }
}

impl Error for MetadataError {}

/// A text that is not the expression it should be, as `"1..x"` is not a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionError {
    /// The text does not follow the grammar.
    ParseError {
        /// What is wrong.
        message: String,
        /// The whole text.
        source: String,
    },
    /// The text is well formed and means nothing valid.
    InvalidExpression {
        /// What is wrong.
        message: String,
        /// The whole text.
        source: String,
    },
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ParseError { message, source } => write!(f, "cannot parse {source:?}: {message}"),
            Self::InvalidExpression { message, source } => {
                write!(f, "invalid expression {source:?}: {message}")
            }
        }
    }
}

impl Error for ExpressionError {}

/// A device that cannot do what was asked of its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// The settings of the device are in use and can no longer change.
    AlreadyInitialized {
        /// The device, as text.
        device: String,
    },
    /// The device does not store this dtype.
    UnsupportedDType {
        /// The device, as text.
        device: String,
        /// The dtype asked for.
        dtype: DType,
    },
}

impl DeviceError {
    /// The settings of `device` can no longer change.
    pub fn already_initialized<D: fmt::Debug + ?Sized>(device: &D) -> Self {
        Self::AlreadyInitialized {
            device: format!("{device:?}"),
        }
    }

    /// `device` does not store `dtype`.
    pub fn unsupported_dtype<D: fmt::Debug + ?Sized>(device: &D, dtype: DType) -> Self {
        Self::UnsupportedDType {
            device: format!("{device:?}"),
            dtype,
        }
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyInitialized { device } => write!(
                f,
                "the settings of device {device} are already in use; configure it before its first tensor"
            ),
            Self::UnsupportedDType { device, dtype } => {
                write!(f, "device {device} does not support {}", dtype.name())
            }
        }
    }
}

impl Error for DeviceError {}

/// Work that failed on a device. User mistakes are found before and are not here.
#[derive(Clone, Debug)]
pub enum ExecutionError {
    /// A known cause, where the place in the code says nothing more.
    WithContext {
        /// What happened.
        reason: String,
    },
    /// Anything else.
    Generic {
        /// What happened.
        reason: String,
        /// Where it happened.
        backtrace: BackTrace,
    },
    /// An earlier failure left the device unusable.
    DevicePoisoned {
        /// The earlier failure.
        reason: String,
    },
}

impl ExecutionError {
    /// An error with a known cause.
    pub fn with_context(reason: impl Into<String>) -> Self {
        Self::WithContext {
            reason: reason.into(),
        }
    }

    /// An error that remembers where it was made.
    pub fn generic(reason: impl Into<String>) -> Self {
        Self::Generic {
            reason: reason.into(),
            backtrace: BackTrace::capture(),
        }
    }

    /// The device is unusable because of an earlier failure.
    pub fn device_poisoned(reason: impl Into<String>) -> Self {
        Self::DevicePoisoned {
            reason: reason.into(),
        }
    }

    /// Whether the device is unusable from now on.
    pub fn is_device_poisoned(&self) -> bool {
        matches!(self, Self::DevicePoisoned { .. })
    }

    /// What happened.
    pub fn reason(&self) -> &str {
        match self {
            Self::WithContext { reason }
            | Self::Generic { reason, .. }
            | Self::DevicePoisoned { reason } => reason,
        }
    }
}

impl fmt::Display for ExecutionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DevicePoisoned { reason } => {
                write!(
                    f,
                    "the device is unusable after an earlier failure: {reason}"
                )
            }
            _ => write!(f, "execution failed: {}", self.reason()),
        }
    }
}

impl Error for ExecutionError {}
