//! Elementwise functions of two arguments, over blocks.

use super::map;
use crate::math;
use crate::simd::{Kernel, Lanes, Real, VectorKernel};
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

/// What an operand is taken through before it meets the other one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `x`
    #[default]
    Plain,
    /// `x · x`
    Square,
    /// `√x`
    Root,
}

/// An operand of [`Mapped`]: `shape(x) · scale + shift`, each operation rounded.
#[derive(Clone, Copy)]
pub(crate) struct Side<T> {
    pub from: *const T,
    pub shape: Shape,
    pub scale: T,
    /// -0 for none, which changes no number, not even a zero.
    pub shift: T,
}

/// A block of a function of two operands that are functions of one element themselves. The pointers are those of
/// [`Step::Mapped`](crate::block::Step::Mapped).
pub(crate) struct Mapped<T> {
    pub op: BinaryOp,
    pub sides: [Side<T>; 2],
    pub out: *mut T,
    pub len: usize,
}

impl<T: Float + Real> Side<T> {
    #[inline(always)]
    fn one(&self, at: usize) -> T {
        // SAFETY: the caller's place is inside the block.
        let x = unsafe { self.from.add(at).read() };
        let x = match self.shape {
            Shape::Plain => x,
            Shape::Square => x * x,
            Shape::Root => x.sqrt(),
        };
        x * self.scale + self.shift
    }

    #[inline(always)]
    fn vectors<L: Lanes<T>>(&self, lanes: L, at: usize) -> [L::Vector; VECTORS] {
        let (scale, shift) = (lanes.splat(self.scale), lanes.splat(self.shift));
        let mut vectors = [scale; VECTORS];
        for (v, x) in vectors.iter_mut().enumerate() {
            // SAFETY: the caller's place is so far inside the block.
            *x = unsafe { lanes.load(self.from.add(at + v * L::COUNT)) };
        }
        // The same way each time, which costs less than a loop for each shape.
        match self.shape {
            Shape::Plain => {}
            Shape::Square => {
                for x in &mut vectors {
                    *x = lanes.mul(*x, *x);
                }
            }
            Shape::Root => {
                for x in &mut vectors {
                    *x = lanes.sqrt(*x);
                }
            }
        }
        for x in &mut vectors {
            *x = lanes.add(lanes.mul(*x, scale), shift);
        }
        vectors
    }
}

/// Vectors that are read before others are written, since places may be the same.
const VECTORS: usize = 4;

impl<T: Float + Real> VectorKernel<T> for Mapped<T> {
    type Output = ();

    // No closure has vectors in it: it would be compiled for other instructions than its caller.
    #[inline(always)]
    fn run<L: Lanes<T>>(self, lanes: L) {
        let part = VECTORS * L::COUNT;
        let whole = self.len / part * part;
        let [lhs, rhs] = self.sides;
        for at in (0..whole).step_by(part) {
            let (mut x, y) = (lhs.vectors(lanes, at), rhs.vectors(lanes, at));
            for (v, x) in x.iter_mut().enumerate() {
                *x = match self.op {
                    BinaryOp::Add => lanes.add(*x, y[v]),
                    BinaryOp::Sub => lanes.sub(*x, y[v]),
                    BinaryOp::Mul => lanes.mul(*x, y[v]),
                    _ => lanes.div(*x, y[v]),
                };
                // SAFETY: the output is valid for `len` elements, and this part of the operands was read, so that it may be
                // where one of them is.
                unsafe { lanes.store(*x, self.out.add(at + v * L::COUNT)) };
            }
        }
        for at in whole..self.len {
            let (x, y) = (lhs.one(at), rhs.one(at));
            let z = match self.op {
                BinaryOp::Add => x + y,
                BinaryOp::Sub => x - y,
                BinaryOp::Mul => x * y,
                BinaryOp::Div => x / y,
                op => no_kernel(op),
            };
            // SAFETY: as above.
            unsafe { self.out.add(at).write(z) };
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
