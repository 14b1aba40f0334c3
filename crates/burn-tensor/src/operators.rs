//! `+`, `-`, `*`, `/`, `%`, `!`, `&`, `|`, `^` of tensors and numbers.

use crate::Tensor;
use crate::kind::{Bool, Float, Numeric};
use burn_std::ElementConversion;
use core::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};

macro_rules! arithmetic {
    ($($trait:ident, $method:ident: $tensor:ident, $scalar:ident;)+) => {
        $(
            impl<const D: usize, K: Numeric> $trait for Tensor<D, K> {
                type Output = Self;

                #[track_caller]
                fn $method(self, other: Self) -> Self {
                    Tensor::$tensor(self, other)
                }
            }

            impl<E: ElementConversion, const D: usize, K: Numeric> $trait<E> for Tensor<D, K> {
                type Output = Self;

                #[track_caller]
                fn $method(self, other: E) -> Self {
                    self.$scalar(other)
                }
            }
        )+
    };
}

arithmetic! {
    Add, add: add, add_scalar;
    Sub, sub: sub, sub_scalar;
    Mul, mul: mul, mul_scalar;
    Div, div: div, div_scalar;
    Rem, rem: remainder, remainder_scalar;
}

/// A number on the left.
macro_rules! scalars {
    ($($ty:ty),+) => {
        $(
            impl<const D: usize, K: Numeric> Add<Tensor<D, K>> for $ty {
                type Output = Tensor<D, K>;

                #[track_caller]
                fn add(self, tensor: Tensor<D, K>) -> Tensor<D, K> {
                    tensor.add_scalar(self)
                }
            }

            impl<const D: usize, K: Numeric> Sub<Tensor<D, K>> for $ty {
                type Output = Tensor<D, K>;

                #[track_caller]
                fn sub(self, tensor: Tensor<D, K>) -> Tensor<D, K> {
                    tensor.neg().add_scalar(self)
                }
            }

            impl<const D: usize, K: Numeric> Mul<Tensor<D, K>> for $ty {
                type Output = Tensor<D, K>;

                #[track_caller]
                fn mul(self, tensor: Tensor<D, K>) -> Tensor<D, K> {
                    tensor.mul_scalar(self)
                }
            }
        )+
    };
}

scalars!(f32, f64, i32, i64, u32, u64);

/// A number over a float tensor.
macro_rules! quotients {
    ($($ty:ty),+) => {
        $(impl<const D: usize> Div<Tensor<D, Float>> for $ty {
            type Output = Tensor<D, Float>;

            #[track_caller]
            fn div(self, tensor: Tensor<D, Float>) -> Tensor<D, Float> {
                tensor.recip().mul_scalar(self)
            }
        })+
    };
}

quotients!(f32, f64);

impl<const D: usize, K> Neg for Tensor<D, K>
where
    K: Numeric,
{
    type Output = Self;

    #[track_caller]
    fn neg(self) -> Self {
        Tensor::neg(self)
    }
}

impl<const D: usize> Not for Tensor<D, Bool> {
    type Output = Self;

    #[track_caller]
    fn not(self) -> Self {
        self.bool_not()
    }
}

macro_rules! logic {
    ($($trait:ident, $method:ident: $tensor:ident;)+) => {
        $(impl<const D: usize> $trait for Tensor<D, Bool> {
            type Output = Self;

            #[track_caller]
            fn $method(self, other: Self) -> Self {
                self.$tensor(other)
            }
        })+
    };
}

logic! {
    BitAnd, bitand: bool_and;
    BitOr, bitor: bool_or;
    BitXor, bitxor: bool_xor;
}
