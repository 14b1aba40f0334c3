//! Elementwise functions of two arguments.

use super::{BITS, Kinds, NUMERIC, broadcast, leaves};
use crate::{Operand, OperationError, TensorMeta};

leaves! {
    /// An elementwise function `z = f(x, y)` of two arguments of one element type, which the output keeps.
    ///
    /// # Shapes
    /// Equal ranks; in each dim the sizes are equal or one of them is 1 and stretches, to 0 too.
    pub enum BinaryOp {
        /// `x + y`; integers wrap. Float or int.
        Add = "add",
        /// `x - y`; integers wrap. Float or int.
        Sub = "sub",
        /// `x · y`; integers wrap. Float or int.
        Mul = "mul",
        /// `x / y`; integers truncate, and yield 0 for a divisor of 0. Float or int.
        Div = "div",
        /// The remainder with the sign of the divisor; 0 for an int divisor of 0. Float or int.
        Remainder = "remainder",
        /// `x^y`; integers wrap, and yield 0 for a negative exponent of a base above 1. Float or int.
        Pow = "pow",
        /// The larger; NaN if either is. Float or int.
        Max = "max",
        /// The smaller; NaN if either is. Float or int.
        Min = "min",
        /// Logical and of bools, bitwise and of ints.
        And = "and",
        /// Logical or of bools, bitwise or of ints.
        Or = "or",
        /// Logical exclusive or of bools, bitwise of ints.
        Xor = "xor",
    }
}

impl BinaryOp {
    pub(crate) const fn kinds(self) -> Kinds {
        match self {
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Remainder
            | Self::Pow
            | Self::Max
            | Self::Min => NUMERIC,
            Self::And | Self::Or | Self::Xor => BITS,
        }
    }
}

pub(crate) fn infer(
    op: BinaryOp,
    lhs: &TensorMeta,
    rhs: &Operand<&TensorMeta>,
) -> Result<TensorMeta, OperationError> {
    let shape = broadcast::pair(op.name(), op.kinds(), lhs, rhs)?;
    Ok(TensorMeta {
        shape,
        dtype: lhs.dtype,
    })
}
