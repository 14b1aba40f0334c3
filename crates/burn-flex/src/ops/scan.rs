//! Running values along a dim. The order of operations does not depend on the number of threads.

use super::reduce::{Acc, Leaf, Truth, by_leaf, max, min};
use crate::FlexTensor;
use crate::parallel::{NANOSECOND, Shared, split};
use crate::tensor::allocate;
use alloc::vec::Vec;
use burn_ir::{Described, ScanOp, TensorMeta};
use burn_std::{BoolStore, DType, bf16, f16};
use core::ops::Range;

/// Elements of a line that are scanned by themselves before what lies before them is known. A constant, so that
/// results do not depend on the number of threads.
const CHUNK: usize = 64 * 1024;

/// Lines that are scanned side by side: an operation takes about as many cycles until the next can use its result.
const SIDE: usize = 4;

/// Columns that are scanned at a time where neighbours in memory belong to neighbouring lines.
const COLUMNS: usize = 512;

/// A tensor as lines of `len` elements, `width` of them side by side.
#[derive(Clone, Copy)]
struct Shape3 {
    outer: usize,
    len: usize,
    width: usize,
}

/// Each element replaced by the value of those up to it along `dim`.
pub(crate) fn run(op: ScanOp, dim: usize, input: FlexTensor, output: &TensorMeta) -> FlexTensor {
    let shape = Shape3 {
        outer: output.shape[..dim].iter().product(),
        len: output.shape[dim],
        width: output.shape[dim + 1..].iter().product(),
    };
    let mut input = input.into_contiguous();
    let dtype = input.dtype();
    if let Some(storage) = input.unique_storage() {
        let place = Shared(storage.as_mut_ptr());
        by_leaf!(dtype, scan(op, shape, place, place));
        return input;
    }
    let from = Shared(input.first().cast_mut());
    let count = shape.outer * shape.len * shape.width;
    // SAFETY: a scan writes every element.
    let mut storage = unsafe { allocate(count * dtype.size(), dtype) };
    let to = Shared(storage.as_mut_ptr());
    by_leaf!(dtype, scan(op, shape, from, to));
    FlexTensor::contiguous(input.meta().clone(), storage)
}

fn scan<E: Leaf>(op: ScanOp, shape: Shape3, from: Shared<u8>, to: Shared<u8>) {
    let (from, to) = (Shared(from.get().cast()), Shared(to.get().cast()));
    match op {
        ScanOp::Sum => with::<E>(E::Acc::ZERO, E::Acc::add, shape, from, to),
        ScanOp::Prod => with::<E>(E::Acc::ONE, E::Acc::mul, shape, from, to),
        ScanOp::Max => with::<E>(E::Acc::LEAST, max, shape, from, to),
        ScanOp::Min => with::<E>(E::Acc::MOST, min, shape, from, to),
    }
}

/// `from` and `to` hold the elements of the shape and are the same or apart.
fn with<E: Leaf>(
    start: E::Acc,
    f: impl Fn(E::Acc, E::Acc) -> E::Acc + Copy + Sync,
    shape: Shape3,
    from: Shared<E>,
    to: Shared<E>,
) {
    let Shape3 { outer, len, width } = shape;
    if width != 1 {
        return columns(start, f, shape, from, to);
    }
    let chunks = len.div_ceil(CHUNK);
    // For each chunk the value of all that lies before it in its line.
    let mut before = alloc::vec![start; outer * chunks];
    if chunks > 1 {
        let totals = Shared(before.as_mut_ptr());
        split(outer * chunks, 1, CHUNK * NANOSECOND, &|range| {
            for at in range {
                let Range { start: first, end } = part(at % chunks, len);
                let fold = |acc, i| {
                    // SAFETY: the element is inside the line.
                    f(
                        acc,
                        unsafe { *from.get().add(at / chunks * len + i) }.lift(),
                    )
                };
                // SAFETY: there is an entry for each chunk, and chunks are given once.
                unsafe { *totals.get().add(at) = (first..end).fold(start, fold) };
            }
        });
        for line in before.chunks_mut(chunks) {
            let mut acc = start;
            for total in line {
                let next = f(acc, *total);
                *total = acc;
                acc = next;
            }
        }
    }
    let cost = len.min(CHUNK) * NANOSECOND;
    split(
        outer * chunks,
        if chunks == 1 { SIDE } else { 1 },
        cost,
        &|range| {
            let mut next = range.start;
            while next < range.end {
                // Lines of several chunks are scanned one by one, which lie in one part of memory each.
                let side = if chunks == 1 { SIDE } else { 1 }.min(range.end - next);
                let first = next / chunks * len + next % chunks * CHUNK;
                let count = part(next % chunks, len).len();
                // SAFETY: parts of the lines are inside the tensors and given once.
                unsafe {
                    let (from, to) = (from.get().add(first), to.get().add(first));
                    match side {
                        SIDE => lines::<E, SIDE>([before[next]; SIDE], f, from, to, count),
                        _ => {
                            for at in 0..side {
                                let (from, to) = (from.add(at * len), to.add(at * len));
                                lines::<E, 1>([before[next + at]], f, from, to, count);
                            }
                        }
                    }
                }
                next += side;
            }
        },
    );
}

