//! Arithmetic of floats and ints. Operands broadcast: in each dim their sizes are equal or one of them is 1.

use super::Tensor;
use crate::emit;
use crate::kind::{Basic, Bool, Numeric};
use burn_ir::{BinaryOp, Operand, UnaryOp};
use burn_std::{ElementConversion, Scalar};

impl<const D: usize, K: Basic> Tensor<D, K> {
    #[track_caller]
    pub(super) fn unary(self, op: UnaryOp) -> Self {
        Self::new(emit::unary(op, self.handle))
    }

    #[track_caller]
    pub(super) fn binary(self, op: BinaryOp, other: Self) -> Self {
        Self::new(emit::binary(op, self.handle, other.handle))
    }

    #[track_caller]
    pub(super) fn binary_scalar<E: ElementConversion>(self, op: BinaryOp, other: E) -> Self {
        let other = Scalar::new(other, &self.dtype());
        Self::new(emit::binary_scalar(op, self.handle, other))
    }

    /// The elements of `value` where `mask`, those of the tensor elsewhere.
    #[track_caller]
    pub fn mask_where(self, mask: Tensor<D, Bool>, value: Self) -> Self {
        let (on_true, on_false) = (Operand::Tensor(value.handle), Operand::Tensor(self.handle));
        Self::new(emit::choose(mask.handle, on_true, on_false))
    }

    /// `value` where `mask`, the elements of the tensor elsewhere.
    #[track_caller]
    pub fn mask_fill<E: ElementConversion>(self, mask: Tensor<D, Bool>, value: E) -> Self {
        let value = Scalar::new(value, &self.dtype()).into();
        Self::new(emit::choose(
            mask.handle,
            value,
            Operand::Tensor(self.handle),
        ))
    }
}

/// A method for each elementwise function of two arguments, and one for a tensor and a number.
macro_rules! binary {
    ($($(#[$doc:meta])* $method:ident, $scalar:ident = $op:ident;)+) => {
        #[allow(clippy::should_implement_trait)]
        impl<const D: usize, K: Numeric> Tensor<D, K> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $method(self, other: Self) -> Self {
                    self.binary(BinaryOp::$op, other)
                }

                $(#[$doc])*
                ///
                /// The number is converted to the element type first.
                #[track_caller]
                pub fn $scalar<E: ElementConversion>(self, other: E) -> Self {
                    self.binary_scalar(BinaryOp::$op, other)
                }
            )+
        }
    };
}

binary! {
    /// The sum; ints wrap.
    add, add_scalar = Add;
    /// The difference; ints wrap.
    sub, sub_scalar = Sub;
    /// The product; ints wrap.
    mul, mul_scalar = Mul;
    /// The quotient; ints truncate, and give 0 for a divisor of 0.
    div, div_scalar = Div;
    /// The remainder with the sign of the divisor.
    remainder, remainder_scalar = Remainder;
}

#[allow(clippy::should_implement_trait)]
impl<const D: usize, K: Numeric> Tensor<D, K> {
    /// The tensor with its signs turned.
    #[track_caller]
    pub fn neg(self) -> Self {
        self.unary(UnaryOp::Neg)
    }

    /// The absolute values.
    #[track_caller]
    pub fn abs(self) -> Self {
        self.unary(UnaryOp::Abs)
    }

    /// -1, 0 or 1 by the sign.
    #[track_caller]
    pub fn sign(self) -> Self {
        self.unary(UnaryOp::Sign)
    }

    /// The square of each element.
    #[track_caller]
    pub fn square(self) -> Self {
        self.clone().mul(self)
    }

    /// The tensor to the power of another one.
    #[track_caller]
    pub fn powi(self, other: Self) -> Self {
        self.binary(BinaryOp::Pow, other)
    }

    /// The tensor to the power of an integer.
    #[track_caller]
    pub fn powi_scalar<E: ElementConversion>(self, other: E) -> Self {
        self.binary_scalar(BinaryOp::Pow, other.elem::<i64>())
    }

    /// The matrix product over the last two dims; leading dims are batches, which broadcast.
    ///
    /// # Shapes
    /// - `self`: `[…, m, k]`
    /// - `other`: `[…, k, n]`
    /// - output: `[…, m, n]`
    #[track_caller]
    pub fn matmul(self, other: Self) -> Self {
        Self::new(emit::matmul(self.handle, other.handle))
    }

    /// Whether each element is not 0.
    #[track_caller]
    pub fn bool(self) -> Tensor<D, Bool> {
        Tensor::new(emit::truth(self.handle))
    }
}

impl<K: Numeric> Tensor<1, K> {
    /// The sum of the products of two vectors.
    #[track_caller]
    pub fn dot(self, other: Self) -> Self {
        self.mul(other).sum()
    }
}
