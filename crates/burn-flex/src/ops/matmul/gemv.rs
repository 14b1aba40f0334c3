//! Products of a matrix and a vector, which read each element of the matrix once: memory decides, not arithmetic.

use super::super::reduce::{Fold, fold_rows};
use super::{Float, Product};
use crate::parallel::{self, Shared};
use crate::rows::Rows;
use crate::simd::simd;
use alloc::vec::Vec;
use core::ops::Range;

/// Elements of the vector that a dot takes; a constant, so that results do not depend on the number of threads.
const DEPTH: usize = 16 * 1024;

/// Sums of lines of a matrix that are kept at a time: half of a first level of cache. Lines are read whole up to this
/// length, in the order of memory.
const WIDTH: usize = 4096;

/// Elements of a matrix that are worth a partial result.
const PART: usize = 256 * 1024;

/// `batches` times `y = A · x`, with `A` of `[rows, depth]`.
struct Gemv<'a, T> {
    rows: usize,
    depth: usize,
    matrix: *const T,
    matrices: &'a Rows,
    row: isize,
    col: isize,
    vector: *const T,
    vectors: &'a Rows,
    step: isize,
}

// SAFETY: only read, while the caller of `multiply` keeps the operands.
unsafe impl<T: Sync> Sync for Gemv<'_, T> {}

/// Multiplies if one side is a vector and the other a matrix dense in either direction; otherwise does nothing and
/// returns false.
///
/// # Safety
/// As [`multiply`](super::multiply), and the result is not empty.
pub(super) unsafe fn multiply<T: Float>(
    product: &Product,
    lhs: *const T,
    rhs: *const T,
    out: *mut T,
) -> bool {
    let (left, right) = (&product.lhs, &product.rhs);
    let gemv = match (product.m, product.n) {
        (rows, 1) => Gemv {
            rows,
            depth: product.k,
            matrix: lhs,
            matrices: &left.batches,
            row: left.row,
            col: left.col,
            vector: rhs,
            vectors: &right.batches,
            step: right.row,
        },
        (1, rows) => Gemv {
            rows,
            depth: product.k,
            matrix: rhs,
            matrices: &right.batches,
            row: right.col,
            col: right.row,
            vector: lhs,
            vectors: &left.batches,
            step: left.col,
        },
        _ => return false,
    };
    if gemv.depth == 0 || (gemv.row != 1 && gemv.col != 1) {
        return false;
    }
    // SAFETY: the caller's promise.
    unsafe { gemv.run(product.batches, out) };
    true
}