/// The elements of a chunk of a line.
fn part(chunk: usize, len: usize) -> Range<usize> {
    chunk * CHUNK..len.min((chunk + 1) * CHUNK)
}

/// Scans whole lines of `len` elements, one behind the other; or a part of one.
///
/// # Safety
/// `N` times `len` elements are readable from `from` and writable to `to`, which are the same or apart.
#[inline(always)]
unsafe fn lines<E: Leaf, const N: usize>(
    mut accs: [E::Acc; N],
    f: impl Fn(E::Acc, E::Acc) -> E::Acc,
    from: *const E,
    to: *mut E,
    len: usize,
) {
    for i in 0..len {
        for (line, acc) in accs.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                *acc = f(*acc, (*from.add(line * len + i)).lift());
                *to.add(line * len + i) = E::lower(*acc);
            }
        }
    }
}

/// Scans lines that lie side by side, row by row.
fn columns<E: Leaf>(
    start: E::Acc,
    f: impl Fn(E::Acc, E::Acc) -> E::Acc + Copy + Sync,
    Shape3 { outer, len, width }: Shape3,
    from: Shared<E>,
    to: Shared<E>,
) {
    let parts = width.div_ceil(COLUMNS);
    let cost = 2 * len * size_of::<E>() * width.min(COLUMNS);
    split(outer * parts, 1, cost, &|range| {
        let mut accs: Vec<E::Acc> = Vec::new();
        for at in range {
            let first = at % parts * COLUMNS;
            accs.clear();
            accs.resize(COLUMNS.min(width - first), start);
            for row in 0..len {
                let place = (at / parts * len + row) * width + first;
                for (column, acc) in accs.iter_mut().enumerate() {
                    // SAFETY: inside the tensors, and parts of the columns are given once.
                    unsafe {
                        *acc = f(*acc, (*from.get().add(place + column)).lift());
                        *to.get().add(place + column) = E::lower(*acc);
                    }
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::values;

    fn sums(input: FlexTensor, dim: usize) -> FlexTensor {
        let output = input.meta().clone();
        run(ScanOp::Sum, dim, input, &output)
    }

    #[test]
    fn lines_of_many_chunks_and_of_any_number_add_up() {
        for (outer, len) in [(1, 3 * CHUNK + 5), (2, CHUNK + 1), (7, 33), (4, 1)] {
            let elems: Vec<i64> = (0..outer * len).map(|at| (at % 11) as i64 - 3).collect();
            let found = values(&sums(FlexTensor::from_vec([outer, len], elems.clone()), 1));
            for line in 0..outer {
                let mut sum = 0;
                for at in line * len..(line + 1) * len {
                    sum += elems[at];
                    assert_eq!(
                        found[at], sum as f64,
                        "{outer} lines of {len}, element {at}"
                    );
                }
            }
        }
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn sums_are_the_same_bits_on_any_number_of_threads() {
        for (shape, dim) in [([1, 3 * CHUNK + 5], 1), ([300, 1000], 1), ([1000, 700], 0)] {
            let elems = (0..shape[0] * shape[1]).map(|at| 1.0 / (1 + at % 97) as f32);
            let input = FlexTensor::from_vec(shape, elems.collect());
            crate::ops::testing::same_on_any_number_of_threads(|| sums(input.clone(), dim));
        }
    }
}
