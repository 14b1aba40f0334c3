//! Elementwise comparisons.

use super::{ANY, Kinds, NUMERIC, broadcast, leaves};
use crate::{Operand, OperationError, TensorMeta};
use burn_std::{BoolStore, DType};

leaves! {
    /// A relation between two arguments of one element type; the output is bool. Broadcasts like
    /// [`BinaryOp`](super::BinaryOp). Every relation with NaN is false but [`CompareOp::NotEqual`].
    pub enum CompareOp {
        /// `x = y`. Any kind.
        Equal = "equal",
        /// `x ≠ y`. Any kind.
        NotEqual = "not_equal",
        /// `x < y`. Float or int.
        Lower = "lower",
        /// `x ≤ y`. Float or int.
        LowerEqual = "lower_equal",
        /// `x > y`. Float or int.
        Greater = "greater",
        /// `x ≥ y`. Float or int.
        GreaterEqual = "greater_equal",
    }
}

impl CompareOp {
    const fn kinds(self) -> Kinds {
        match self {
            Self::Equal | Self::NotEqual => ANY,
            Self::Lower | Self::LowerEqual | Self::Greater | Self::GreaterEqual => NUMERIC,
        }
    }
}

pub(crate) fn infer(
    op: CompareOp,
    lhs: &TensorMeta,
    rhs: &Operand<&TensorMeta>,
    store: BoolStore,
) -> Result<TensorMeta, OperationError> {
    let shape = broadcast::pair(op.name(), op.kinds(), lhs, rhs)?;
    Ok(TensorMeta {
        shape,
        dtype: DType::Bool(store),
    })
}
