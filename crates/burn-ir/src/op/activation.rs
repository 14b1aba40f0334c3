//! Composite functions: each has a lowering, and a backend implements those that pay.

use super::FLOAT;
use crate::{Class, OperationError, Problem, TensorMeta};
use serde::{Deserialize, Serialize};

/// A function with a lowering; the output has the input's description. Float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ActivationOp {
    /// `max(x, 0)`; NaN stays NaN, and the gradient at 0 is 0.
    Relu,
    /// `x · Φ(x)` with the normal distribution function Φ (Hendrycks and Gimpel 2016, section 2).
    Gelu,
    /// `1 / (1 + e^-x)`
    Sigmoid,
    /// `e^x / Σ e^x` along `dim`, computed after subtracting the maximum.
    Softmax {
        /// The dim that sums to 1.
        dim: usize,
    },
    /// The logarithm of [`ActivationOp::Softmax`], without its underflow.
    LogSoftmax {
        /// The dim whose exponentials sum to 1.
        dim: usize,
    },
}

impl ActivationOp {
    /// The name in errors, traces and prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Relu => "relu",
            Self::Gelu => "gelu",
            Self::Sigmoid => "sigmoid",
            Self::Softmax { .. } => "softmax",
            Self::LogSoftmax { .. } => "log_softmax",
        }
    }

    pub(crate) const fn class(self) -> Class {
        match self {
            Self::Relu | Self::Gelu | Self::Sigmoid => Class::Elementwise,
            Self::Softmax { .. } | Self::LogSoftmax { .. } => Class::Reduction,
        }
    }
}

pub(crate) fn infer(op: ActivationOp, input: &TensorMeta) -> Result<TensorMeta, OperationError> {
    let operands = [("input", input)];
    OperationError::require(op.name(), FLOAT, &operands)?;
    match op {
        ActivationOp::Softmax { dim } | ActivationOp::LogSoftmax { dim } if dim >= input.rank() => {
            Err(OperationError::of(
                op.name(),
                &operands,
                Problem::DimOutOfRange { dim },
            ))
        }
        _ => Ok(input.clone()),
    }
}
