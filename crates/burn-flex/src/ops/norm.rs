//! Layer normalization: each row is read once, and stays in cache while it is worked on.

use super::conv::{by_float, elements};
use super::matmul::Float;
use super::reduce::{Acc, BLOCK, Fold, LANES, fold_row, join_lanes};
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
                // SAFETY: each item has a row of its own. A row is read where it is, or is what is overwritten.
                unsafe {
                    let to = core::slice::from_raw_parts_mut(to.get().add(row * len), len);
                    let from = (from.get() != to.as_mut_ptr().wrapping_sub(row * len))
                        .then(|| core::slice::from_raw_parts(from.get().add(row * len), len));
                    normalize(from, to, gamma, beta, epsilon);
                }
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

/// Normalizes `from`, or what is in `to` already. The mean is subtracted before squares are summed, so that they do not
/// cancel.
fn normalize<T: Float + num_traits::Float>(
    from: Option<&[T]>,
    to: &mut [T],
    gamma: &[T],
    beta: Option<&[T]>,
    epsilon: T,
) {
    let len = to.len();
    let row = from.unwrap_or(to);
    let mean = fold_row(Fold::Sum, row).over(len);
    let squares = row.chunks(BLOCK).map(|block| squares(block, mean));
    let squares = squares.fold(<T as Acc>::ZERO, |sum, block| sum + block);
    let scale = <T as Acc>::ONE / (squares.over(len) + epsilon).sqrt();
    simd(
        #[inline(always)]
        || match (from, beta) {
            (None, None) => {
                for (to, gamma) in to.iter_mut().zip(gamma) {
                    *to = (*to - mean) * scale * *gamma;
                }
            }
            (None, Some(beta)) => {
                for ((to, gamma), beta) in to.iter_mut().zip(gamma).zip(beta) {
                    *to = (*to - mean) * scale * *gamma + *beta;
                }
            }
            (Some(from), None) => {
                for ((to, x), gamma) in to.iter_mut().zip(from).zip(gamma) {
                    *to = (*x - mean) * scale * *gamma;
                }
            }
            (Some(from), Some(beta)) => {
                for ((to, x), (gamma, beta)) in to.iter_mut().zip(from).zip(gamma.iter().zip(beta))
                {
                    *to = (*x - mean) * scale * *gamma + *beta;
                }
            }
        },
    );
}

/// The sum of the squared distances from `mean`, in lanes.
fn squares<T: Float + num_traits::Float>(block: &[T], mean: T) -> T {
    simd(
        #[inline(always)]
        || {
            let mut sums = [<T as Acc>::ZERO; LANES];
            let (chunks, rest) = block.as_chunks::<LANES>();
            for chunk in chunks {
                for i in 0..LANES {
                    let x = chunk[i] - mean;
                    sums[i] = sums[i] + x * x;
                }
            }
            let mut last = [<T as Acc>::ZERO; LANES];
            for (last, x) in last.iter_mut().zip(rest) {
                let x = *x - mean;
                *last = x * x;
            }
            join_lanes(Fold::Sum, &sums, &last[..rest.len()])
        },
    )
}
