//! Products of integer matrices, which wrap. Signed and unsigned ones have the same lower bits.

use super::Product;
use super::gemv::add_lines;
use crate::ops::movement::copy_strided;
use crate::parallel::{self, Shared};
use alloc::vec::Vec;

/// Columns, depth and rows of a block: its part of the right-hand side, 64 KiB of u32, stays in the second level of
/// cache while the rows pass, and a line of the result in the first.
const COLS: usize = 256;
const DEPTH: usize = 64;
const ROWS: usize = 32;

/// An unsigned integer.
pub(super) trait Wrap: bytemuck::NoUninit + Default + Send + Sync {
    /// `self + lhs · rhs`
    fn add_product(self, lhs: Self, rhs: Self) -> Self;
}

macro_rules! wrap {
    ($($ty:ty),+) => {
        $(impl Wrap for $ty {
            #[inline(always)]
            fn add_product(self, lhs: Self, rhs: Self) -> Self {
                self.wrapping_add(lhs.wrapping_mul(rhs))
            }
        })+
    };
}

wrap!(u8, u16, u32, u64);

/// Adds the product to `out`.
///
/// # Safety
/// As [`multiply`](super::multiply).
pub(super) unsafe fn multiply<U: Wrap>(
    product: &Product,
    lhs: *const U,
    rhs: *const U,
    out: *mut U,
) {
    let (lhs, rhs, out) = (Shared(lhs.cast_mut()), Shared(rhs.cast_mut()), Shared(out));
    let (m, n, k) = (product.m, product.n, product.k);
    parallel::split(product.batches, 1, product.work(), &|range| {
        for batch in range {
            // SAFETY: the caller's promise.
            let matrix = unsafe { rhs.get().offset(product.rhs.batches.at(batch)) };
            // SAFETY: as above.
            let packed = (product.rhs.col != 1).then(|| unsafe { pack(product, matrix) });
            let lines = match &packed {
                Some(packed) => (Shared(packed.as_ptr().cast_mut()), n as isize),
                None => (Shared(matrix), product.rhs.row),
            };
            parallel::split(m, ROWS, n * k, &|rows| {
                // SAFETY: the caller's promise; parts of the rows are disjoint parts of the result.
                unsafe {
                    let lhs = lhs.get().offset(product.lhs.batches.at(batch));
                    let out = out.get().add(batch * m * n);
                    block(product, rows, lhs, (lines.0.get(), lines.1), out);
                }
            });
        }
    });
}

/// A matrix of the right-hand side in row-major order.
///
/// # Safety
/// `matrix` is its first element.
unsafe fn pack<U: Wrap>(product: &Product, matrix: *const U) -> Vec<U> {
    let (k, n) = (product.k, product.n);
    let mut packed = alloc::vec![U::default(); k * n];
    // SAFETY: the vector has room for the matrix.
    unsafe {
        copy_strided(
            size_of::<U>(),
            &[k, n],
            matrix.cast(),
            &[product.rhs.row, product.rhs.col],
            packed.as_mut_ptr().cast(),
            &[n as isize, 1],
        );
    }
    packed
}

/// Adds to some rows of the result.
///
/// # Safety
/// `lhs` and `out` are the first elements of matrices of the product; so is that of `lines`, which has a stride.
unsafe fn block<U: Wrap>(
    product: &Product,
    rows: core::ops::Range<usize>,
    lhs: *const U,
    lines: (*mut U, isize),
    out: *mut U,
) {
    let (n, k) = (product.n, product.k);
    for col in (0..n).step_by(COLS) {
        for first in (0..k).step_by(DEPTH) {
            let depth = first..k.min(first + DEPTH);
            let part = lines
                .0
                .wrapping_offset(first as isize * lines.1 + col as isize);
            for row in rows.clone() {
                let left = lhs.wrapping_offset(row as isize * product.lhs.row);
                // SAFETY: `at` is below `k`.
                let left = depth.clone().map(|at| unsafe {
                    left.wrapping_offset(at as isize * product.lhs.col).read()
                });
                // SAFETY: a part of a row of the result, which nobody else writes; lines have as many elements.
                unsafe {
                    let to = out.add(row * n + col);
                    let to = core::slice::from_raw_parts_mut(to, COLS.min(n - col));
                    add_lines(to, part, lines.1, left, U::add_product);
                }
            }
        }
    }
}
