//! Accumulators: what elements of one block become under each fold. Nothing here knows a layout.
//!
//! Fourteen ways to store an element meet in five types to accumulate in, so that the folds are instantiated five times.
//! The fold is chosen once a block, outside the loops over elements.

use super::BLOCK;
use crate::simd::simd;

/// How two accumulators become one. All folds are commutative.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    Sum,
    Prod,
    Max,
    Min,
}

/// A type to accumulate in: floats, integers of 64 bits, and `u8` for truth values, of which the largest tells whether
/// any is true and the smallest whether all are.
pub(crate) trait Acc: bytemuck::Pod + PartialOrd + Send + Sync {
    const ZERO: Self;
    const ONE: Self;
    /// Not above any other.
    const LEAST: Self;
    /// Not below any other.
    const MOST: Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Divides by a count; integers yield 0 for a count of 0.
    fn over(self, count: usize) -> Self;
    /// Whether a result may be final before all elements are seen.
    const SETTLES: bool;
    /// Whether no further element changes the result.
    fn is_final(self, fold: Fold) -> bool;
}

macro_rules! acc {
    ($ty:ty, $zero:expr, $one:expr, $least:expr, $most:expr, $add:expr, $mul:expr, $over:expr, $settles:literal, $final:expr) => {
        impl Acc for $ty {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const LEAST: Self = $least;
            const MOST: Self = $most;
            const SETTLES: bool = $settles;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                $add(self, other)
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                $mul(self, other)
            }
            #[inline(always)]
            fn over(self, count: usize) -> Self {
                $over(self, count as $ty)
            }
            #[inline(always)]
            fn is_final(self, fold: Fold) -> bool {
                $final(self, fold)
            }
        }
    };
}

macro_rules! float_acc {
    ($($ty:ident),+) => {
        $(acc!($ty, 0.0, 1.0, $ty::NEG_INFINITY, $ty::INFINITY, |a, b| a + b, |a, b| a * b, |a, n| a / n, false, |_, _| false);)+
    };
}

macro_rules! int_acc {
    ($($ty:ident),+) => {
        $(acc!($ty, 0, 1, $ty::MIN, $ty::MAX, $ty::wrapping_add, $ty::wrapping_mul,
            |a: $ty, n| a.checked_div(n).unwrap_or(0), false, |_, _| false);)+
    };
}

float_acc!(f32, f64);
int_acc!(i64, u64);
acc!(
    u8,
    0,
    1,
    0,
    1,
    u8::wrapping_add,
    u8::wrapping_mul,
    |a: u8, n| a.checked_div(n).unwrap_or(0),
    true,
    |a, fold| a == u8::from(fold == Fold::Max)
);

/// The result for no element.
pub(crate) fn identity<A: Acc>(fold: Fold) -> A {
    match fold {
        Fold::Sum => A::ZERO,
        Fold::Prod => A::ONE,
        Fold::Max => A::LEAST,
        Fold::Min => A::MOST,
    }
}

/// The larger; a NaN if one is.
#[inline(always)]
pub(crate) fn max<A: Acc>(acc: A, x: A) -> A {
    if x > acc || is_nan(x) { x } else { acc }
}

/// The smaller; a NaN if one is.
#[inline(always)]
pub(crate) fn min<A: Acc>(acc: A, x: A) -> A {
    if x < acc || is_nan(x) { x } else { acc }
}

/// Whether `x` differs from itself.
#[inline(always)]
#[allow(clippy::eq_op)]
pub(crate) fn is_nan<A: PartialEq>(x: A) -> bool {
    x != x
}

/// Calls `$kernel` with the function of `$fold`, compiled for the widest instructions there are.
macro_rules! dispatch {
    ($fold:expr, $acc:ident, |$function:ident| $kernel:expr) => {
        simd(
            #[inline(always)]
            || match $fold {
                Fold::Sum => {
                    let $function = $acc::add;
                    $kernel
                }
                Fold::Prod => {
                    let $function = $acc::mul;
                    $kernel
                }
                Fold::Max => {
                    let $function = max::<$acc>;
                    $kernel
                }
                Fold::Min => {
                    let $function = min::<$acc>;
                    $kernel
                }
            },
        )
    };
}

/// Lanes of a fold: they hide the latency of four additions in flight on vectors of 8.
pub(crate) const LANES: usize = 32;

