//! Softmax and its logarithm, row by row: each row is read once and stays in cache while it is worked on.

use super::reduce::{Acc, BLOCK, Fold, Leaf, Source, fold_row, fold_rows, identity, lower};
use crate::parallel::{self, Shared};
use crate::rows::Rows;
use crate::simd::{Kernel, dispatch};
use crate::tensor::allocate;
use crate::{FlexTensor, math};
use alloc::vec::Vec;
use burn_ir::{ActivationOp, TensorMeta};
use burn_std::{DType, Element, SmallVec, bf16, f16};
use core::ops::Range;
use num_traits::Float;

/// A type to compute in.
pub(super) trait Real: Acc + Float {
    /// `e^x`
    fn exp_fast<const FMA: bool>(self) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn exp_fast<const FMA: bool>(self) -> f32 {
        math::exp::<FMA>(self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn exp_fast<const FMA: bool>(self) -> f64 {
        Float::exp(self)
    }
}

/// Applies [`ActivationOp::Softmax`] or [`ActivationOp::LogSoftmax`].
pub(crate) fn run(op: ActivationOp, input: FlexTensor, output: &TensorMeta) -> FlexTensor {
    let (dim, log) = match op {
        ActivationOp::Softmax { dim } => (dim, false),
        ActivationOp::LogSoftmax { dim } => (dim, true),
        ActivationOp::Relu | ActivationOp::Gelu | ActivationOp::Sigmoid => {
            panic!("`{}` is elementwise", op.name())
        }
    };
    match output.dtype {
        DType::F64 => of::<f64>(dim, log, input, output),
        DType::F32 => of::<f32>(dim, log, input, output),
        DType::F16 => of::<f16>(dim, log, input, output),
        DType::BF16 => of::<bf16>(dim, log, input, output),
        other => panic!("the check admits floats only, not {}", other.name()),
    }
}

/// Overwrites the input if nobody else holds it.
fn of<E: Leaf<Acc: Real> + Element>(
    dim: usize,
    log: bool,
    mut input: FlexTensor,
    output: &TensorMeta,
) -> FlexTensor {
    if let Some(elems) = input.unique_mut::<E>() {
        let to = elems.as_mut_ptr();
        // SAFETY: the tensor is contiguous and has the shape of the output.
        unsafe { rows::<E>(dim, log, &input, to) };
        return input;
    }
    // SAFETY: `rows` writes every element.
    let mut bytes = unsafe { allocate(input.len() * size_of::<E>(), output.dtype) };
    // SAFETY: the buffer has room for all elements.
    unsafe { rows::<E>(dim, log, &input, bytes.as_mut_ptr().cast()) };
    FlexTensor::contiguous(output.clone(), bytes)
}

/// Writes the result of each row along `dim` to the same place of the contiguous tensor at `to`.
///
/// # Safety
/// `to` is writable for all elements, and is either the first element of the contiguous input or overlaps none.
unsafe fn rows<E: Leaf<Acc: Real>>(dim: usize, log: bool, input: &FlexTensor, to: *mut E) {
    let (shape, strides) = (input.shape(), &input.layout().strides);
    if input.len() == 0 {
        return;
    }
    let sizes: SmallVec<[usize; 4]> = without(dim, shape);
    let rows = Softmax::<E> {
        log,
        len: shape[dim],
        step: strides[dim],
        inner: shape[dim + 1..].iter().product(),
        starts: Rows::new(&sizes, &without(dim, strides), input.layout().offset),
        source: Source::new::<E>(input.bytes().as_ptr()),
        in_place: input.bytes().as_ptr() == to.cast_const().cast(),
        to: Shared(to),
    };
    // The exponential costs a core about as long as moving 24 bytes.
    let cost = 24 * rows.len;
    match rows.inner {
        // SAFETY: rows are disjoint, and the output has a place for each.
        1 => parallel::split(rows.starts.len(), 1, cost, &|range| unsafe {
            rows.dense(range)
        }),
        inner => {
            // A block of 256 KiB stays in the second level of cache, if lines of 64 bytes permit.
            let width = (256 * 1024 / size_of::<E::Acc>() / rows.len)
                .clamp(16, 256)
                .min(inner);
            let blocks = inner.div_ceil(width);
            parallel::split(
                rows.starts.len() / inner * blocks,
                1,
                cost * width,
                &|range| {
                    for block in range {
                        let first = block % blocks * width;
                        let width = width.min(inner - first);
                        // SAFETY: as above, for the rows of a block.
                        unsafe { rows.strided(block / blocks * inner + first, width) };
                    }
                },
            );
        }
    }
}

/// All rows of one instruction.
struct Softmax<E: Leaf> {
    log: bool,
    len: usize,
    /// The distance between elements of a row, in the input and in the output.
    step: isize,
    inner: usize,
    /// The first elements of rows in the input.
    starts: Rows,
    source: Source<E::Acc>,
    in_place: bool,
    to: Shared<E>,
}

impl<E: Leaf<Acc: Real>> Softmax<E> {
    /// Rows whose results lie side by side.
    ///
    /// # Safety
    /// No one else works on these rows.
    unsafe fn dense(&self, rows: Range<usize>) {
        let mut scratch = alloc::vec![E::Acc::ZERO; if E::NATIVE { 0 } else { self.len }];
        for row in rows {
            // SAFETY: rows are inside the storage and the output. A row of the type to compute in is worked on where
            // it ends up, which is where it is if the output is the input.
            unsafe {
                let to = self.to.get().add(row * self.len);
                if E::NATIVE {
                    let elems = core::slice::from_raw_parts_mut(to.cast(), self.len);
                    if !self.in_place {
                        self.source.load(self.starts.at(row), self.step, elems);
                    }
                    softmax(self.log, elems);
                    continue;
                }
                self.source
                    .load(self.starts.at(row), self.step, &mut scratch);
                softmax(self.log, &mut scratch);
                lower(&scratch, core::slice::from_raw_parts_mut(to, self.len));
            }
        }
    }

    /// Some rows from `first` on, which lie beside each other.
    ///
    /// # Safety
    /// As [`Softmax::dense`].
    unsafe fn strided(&self, first: usize, width: usize) {
        let mut scratch = alloc::vec![E::Acc::ZERO; self.len * width];
        for (at, mut line) in scratch.chunks_exact_mut(width).enumerate() {
            let at = at as isize * self.step;
            self.starts.each(first..first + width, |row| {
                let (part, rest) = core::mem::take(&mut line).split_at_mut(row.len);
                // SAFETY: elements of rows are inside the storage.
                unsafe { self.source.load(row.start + at, row.stride, part) };
                line = rest;
            });
        }
        softmax_lines(self.log, &mut scratch, width);
        let to = first / self.inner * self.len * self.inner + first % self.inner;
        for (at, line) in scratch.chunks_exact(width).enumerate() {
            // SAFETY: a line of the output has a place for each row of the block.
            unsafe {
                let to = self.to.get().add(to + at * self.inner);
                lower(line, core::slice::from_raw_parts_mut(to, width));
            }
        }
    }
}

/// The list without the entry of `dim`.
fn without<T: Copy>(dim: usize, list: &[T]) -> SmallVec<[T; 4]>
where
    [T; 4]: smallvec::Array<Item = T>,
{
    list[..dim]
        .iter()
        .chain(&list[dim + 1..])
        .copied()
        .collect()
}

/// One row. Nothing but infinities of one sign gives NaN, as the formula has it.
fn softmax<A: Real>(log: bool, row: &mut [A]) {
    // As much as stays in a first level of cache.
    const PART: usize = 4 * BLOCK;
    let max = fold_row(Fold::Max, row);
    let mut sum = A::ZERO;
    let mut scratch = Vec::new();
    for part in row.chunks_mut(PART) {
        let part = match log {
            false => part,
            true => {
                scratch.clear();
                scratch.extend_from_slice(part);
                &mut scratch[..]
            }
        };
        dispatch(ExpBelow { max, row: part });
        sum = Acc::add(sum, fold_row(Fold::Sum, part));
    }
    match log {
        true => dispatch(Shift {
            max,
            log_sum: sum.ln(),
            row,
        }),
        false => dispatch(Divide { sum, row }),
    }
}

/// The exponentials of what is above `max`.
pub(super) fn exp_below<A: Real>(max: A, row: &mut [A]) {
    dispatch(ExpBelow { max, row });
}

/// Several rows, of which each line holds one element.
fn softmax_lines<A: Real>(log: bool, lines: &mut [A], width: usize) {
    let fold = |fold: Fold, lines: &[A]| {
        let mut total = alloc::vec![identity(fold); width];
        // In sets, so that rounding errors of long sums do not add up.
        for set in lines.chunks(64 * width) {
            let mut part = alloc::vec![identity(fold); width];
            for line in set.chunks_exact(width) {
                fold_rows(fold, &mut part, &[line]);
            }
            fold_rows(fold, &mut total, &[&part]);
        }
        total
    };
    let max = fold(Fold::Max, lines);
    let each = |lines: &mut [A], step: &dyn Fn(&mut [A])| {
        lines.chunks_exact_mut(width).for_each(step);
    };
    if log {
        let mut powers = lines.to_vec();
        each(&mut powers, &|row| {
            dispatch(ExpBelowEach { max: &max, row })
        });
        let mut shift = fold(Fold::Sum, &powers);
        shift.iter_mut().for_each(|sum| *sum = sum.ln());
        each(lines, &|row| {
            dispatch(ShiftEach {
                max: &max,
                log_sum: &shift,
                row,
            })
        });
    } else {
        each(lines, &|row| dispatch(ExpBelowEach { max: &max, row }));
        let sum = fold(Fold::Sum, lines);
        each(lines, &|row| dispatch(DivideEach { sum: &sum, row }));
    }
}

/// Loops over a row whose other operands are `$operand`: one number, or one for each element.
macro_rules! kernel {
    ($name:ident { $($operand:ident),+ }, $each:ident, |$x:ident| $value:expr) => {
        struct $name<'a, A> {
            $($operand: A,)+
            row: &'a mut [A],
        }

        impl<A: Real> Kernel for $name<'_, A> {
            type Output = ();

            #[inline(always)]
            fn run<const FMA: bool>(self) {
                $(let $operand = self.$operand;)+
                for x in self.row {
                    let $x = *x;
                    *x = $value;
                }
            }
        }

        struct $each<'a, A> {
            $($operand: &'a [A],)+
            row: &'a mut [A],
        }

        impl<A: Real> Kernel for $each<'_, A> {
            type Output = ();

            #[inline(always)]
            fn run<const FMA: bool>(self) {
                $(let $operand = &self.$operand[..self.row.len()];)+
                for (i, x) in self.row.iter_mut().enumerate() {
                    $(let $operand = $operand[i];)+
                    let $x = *x;
                    *x = $value;
                }
            }
        }
    };
}

