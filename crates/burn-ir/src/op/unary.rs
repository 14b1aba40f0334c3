//! Elementwise functions of one argument. Activations with a lowering are in [`activation`](super::activation).

use super::{BITS, FLOAT, Kinds, NUMERIC, leaves};
use crate::{OperationError, TensorMeta};

leaves! {
    /// An elementwise function `y = f(x)`; the output has the input's description.
    pub enum UnaryOp {
        /// `-x`; integers wrap. Float or int.
        Neg = "neg",
        /// `|x|`; integers wrap at their minimum. Float or int.
        Abs = "abs",
        /// -1, 0 or 1 by the sign of `x`; NaN stays NaN. Float or int.
        Sign = "sign",
        /// `e^x`. Float.
        Exp = "exp",
        /// The natural logarithm. Float.
        Log = "log",
        /// `ln(1 + x)`, accurate near 0. Float.
        Log1p = "log1p",
        /// The square root. Float.
        Sqrt = "sqrt",
        /// `1 / x`. Float.
        Recip = "recip",
        /// The sine of `x` in radians. Float.
        Sin = "sin",
        /// The cosine of `x` in radians. Float.
        Cos = "cos",
        /// The angle in [-π/2, π/2] whose tangent is `x`, in radians. Float.
        Atan = "atan",
        /// The hyperbolic tangent. Float.
        Tanh = "tanh",
        /// The error function. Float.
        Erf = "erf",
        /// The largest integer not above `x`. Float.
        Floor = "floor",
        /// The smallest integer not below `x`. Float.
        Ceil = "ceil",
        /// The nearest integer, halves to even. Float.
        Round = "round",
        /// The integer part. Float.
        Trunc = "trunc",
        /// Logical not of bools, bitwise not of ints.
        Not = "not",
    }
}

impl UnaryOp {
    pub(crate) const fn kinds(self) -> Kinds {
        match self {
            Self::Neg | Self::Abs | Self::Sign => NUMERIC,
            Self::Exp
            | Self::Log
            | Self::Log1p
            | Self::Sqrt
            | Self::Recip
            | Self::Sin
            | Self::Cos
            | Self::Atan
            | Self::Tanh
            | Self::Erf
            | Self::Floor
            | Self::Ceil
            | Self::Round
            | Self::Trunc => FLOAT,
            Self::Not => BITS,
        }
    }
}

pub(crate) fn infer(op: UnaryOp, input: &TensorMeta) -> Result<TensorMeta, OperationError> {
    OperationError::require(op.name(), op.kinds(), &[("input", input)])?;
    Ok(input.clone())
}
