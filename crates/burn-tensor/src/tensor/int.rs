//! Bits of integers.

use super::Tensor;
use crate::kind::{Float, Int};
use burn_ir::{BinaryOp, UnaryOp};
use burn_std::ElementConversion;

/// A method for each function of the bits of two arguments, and one for a tensor and a number.
macro_rules! bits {
    ($($(#[$doc:meta])* $method:ident, $scalar:ident = $op:ident;)+) => {
        impl<const D: usize> Tensor<D, Int> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $method(self, other: Self) -> Self {
                    self.binary(BinaryOp::$op, other)
                }

                $(#[$doc])*
                #[track_caller]
                pub fn $scalar(self, other: impl ElementConversion) -> Self {
                    self.binary_scalar(BinaryOp::$op, other)
                }
            )+
        }
    };
}

bits! {
    /// The bits that both sides have.
    bitwise_and, bitwise_and_scalar = And;
    /// The bits that either side has.
    bitwise_or, bitwise_or_scalar = Or;
    /// The bits that exactly one side has.
    bitwise_xor, bitwise_xor_scalar = Xor;
}

impl<const D: usize> Tensor<D, Int> {
    /// The bits turned.
    #[track_caller]
    pub fn bitwise_not(self) -> Self {
        self.unary(UnaryOp::Not)
    }

    /// The bits moved up, zeros coming in. The count is taken modulo the bits of the type.
    #[track_caller]
    pub fn bitwise_left_shift(self, other: Self) -> Self {
        let count = self.count(other);
        self.mul(power_of_two(count))
    }

    /// The bits moved up, zeros coming in. The count is taken modulo the bits of the type.
    #[track_caller]
    pub fn bitwise_left_shift_scalar(self, other: impl ElementConversion) -> Self {
        let other = self.like(other);
        self.bitwise_left_shift(other)
    }

    /// The bits moved down, the sign coming in. The count is taken modulo the bits of the type.
    #[track_caller]
    pub fn bitwise_right_shift(self, other: Self) -> Self {
        let count = self.count(other);
        // In two steps: the power of two of the largest count is no positive number of a signed type.
        let most = self.bits() - 2;
        let first = count.clone().clamp_max(most);
        let second = count.sub(first.clone());
        divide(divide(self, power_of_two(first)), power_of_two(second))
    }

    /// The bits moved down, the sign coming in. The count is taken modulo the bits of the type.
    #[track_caller]
    pub fn bitwise_right_shift_scalar(self, other: impl ElementConversion) -> Self {
        let other = self.like(other);
        self.bitwise_right_shift(other)
    }

    fn bits(&self) -> i64 {
        8 * self.dtype().size() as i64
    }

    #[track_caller]
    fn count(&self, count: Self) -> Self {
        count.bitwise_and_scalar(self.bits() - 1)
    }

    /// A number as a tensor that broadcasts.
    #[track_caller]
    fn like(&self, value: impl ElementConversion) -> Self {
        Self::full([1; D], value, (&self.device().inner(), self.dtype()))
    }

    /// The elements as floats of the device's type.
    #[track_caller]
    pub fn float(self) -> Tensor<D, Float> {
        self.preferred()
    }
}

#[track_caller]
fn power_of_two<const D: usize>(exponent: Tensor<D, Int>) -> Tensor<D, Int> {
    exponent.full_like(2).powi(exponent)
}

/// The quotient rounded down, for a positive divisor.
#[track_caller]
fn divide<const D: usize>(lhs: Tensor<D, Int>, rhs: Tensor<D, Int>) -> Tensor<D, Int> {
    lhs.clone().sub(lhs.remainder(rhs.clone())).div(rhs)
}
