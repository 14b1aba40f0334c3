//! Elementwise functions of one argument, over blocks.

use super::map;
use crate::math;
use crate::simd::Kernel;
use burn_ir::UnaryOp;
use num_traits::Float;

/// An element type with functions of one argument.
pub(crate) trait Unary: Copy {
    /// Applies the function to a block.
    fn unary<const FMA: bool>(op: UnaryOp, x: &[Self], out: &mut [Self]);
}

/// A block of one function.
pub(crate) struct Block<'a, T> {
    pub op: UnaryOp,
    pub x: &'a [T],
    pub out: &'a mut [T],
}

impl<T: Unary> Kernel for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        T::unary::<FMA>(self.op, self.x, self.out);
    }
}

/// -1, 0 or 1; the sum is NaN for NaN.
macro_rules! sign {
    ($x:expr) => {
        if $x > 0.0 {
            1.0
        } else if $x < 0.0 {
            -1.0
        } else {
            $x
        }
    };
}

impl Unary for f32 {
    #[inline(always)]
    fn unary<const FMA: bool>(op: UnaryOp, x: &[f32], out: &mut [f32]) {
        match op {
            UnaryOp::Neg => map!(|x: f32| -x, x => out),
            UnaryOp::Abs => map!(f32::abs, x => out),
            UnaryOp::Sign => map!(|x: f32| sign!(x), x => out),
            UnaryOp::Exp => map!(math::exp::<FMA>, x => out),
            UnaryOp::Log => map!(math::log::<FMA>, x => out),
            UnaryOp::Log1p => map!(math::log1p::<FMA>, x => out),
            UnaryOp::Sqrt => map!(Float::sqrt, x => out),
            UnaryOp::Recip => map!(|x: f32| 1.0 / x, x => out),
            UnaryOp::Sin => {
                map!(math::sin, x => out);
                many_turns(libm::sinf, x, out);
            }
            UnaryOp::Cos => {
                map!(math::cos, x => out);
                many_turns(libm::cosf, x, out);
            }
            UnaryOp::Atan => map!(Float::atan, x => out),
            UnaryOp::Tanh => map!(math::tanh::<FMA>, x => out),
            UnaryOp::Erf => map!(math::erf::<FMA>, x => out),
            UnaryOp::Floor => map!(math::floor, x => out),
            UnaryOp::Ceil => map!(math::ceil, x => out),
            UnaryOp::Round => map!(math::round, x => out),
            UnaryOp::Trunc => map!(math::trunc, x => out),
            UnaryOp::Not => no_kernel(op),
        }
    }
}

/// Replaces the results for arguments beyond what the vectorised functions reduce.
#[inline(never)]
fn many_turns(f: fn(f32) -> f32, x: &[f32], out: &mut [f32]) {
    if x.iter().fold(false, |any, x| any | (x.abs() > math::TURNS)) {
        for (out, x) in out.iter_mut().zip(x) {
            if x.abs() > math::TURNS {
                *out = f(*x);
            }
        }
    }
}

impl Unary for f64 {
    #[inline(always)]
    fn unary<const FMA: bool>(op: UnaryOp, x: &[f64], out: &mut [f64]) {
        match op {
            UnaryOp::Neg => map!(|x: f64| -x, x => out),
            UnaryOp::Abs => map!(f64::abs, x => out),
            UnaryOp::Sign => map!(|x: f64| sign!(x), x => out),
            UnaryOp::Exp => map!(Float::exp, x => out),
            UnaryOp::Log => map!(Float::ln, x => out),
            UnaryOp::Log1p => map!(Float::ln_1p, x => out),
            UnaryOp::Sqrt => map!(Float::sqrt, x => out),
            UnaryOp::Recip => map!(|x: f64| 1.0 / x, x => out),
            UnaryOp::Sin => map!(Float::sin, x => out),
            UnaryOp::Cos => map!(Float::cos, x => out),
            UnaryOp::Atan => map!(Float::atan, x => out),
            UnaryOp::Tanh => map!(Float::tanh, x => out),
            UnaryOp::Erf => map!(libm::erf, x => out),
            UnaryOp::Floor => map!(math::floor64, x => out),
            UnaryOp::Ceil => map!(math::ceil64, x => out),
            UnaryOp::Round => map!(math::round64, x => out),
            UnaryOp::Trunc => map!(math::trunc64, x => out),
            UnaryOp::Not => no_kernel(op),
        }
    }
}

macro_rules! integers {
    ($abs:expr, $sign:expr, $($ty:ty)*) => {
        $(impl Unary for $ty {
            #[inline(always)]
            fn unary<const FMA: bool>(op: UnaryOp, x: &[$ty], out: &mut [$ty]) {
                match op {
                    UnaryOp::Neg => map!(<$ty>::wrapping_neg, x => out),
                    UnaryOp::Abs => map!($abs, x => out),
                    UnaryOp::Sign => map!($sign, x => out),
                    UnaryOp::Not => map!(|x: $ty| !x, x => out),
                    UnaryOp::Exp
                    | UnaryOp::Log
                    | UnaryOp::Log1p
                    | UnaryOp::Sqrt
                    | UnaryOp::Recip
                    | UnaryOp::Sin
                    | UnaryOp::Cos
                    | UnaryOp::Atan
                    | UnaryOp::Tanh
                    | UnaryOp::Erf
                    | UnaryOp::Floor
                    | UnaryOp::Ceil
                    | UnaryOp::Round
                    | UnaryOp::Trunc => no_kernel(op),
                }
            }
        })*
    };
}

integers!(Self::wrapping_abs, Self::signum, i8 i16 i32 i64);
integers!(|x| x, |x| Ord::min(x, 1), u8 u16 u32 u64);

/// Only the check of an instruction stands between a user and this.
#[cold]
fn no_kernel(op: UnaryOp) -> ! {
    panic!("`{}` was checked for another element type", op.name())
}
