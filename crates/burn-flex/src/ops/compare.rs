//! Elementwise comparisons, over blocks. Truth values are written as bytes of 0 and 1.

use super::map;
use crate::simd::Kernel;
use burn_ir::CompareOp;

/// A block of one comparison.
pub(crate) struct Block<'a, T> {
    pub op: CompareOp,
    pub lhs: &'a [T],
    pub rhs: &'a [T],
    pub out: &'a mut [u8],
}

impl<T: Copy + PartialOrd> Kernel for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { op, lhs, rhs, out } = self;
        match op {
            CompareOp::Equal => map!(|x: T, y: T| u8::from(x == y), lhs, rhs => out),
            CompareOp::NotEqual => map!(|x: T, y: T| u8::from(x != y), lhs, rhs => out),
            CompareOp::Lower => map!(|x: T, y: T| u8::from(x < y), lhs, rhs => out),
            CompareOp::LowerEqual => map!(|x: T, y: T| u8::from(x <= y), lhs, rhs => out),
            CompareOp::Greater => map!(|x: T, y: T| u8::from(x > y), lhs, rhs => out),
            CompareOp::GreaterEqual => map!(|x: T, y: T| u8::from(x >= y), lhs, rhs => out),
        }
    }
}