kernel!(ExpBelow { max }, ExpBelowEach, |x| (x - max)
    .exp_fast::<FMA>());
kernel!(Shift { max, log_sum }, ShiftEach, |x| (x - max) - log_sum);
kernel!(Divide { sum }, DivideEach, |x| x / sum);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::{layouts, tensor, values};
    use burn_ir::Described;

    fn softmaxed(op: ActivationOp, input: FlexTensor) -> FlexTensor {
        let meta = input.meta().clone();
        run(op, input, &meta)
    }

    /// The definition in f64.
    fn expected(input: &FlexTensor, dim: usize, log: bool) -> Vec<f64> {
        let (shape, x) = (input.shape(), values(input));
        let (len, inner) = (shape[dim], shape[dim + 1..].iter().product::<usize>());
        let at = |index: usize| {
            let first = index / (len * inner) * len * inner + index % inner;
            let sum: f64 = (0..len).map(|i| x[first + i * inner].exp()).sum();
            if log {
                x[index] - sum.ln()
            } else {
                x[index].exp() / sum
            }
        };
        (0..x.len()).map(at).collect()
    }

    #[test]
    fn rows_along_any_dim_of_any_layout_are_right() {
        for shape in [
            &[7][..],
            &[3, 5],
            &[2, 3, 4],
            &[3, 1100],
            &[40, 33],
            &[0, 2],
            &[2, 0],
        ] {
            for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
                for (name, input) in layouts(shape, dtype) {
                    for dim in 0..shape.len() {
                        for log in [false, true] {
                            let op = match log {
                                true => ActivationOp::LogSoftmax { dim },
                                false => ActivationOp::Softmax { dim },
                            };
                            let expected = expected(&input, dim, log);
                            let found = values(&softmaxed(op, input.clone()));
                            // Six roundings on the way, and those of the reference, which adds one by one; differences of
                            // logarithms are off by those of their
                            // parts, which are below 10.
                            let epsilon = dtype.finfo().expect("a float").epsilon;
                            let least = if log { 10.0 } else { epsilon };
                            for (found, expected) in found.iter().zip(&expected) {
                                assert!(
                                    (found - expected).abs()
                                        <= 16.0 * epsilon * expected.abs().max(least),
                                    "{} of {name} {} {shape:?} along {dim}: {found}, not {expected}",
                                    op.name(),
                                    dtype.name(),
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn large_numbers_do_not_overflow_and_infinities_follow_the_formula() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for (x, softmax, log_softmax) in [
            ([1000.0, 1000.0], [0.5, 0.5], [-core::f64::consts::LN_2; 2]),
            ([-inf, 3.0], [0.0, 1.0], [-inf, 0.0]),
            ([-inf, -inf], [nan, nan], [nan, nan]),
            ([inf, 3.0], [nan, nan], [nan, nan]),
            ([nan, 3.0], [nan, nan], [nan, nan]),
        ] {
            for dtype in [DType::F32, DType::F64] {
                for (op, expected) in [
                    (ActivationOp::Softmax { dim: 0 }, softmax),
                    (ActivationOp::LogSoftmax { dim: 0 }, log_softmax),
                ] {
                    let found = values(&softmaxed(op, tensor(&[2], dtype, &x)));
                    for (found, expected) in found.iter().zip(expected) {
                        assert!(
                            (found - expected).abs() < 1e-7
                                || *found == expected
                                || (found.is_nan() && expected.is_nan()),
                            "{} of {x:?}: {found}, not {expected}",
                            op.name(),
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_last_owner_is_overwritten_and_others_are_not() {
        let input = tensor(&[2, 2], DType::F32, &[0.0; 4]);
        let first = input.bytes().as_ptr();
        let kept = softmaxed(ActivationOp::Softmax { dim: 0 }, input.clone());
        assert_ne!(kept.bytes().as_ptr(), first);
        assert_eq!(values(&input), [0.0; 4]);
        let reused = softmaxed(ActivationOp::Softmax { dim: 0 }, input);
        assert_eq!(reused.bytes().as_ptr(), first);
        assert_eq!(values(&reused), [0.5; 4]);
    }
}