impl<T: Float> Gemv<'_, T> {
    /// # Safety
    /// As [`multiply`].
    unsafe fn run(&self, batches: usize, out: *mut T) {
        let (block, deep) = match self.col {
            1 => (16, DEPTH),
            _ => (WIDTH, PART / self.rows.min(WIDTH)),
        };
        let (blocks, chunks) = (self.rows.div_ceil(block), self.depth.div_ceil(deep));
        let mut parts = match chunks {
            1 => Vec::new(),
            _ => alloc::vec![T::ZERO; chunks * batches * self.rows],
        };
        let to = Shared(if chunks == 1 { out } else { parts.as_mut_ptr() });
        let cost = block.min(self.rows) * self.depth.min(deep) * size_of::<T>();
        parallel::split(batches * blocks * chunks, 1, cost, &|range| {
            let mut vector = Vec::new();
            for item in range {
                let (chunk, batch) = (item / (batches * blocks), item / blocks % batches);
                let first = item % blocks * block;
                let rows = block.min(self.rows - first);
                let depth = chunk * deep..self.depth.min((chunk + 1) * deep);
                let at = (chunk * batches + batch) * self.rows + first;
                let position = self.matrices.at(batch)
                    + first as isize * self.row
                    + depth.start as isize * self.col;
                // SAFETY: inside the result or the parts of it; items differ in chunk, batch or rows.
                unsafe {
                    let y = core::slice::from_raw_parts_mut(to.get().add(at), rows);
                    let x = self.vector(batch, depth, &mut vector);
                    self.item(position, x, y);
                }
            }
        });
        if chunks > 1 {
            let count = batches * self.rows;
            // SAFETY: the result has `count` elements, and nobody else writes it now.
            let out = unsafe {
                out.copy_from_nonoverlapping(parts.as_ptr(), count);
                core::slice::from_raw_parts_mut(out, count)
            };
            for part in parts.chunks_exact(count).skip(1) {
                fold_rows(Fold::Sum, out, &[part]);
            }
        }
    }

    /// A part of the vector, where it is or in `scratch`.
    ///
    /// # Safety
    /// As [`multiply`].
    unsafe fn vector<'a>(
        &self,
        batch: usize,
        depth: Range<usize>,
        scratch: &'a mut Vec<T>,
    ) -> &'a [T] {
        let first = self.vectors.at(batch) + depth.start as isize * self.step;
        let len = depth.len();
        // SAFETY: the caller's promise.
        unsafe {
            if self.step == 1 {
                return core::slice::from_raw_parts(self.vector.offset(first), len);
            }
            let at = |i: usize| self.vector.offset(first + i as isize * self.step).read();
            scratch.clear();
            scratch.extend((0..len).map(at));
        }
        scratch
    }

    /// # Safety
    /// As [`multiply`]; the part of the matrix from position `first` on belongs to `x` and `y`.
    unsafe fn item(&self, first: isize, x: &[T], y: &mut [T]) {
        let matrix = self.matrix.wrapping_offset(first);
        // SAFETY: lines of the matrix along its dense dim are readable as slices.
        unsafe {
            if self.col != 1 {
                y.fill(T::ZERO);
                let x = x.iter().copied();
                return add_lines(y, matrix, self.col, x, |sum, a, x| sum + a * x);
            }
            for (i, y) in y.iter_mut().enumerate() {
                let line = matrix.wrapping_offset(i as isize * self.row);
                *y = dot(core::slice::from_raw_parts(line, x.len()), x);
            }
        }
    }
}

/// `Σ a · x`, in blocks of which none sums more than 32 products in a lane.
fn dot<T: Float>(a: &[T], x: &[T]) -> T {
    // So many that the compiler makes vectors of the loop over them instead of unrolling it.
    const LANES: usize = 64;
    simd(
        #[inline(always)]
        || {
            let mut total = T::ZERO;
            for (a, x) in a.chunks(32 * LANES).zip(x.chunks(32 * LANES)) {
                let mut sums = [T::ZERO; LANES];
                for (a, x) in a.chunks(LANES).zip(x.chunks(LANES)) {
                    for ((sum, a), x) in sums.iter_mut().zip(a).zip(x) {
                        *sum = *sum + *a * *x;
                    }
                }
                let mut width = LANES / 2;
                while width > 0 {
                    for i in 0..width {
                        sums[i] = sums[i] + sums[i + width];
                    }
                    width /= 2;
                }
                total = total + sums[0];
            }
            total
        },
    )
}

/// `y += Σ line · x` over the lines of `matrix`, which are `stride` apart, four at a time.
///
/// # Safety
/// Each line is readable for the length of `y`.
pub(super) unsafe fn add_lines<T: Copy>(
    y: &mut [T],
    matrix: *const T,
    stride: isize,
    x: impl ExactSizeIterator<Item = T>,
    add_product: impl Fn(T, T, T) -> T + Copy,
) {
    let len = y.len();
    let mut x = x.enumerate();
    // SAFETY: the caller's promise.
    let line = |j: usize| unsafe {
        core::slice::from_raw_parts(matrix.wrapping_offset(j as isize * stride), len)
    };
    simd(
        #[inline(always)]
        || {
            while x.len() >= 4 {
                let four: [_; 4] = core::array::from_fn(|_| x.next().expect("four are left"));
                let lines = four.map(|(j, _)| line(j));
                for i in 0..len {
                    let mut sum = y[i];
                    for (line, (_, x)) in lines.iter().zip(four) {
                        sum = add_product(sum, line[i], x);
                    }
                    y[i] = sum;
                }
            }
            for (j, x) in x {
                for (y, a) in y.iter_mut().zip(line(j)) {
                    *y = add_product(*y, *a, x);
                }
            }
        },
    )
}
