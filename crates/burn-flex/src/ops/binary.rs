//! Elementwise functions of two arguments, over blocks.

use super::map;
use crate::math;
use crate::simd::Kernel;
use burn_ir::BinaryOp;
use num_traits::Float;

/// An element type with functions of two arguments.
pub(crate) trait Binary: Copy {
    /// Applies the function to a block.
    fn binary(op: BinaryOp, lhs: &[Self], rhs: &[Self], out: &mut [Self]);
}

/// A block of one function.
pub(crate) struct Block<'a, T> {
    pub op: BinaryOp,
    pub lhs: &'a [T],
    pub rhs: &'a [T],
    pub out: &'a mut [T],
}

impl<T: Binary> Kernel for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        T::binary(self.op, self.lhs, self.rhs, self.out);
    }
}

/// A block of a function of two products. The pointers are those of [`Step::Scaled`](crate::block::Step::Scaled).
pub(crate) struct Scaled<T> {
    pub op: BinaryOp,
    pub lhs: (*const T, T),
    pub rhs: (*const T, T),
    pub out: *mut T,
    pub len: usize,
}

impl<T: Float> Kernel for Scaled<T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (s, t) = (self.lhs.1, self.rhs.1);
        match self.op {
            BinaryOp::Add => self.each(|x, y| x * s + y * t),
            BinaryOp::Sub => self.each(|x, y| x * s - y * t),
            BinaryOp::Mul => self.each(|x, y| (x * s) * (y * t)),
            BinaryOp::Div => self.each(|x, y| (x * s) / (y * t)),
            op => no_kernel(op),
        }
    }
}

impl<T: Float> Scaled<T> {
    #[inline(always)]
    fn each(self, f: impl Fn(T, T) -> T) {
        /// Elements that are read before others are written: whole vectors, since places may be the same.
        const PART: usize = 16;
        let (lhs, rhs, out) = (self.lhs.0, self.rhs.0, self.out);
        let parts = self.len / PART;
        // SAFETY: the pointers are valid for `len` elements by the promise of `Step::run`. A part is read as a whole before
        // its place is written, so that the output may be where an operand is.
        unsafe {
            for part in 0..parts {
                let at = part * PART;
                let x = lhs.add(at).cast::<[T; PART]>().read();
                let y = rhs.add(at).cast::<[T; PART]>().read();
                let z: [T; PART] = core::array::from_fn(|i| f(x[i], y[i]));
                out.add(at).cast::<[T; PART]>().write(z);
            }
            for at in parts * PART..self.len {
                *out.add(at) = f(*lhs.add(at), *rhs.add(at));
            }
        }
    }
}

macro_rules! floats {
    ($($ty:ident $pow:path;)*) => {
        $(impl Binary for $ty {
            #[inline(always)]
            fn binary(op: BinaryOp, lhs: &[$ty], rhs: &[$ty], out: &mut [$ty]) {
                match op {
                    BinaryOp::Add => map!(|x: $ty, y: $ty| x + y, lhs, rhs => out),
                    BinaryOp::Sub => map!(|x: $ty, y: $ty| x - y, lhs, rhs => out),
                    BinaryOp::Mul => map!(|x: $ty, y: $ty| x * y, lhs, rhs => out),
                    BinaryOp::Div => map!(|x: $ty, y: $ty| x / y, lhs, rhs => out),
                    BinaryOp::Remainder => map!(
                        |x: $ty, y: $ty| {
                            let rest = x % y;
                            let other_sign = (rest < 0.0) != (y < 0.0);
                            if (rest != 0.0) & other_sign { rest + y } else { rest }
                        },
                        lhs, rhs => out
                    ),
                    BinaryOp::Pow => map!($pow, lhs, rhs => out),
                    // The comparison is false for NaN: a NaN in `y` is taken by it, one in `x` by the test.
                    BinaryOp::Max => map!(
                        |x: $ty, y: $ty| if (x > y) | x.is_nan() { x } else { y },
                        lhs, rhs => out
                    ),
                    BinaryOp::Min => map!(
                        |x: $ty, y: $ty| if (x < y) | x.is_nan() { x } else { y },
                        lhs, rhs => out
                    ),
                    BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => no_kernel(op),
                }
            }
        })*
    };
}

floats! {
    f32 math::pow;
    f64 Float::powf;
}

macro_rules! integers {
    ($($ty:ident)*) => {
        $(impl Binary for $ty {
            #[inline(always)]
            fn binary(op: BinaryOp, lhs: &[$ty], rhs: &[$ty], out: &mut [$ty]) {
                match op {
                    BinaryOp::Add => map!($ty::wrapping_add, lhs, rhs => out),
                    BinaryOp::Sub => map!($ty::wrapping_sub, lhs, rhs => out),
                    BinaryOp::Mul => map!($ty::wrapping_mul, lhs, rhs => out),
                    BinaryOp::Div => map!(
                        |x: $ty, y: $ty| if y == 0 { 0 } else { x.wrapping_div(y) },
                        lhs, rhs => out
                    ),
                    BinaryOp::Remainder => map!(
                        |x: $ty, y: $ty| {
                            let rest = if y == 0 { 0 } else { x.wrapping_rem(y) };
                            #[allow(unused_comparisons, reason = "false for unsigned types")]
                            let other_sign = (rest < 0) != (y < 0);
                            if rest != 0 && other_sign { rest + y } else { rest }
                        },
                        lhs, rhs => out
                    ),
                    BinaryOp::Pow => map!(power::$ty, lhs, rhs => out),
                    BinaryOp::Max => map!(Ord::max, lhs, rhs => out),
                    BinaryOp::Min => map!(Ord::min, lhs, rhs => out),
                    BinaryOp::And => map!(|x: $ty, y: $ty| x & y, lhs, rhs => out),
                    BinaryOp::Or => map!(|x: $ty, y: $ty| x | y, lhs, rhs => out),
                    BinaryOp::Xor => map!(|x: $ty, y: $ty| x ^ y, lhs, rhs => out),
                }
            }
        })*

        /// Powers by repeated squaring, one function for each type.
        mod power {
            $(#[inline(never)]
            #[allow(unused_comparisons, reason = "unsigned exponents are not negative")]
            pub(super) fn $ty(base: $ty, exponent: $ty) -> $ty {
                if exponent < 0 {
                    // 1 / base^n cut to an integer: only ±1 are left, and 0 has no inverse.
                    return match base {
                        1 => 1,
                        // The square of the greatest is 1 as well, so this asks for -1 by name.
                        base if base.wrapping_add(1) == 0 => 1 - 2 * (exponent & 1),
                        _ => 0,
                    };
                }
                let (mut power, mut square, mut rest) = (1 as $ty, base, exponent);
                while rest != 0 {
                    if rest & 1 == 1 {
                        power = power.wrapping_mul(square);
                    }
                    square = square.wrapping_mul(square);
                    rest >>= 1;
                }
                power
            })*
        }
    };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Only the check of an instruction stands between a user and this.
#[cold]
fn no_kernel(op: BinaryOp) -> ! {
    panic!("`{}` was checked for another element type", op.name())
}
