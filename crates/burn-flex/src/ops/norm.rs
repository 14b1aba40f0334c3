//! Layer normalization: each row is read once, and stays in cache while it is worked on.

use super::conv::{by_float, elements};
use super::matmul::Float;
use super::reduce::{Acc, BLOCK, Fold, fold_block};
use crate::FlexTensor;
use crate::parallel::{Shared, split};
use crate::simd::simd;
use crate::tensor::allocate;
use burn_ir::TensorMeta;
use burn_std::{DType, Element};
use num_traits::FromPrimitive;

/// Rows of the last dim with mean 0 and variance 1, scaled and shifted. Overwrites the input if nobody else holds it.
pub(super) fn layer_norm(
    input: FlexTensor,
    gamma: FlexTensor,
    beta: Option<FlexTensor>,
    epsilon: f64,
    output: &TensorMeta,
) -> FlexTensor {
    let gamma = gamma.into_contiguous();
    let beta = beta.map(FlexTensor::into_contiguous);
    by_float!(
        output.dtype,
        of(input, &gamma, beta.as_ref(), epsilon, output)
    )
}

fn of<T: Float + num_traits::Float + FromPrimitive + Element>(
    input: FlexTensor,
    gamma: &FlexTensor,
    beta: Option<&FlexTensor>,
    epsilon: f64,
    output: &TensorMeta,
) -> FlexTensor {
    let len = gamma.len();
    if input.len() == 0 {
        return input;
    }
    let mut input = input.into_contiguous();
    // SAFETY: both are whole tensors of one row.
    let (gamma, beta) = unsafe {
        let row = |tensor: &FlexTensor| core::slice::from_raw_parts(elements::<T>(tensor), len);
        (row(gamma), beta.map(row))
    };
    let epsilon = T::from_f64(epsilon).expect("a float of another width");
    let rows = input.len() / len;
    let run = |from: Shared<T>, to: Shared<T>| {
        split(rows, 1, len * size_of::<T>() * 4, &|range| {
            for row in range {
                // SAFETY: each item has a row of its own, and what it reads of it may be what it writes.
                let row = unsafe {
                    let to = to.get().add(row * len);
                    if from.get() != to.wrapping_sub(row * len) {
                        to.copy_from_nonoverlapping(from.get().add(row * len), len);
                    }
                    core::slice::from_raw_parts_mut(to, len)
                };
                normalize(row, gamma, beta, epsilon);
            }
        });
    };
    if let Some(elems) = input.unique_mut::<T>() {
        let elems = Shared(elems.as_mut_ptr());
        run(elems, elems);
        return input;
    }
    // SAFETY: each row is written.
    let mut bytes = unsafe { allocate(input.len() * size_of::<T>(), output.dtype) };
    let from = Shared(elements::<T>(&input).cast_mut());
    run(from, Shared(bytes.as_mut_ptr().cast()));
    FlexTensor::contiguous(output.clone(), bytes)
}

/// The mean is subtracted before squares are summed, so that they do not cancel.
fn normalize<T: Float + num_traits::Float>(
    row: &mut [T],
    gamma: &[T],
    beta: Option<&[T]>,
    epsilon: T,
) {
    let len = row.len();
    let total = |row: &[T]| {
        let blocks = row.chunks(BLOCK).map(|block| fold_block(Fold::Sum, block));
        blocks.fold(<T as Acc>::ZERO, |sum, block| sum + block)
    };
    let mean = total(row).over(len);
    let mut squares = <T as Acc>::ZERO;
    for block in row.chunks_mut(BLOCK) {
        simd(
            #[inline(always)]
            || block.iter_mut().for_each(|x| *x = *x - mean),
        );
        squares = squares + sum_of_squares(block);
    }
    let deviation = (squares.over(len) + epsilon).sqrt();
    let scale = <T as Acc>::ONE / deviation;
    simd(
        #[inline(always)]
        || match beta {
            None => {
                for (x, gamma) in row.iter_mut().zip(gamma) {
                    *x = *x * scale * *gamma;
                }
            }
            Some(beta) => {
                for ((x, gamma), beta) in row.iter_mut().zip(gamma).zip(beta) {
                    *x = *x * scale * *gamma + *beta;
                }
            }
        },
    );
}

/// In lanes, so that the sum is one of vectors.
fn sum_of_squares<T: Float + num_traits::Float>(block: &[T]) -> T {
    const LANES: usize = 32;
    simd(
        #[inline(always)]
        || {
            let mut sums = [<T as Acc>::ZERO; LANES];
            let mut chunks = block.chunks_exact(LANES);
            for chunk in &mut chunks {
                for (sum, x) in sums.iter_mut().zip(chunk) {
                    *sum = *sum + *x * *x;
                }
            }
            for (sum, x) in sums.iter_mut().zip(chunks.remainder()) {
                *sum = *sum + *x * *x;
            }
            sums.iter().fold(<T as Acc>::ZERO, |sum, x| sum + *x)
        },
    )
}