/// All elements of a row as one.
///
/// In lanes, which are summed up after each [`BLOCK`] elements and joined by halves at the end: a rounding error grows
/// over no more than 32 additions, one for each block, and 5.
pub(crate) fn fold_row<A: Acc>(fold: Fold, row: &[A]) -> A {
    #[inline(always)]
    fn lanes<A: Acc>(fold: Fold, row: &[A], function: impl Fn(A, A) -> A) -> A {
        let mut all = [identity(fold); LANES];
        let (chunks, rest) = row.as_chunks::<LANES>();
        for block in chunks.chunks(BLOCK / LANES) {
            let mut acc = [identity(fold); LANES];
            for chunk in block {
                for i in 0..LANES {
                    acc[i] = function(acc[i], chunk[i]);
                }
            }
            for i in 0..LANES {
                all[i] = function(all[i], acc[i]);
            }
        }
        join_lanes(fold, &all, rest)
    }
    dispatch!(fold, A, |function| lanes(fold, row, function))
}

/// Lanes and what is left beside them as one.
///
/// Out of sight of the loops before: the compiler finds vectors from where lanes are stored side by side, and would find
/// the halves of halves first.
#[inline(never)]
pub(crate) fn join_lanes<A: Acc>(fold: Fold, acc: &[A; LANES], rest: &[A]) -> A {
    #[inline(always)]
    fn halves<A: Acc>(mut acc: [A; LANES], rest: &[A], function: impl Fn(A, A) -> A) -> A {
        for (acc, x) in acc.iter_mut().zip(rest) {
            *acc = function(*acc, *x);
        }
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                acc[i] = function(acc[i], acc[i + width]);
            }
            width /= 2;
        }
        acc[0]
    }
    match fold {
        Fold::Sum => halves(*acc, rest, A::add),
        Fold::Prod => halves(*acc, rest, A::mul),
        Fold::Max => halves(*acc, rest, max),
        Fold::Min => halves(*acc, rest, min),
    }
}

/// Folds each of `rows`, elements side by side, into `acc` position by position.
pub(crate) fn fold_rows<A: Acc>(fold: Fold, acc: &mut [A], rows: &[&[A]]) {
    #[inline(always)]
    fn join<A: Acc>(acc: &mut [A], rows: &[&[A]], function: impl Fn(A, A) -> A) {
        let len = acc.len();
        for rows in rows.chunks(4) {
            match rows {
                // Accumulators are read and written once for four rows.
                [a, b, c, d] if [a, b, c, d].iter().all(|row| row.len() == len) => {
                    let rows = a.iter().zip(*b).zip(c.iter().zip(*d));
                    for (acc, ((a, b), (c, d))) in acc.iter_mut().zip(rows) {
                        let first = function(function(*acc, *a), *b);
                        *acc = function(function(first, *c), *d);
                    }
                }
                _ => {
                    for row in rows {
                        for (acc, x) in acc.iter_mut().zip(*row) {
                            *acc = function(*acc, *x);
                        }
                    }
                }
            }
        }
    }
    dispatch!(fold, A, |function| join(acc, rows, function))
}

/// Accumulators of blocks, joined in pairs of equal weight: the rounding error of a sum grows with the logarithm of
/// the number of blocks (Higham, "The accuracy of floating point summation", 1993, section 2).
pub(crate) struct Cascade<A> {
    fold: Fold,
    width: usize,
    /// Level `l` holds `2^l` blocks if bit `l` of `count` is set.
    levels: alloc::vec::Vec<A>,
    count: usize,
}

impl<A: Acc> Cascade<A> {
    /// Nothing yet, of `width` accumulators side by side.
    pub(crate) fn new(fold: Fold, width: usize) -> Self {
        Self {
            fold,
            width,
            levels: alloc::vec::Vec::new(),
            count: 0,
        }
    }

    /// Joins one more block, and leaves any content in `block`.
    pub(crate) fn push(&mut self, block: &mut [A]) {
        let level = self.count.trailing_ones() as usize;
        for level in self.levels.chunks_exact(self.width).take(level) {
            fold_rows(self.fold, block, &[level]);
        }
        let at = level * self.width;
        match self.levels.get_mut(at..at + self.width) {
            Some(level) => level.copy_from_slice(block),
            None => self.levels.extend_from_slice(block),
        }
        self.count += 1;
    }

    /// Forgets all blocks.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Writes what all blocks are together, and forgets them.
    pub(crate) fn finish(&mut self, result: &mut [A]) {
        result.fill(identity(self.fold));
        for (at, level) in self.levels.chunks_exact(self.width).enumerate() {
            if self.count >> at & 1 == 1 {
                fold_rows(self.fold, result, &[level]);
            }
        }
        self.clear();
    }
}
