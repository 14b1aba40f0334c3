//! Tensors from nothing. The device is an argument of the run, never part of the instruction.

use super::FLOAT;
use crate::{OperationError, Problem, TensorMeta};
use alloc::vec;
use burn_std::{DType, Distribution, Kind, Scalar, Shape};
use serde::{Deserialize, Serialize};

/// A tensor from nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CreateOp {
    /// Every element is `value`.
    Full {
        /// The shape of the output.
        shape: Shape,
        /// The element type of the output.
        dtype: DType,
        /// The element, of the kind of `dtype`.
        value: Scalar,
    },
    /// `start + i · step` for `i` below `len`, wrapping in `dtype`. Int.
    Arange {
        /// The first element.
        start: i64,
        /// The difference between neighbours.
        step: i64,
        /// The number of elements.
        len: usize,
        /// The element type of the output.
        dtype: DType,
    },
    /// Independent draws from the device's generator.
    Random {
        /// The shape of the output.
        shape: Shape,
        /// The element type of the output. Float, or int and bool for what they can hold.
        dtype: DType,
        /// The distribution of each element.
        distribution: Distribution,
    },
}

impl CreateOp {
    /// The name in errors, traces and prints.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Full { .. } => "full",
            Self::Arange { .. } => "arange",
            Self::Random { .. } => "random",
        }
    }
}

pub(crate) fn infer(op: &CreateOp) -> Result<TensorMeta, OperationError> {
    let fail = |problem| Err(OperationError::new(op.name(), vec![], problem));
    match op {
        CreateOp::Full {
            shape,
            dtype,
            value,
        } => {
            if !super::broadcast::scalar_fits(*value, *dtype) {
                return fail(Problem::ScalarKind {
                    value: *value,
                    dtype: *dtype,
                });
            }
            Ok(TensorMeta {
                shape: shape.clone(),
                dtype: *dtype,
            })
        }
        CreateOp::Arange { len, dtype, .. } => {
            if dtype.kind() != Kind::Int {
                return fail(Problem::OutputKind {
                    found: *dtype,
                    expected: "int",
                });
            }
            Ok(TensorMeta::new([*len], *dtype))
        }
        CreateOp::Random {
            shape,
            dtype,
            distribution,
        } => {
            let continuous = matches!(distribution, Distribution::Normal(..));
            if continuous && !FLOAT.contain(*dtype) {
                return fail(Problem::OutputKind {
                    found: *dtype,
                    expected: FLOAT.1,
                });
            }
            if let Some(legal) = missing(*distribution) {
                return fail(Problem::Distribution {
                    found: *distribution,
                    legal,
                });
            }
            Ok(TensorMeta {
                shape: shape.clone(),
                dtype: *dtype,
            })
        }
    }
}

/// What the parameters of a distribution lack.
fn missing(distribution: Distribution) -> Option<&'static str> {
    let (legal, needs) = match distribution {
        Distribution::Default => return None,
        Distribution::Bernoulli(p) => ((0.0..=1.0).contains(&p), "a probability in [0, 1]"),
        Distribution::Uniform(low, high) => (
            low <= high && (high - low).is_finite(),
            "finite bounds, low ≤ high",
        ),
        Distribution::Normal(mean, deviation) => (
            mean.is_finite() && deviation >= 0.0 && deviation.is_finite(),
            "a finite mean and a deviation of at least 0",
        ),
    };
    (!legal).then_some(needs)
}
