//! Linear functions of lines, and their largest elements: what pools and resampling do along each spatial dim, as one
//! table a dim. Applying them dim by dim takes a sum of the sizes of windows, not their product.
//!
//! A channel at a time, so that what is between two dims stays in cache. f32 and f64 only; the caller widens halves.

use super::conv::{by_float, elements};
use super::matmul::Float;
use super::reduce::is_nan;
use crate::FlexTensor;
use crate::parallel::{Shared, split};
use crate::simd::simd;
use crate::tensor::allocate;
use alloc::vec::Vec;
use burn_ir::{TensorMeta, Window};
use burn_std::{Bytes, DType};
use num_traits::{FromPrimitive, Zero};

/// For each element of a line of the output, the elements of a line of the input that it is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bands {
    /// Elements from one of a band to the next.
    step: usize,
    bands: Vec<Band>,
    /// The weights of all bands, one after the other.
    weights: Vec<f64>,
}

/// Where a band starts in the input and in the weights, and its length.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Band {
    first: usize,
    weight: usize,
    len: usize,
}

impl Bands {
    /// Bands of neighbours.
    pub(super) fn new() -> Self {
        Self {
            step: 1,
            ..Self::default()
        }
    }

    /// The elements of windows that are no padding, each of weight 1.
    pub(super) fn of_windows(size: usize, count: usize, window: Window) -> Self {
        let mut bands = Self {
            step: window.dilation,
            ..Self::default()
        };
        for at in 0..count {
            let start = at * window.stride;
            let skipped = window
                .before
                .saturating_sub(start)
                .div_ceil(window.dilation);
            let first = start + skipped * window.dilation - window.before;
            let rest = size.saturating_sub(first).div_ceil(window.dilation);
            let len = rest.min(window.size.saturating_sub(skipped));
            bands.push(first, core::iter::repeat_n(1.0, len));
        }
        bands
    }

    /// Appends a band.
    pub(super) fn push(&mut self, first: usize, weights: impl IntoIterator<Item = f64>) {
        let weight = self.weights.len();
        self.weights.extend(weights);
        self.bands.push(Band {
            first,
            weight,
            len: self.weights.len() - weight,
        });
    }

    /// The adjoint: from lines as long as there are bands to lines of `size`. Bands go forwards, and are of neighbours.
    pub(super) fn transposed(&self, size: usize) -> Self {
        debug_assert_eq!(self.step, 1);
        let mut transposed = Self::new();
        for at in 0..size {
            let weight = |(index, band): (usize, &Band)| {
                let inside = at.checked_sub(band.first).filter(|at| *at < band.len)?;
                Some((index, self.weights[band.weight + inside]))
            };
            // Bands that reach an element lie beside each other, up to zeros of their own.
            let start = self
                .bands
                .partition_point(|band| band.first + band.len <= at);
            let end = self
                .bands
                .partition_point(|band| band.first <= at)
                .max(start);
            let reach = self.bands[start..end].iter().enumerate().map(weight);
            transposed.push(
                start,
                reach.map(|entry| entry.map_or(0.0, |(_, weight)| weight)),
            );
        }
        transposed
    }

    fn len(&self) -> usize {
        self.bands.len()
    }

    /// Whether lines stay as they are.
    fn is_identity(&self, size: usize) -> bool {
        let same = |(at, band): (usize, &Band)| band.first == at && band.len == 1;
        self.len() == size
            && self.bands.iter().enumerate().all(same)
            && self.weights.iter().all(|weight| *weight == 1.0)
    }
}

/// How the elements of a band become one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// Their weighted sum.
    Sum,
    /// The largest; NaN is larger than anything.
    Max,
}

/// What elements of input or output are divided by, dim by dim.
pub(super) type Divisors = [Vec<f64>];

/// Applies `bands` to each spatial dim. Elements of the input are divided by `before` first, those of the output by
/// `after` last.
pub(super) fn run(
    join: Join,
    bands: &[Bands],
    (before, after): (&Divisors, &Divisors),
    input: FlexTensor,
    output: &TensorMeta,
) -> FlexTensor {
    let input = input.into_contiguous();
    by_float!(
        output.dtype,
        of(join, bands, (before, after), &input, output)
    )
}

fn of<T: Float + num_traits::Float + FromPrimitive>(
    join: Join,
    bands: &[Bands],
    (before, after): (&Divisors, &Divisors),
    input: &FlexTensor,
    output: &TensorMeta,
) -> FlexTensor {
    // SAFETY: each channel is written by the item that it belongs to.
    let mut bytes = unsafe { allocate(output.shape.num_elements() * size_of::<T>(), output.dtype) };
    let channels = output.shape[0] * output.shape[1];
    let (from, to) = (&input.shape()[2..], &output.shape[2..]);
    let (elems, results) = (from.iter().product::<usize>(), to.iter().product::<usize>());
    if elems == 0 {
        // The adjoint of a function to nothing.
        let nothing = Bytes::zeroed(output.shape.num_elements() * size_of::<T>());
        return FlexTensor::contiguous(output.clone(), nothing);
    }
    let first = Shared(elements::<T>(input).cast_mut());
    let target = Shared(bytes.as_mut_ptr().cast::<T>());
    let before = divisors::<T>(before, elems);
    let after = divisors::<T>(after, results);
    let weights: Vec<Vec<T>> = bands.iter().map(|bands| cast(&bands.weights)).collect();
    let work = (elems + results) * size_of::<T>() + results * 16;
    split(channels, 1, work, &|range| {
        let mut scratch = [Vec::new(), Vec::new()];
        for channel in range {
            // SAFETY: each item has a channel of its own.
            let (source, target) = unsafe {
                (
                    core::slice::from_raw_parts(first.get().add(channel * elems), elems),
                    core::slice::from_raw_parts_mut(target.get().add(channel * results), results),
                )
            };
            let [here, there] = &mut scratch;
            here.clear();
            here.extend_from_slice(source);
            divide(here, &before);
            let mut sizes: Vec<usize> = from.to_vec();
            for (dim, (bands, weights)) in bands.iter().zip(&weights).enumerate() {
                if bands.is_identity(sizes[dim]) {
                    continue;
                }
                let inner = sizes[dim + 1..].iter().product();
                there.clear();
                apply(join, bands, weights, (here, sizes[dim], inner), there);
                sizes[dim] = bands.len();
                core::mem::swap(here, there);
            }
            target.copy_from_slice(here);
            divide(target, &after);
        }
    });
    FlexTensor::contiguous(output.clone(), bytes)
}

fn cast<T: num_traits::Float + FromPrimitive>(list: &[f64]) -> Vec<T> {
    let number = |x: &f64| T::from_f64(*x).expect("a float of another width");
    list.iter().map(number).collect()
}

/// The product of divisors for each of `len` elements, none if all are 1.
fn divisors<T: Float + num_traits::Float + FromPrimitive>(dims: &Divisors, len: usize) -> Vec<T> {
    if dims.iter().flatten().all(|divisor| *divisor == 1.0) {
        return Vec::new();
    }
    let mut products = alloc::vec![1.0];
    for dim in dims {
        let each = |product: &f64| {
            dim.iter()
                .map(|divisor| divisor * product)
                .collect::<Vec<_>>()
        };
        products = products.iter().flat_map(each).collect();
    }
    debug_assert_eq!(products.len(), len);
    cast(&products)
}

fn divide<T: num_traits::Float>(elems: &mut [T], divisors: &[T]) {
    simd(
        #[inline(always)]
        || {
            for (x, divisor) in elems.iter_mut().zip(divisors) {
                *x = *x / *divisor;
            }
        },
    );
}

/// Appends the result along a dim of `size` with `inner` elements at each position.
fn apply<T: Float + num_traits::Float>(
    join: Join,
    bands: &Bands,
    weights: &[T],
    (from, size, inner): (&[T], usize, usize),
    to: &mut Vec<T>,
) {
    for sheet in from.chunks_exact((size * inner).max(1)) {
        match inner {
            1 => across(join, bands, weights, sheet, to),
            _ => along(join, bands, weights, (sheet, inner), to),
        }
    }
}

/// Bands of single elements.
fn across<T: Float + num_traits::Float>(
    join: Join,
    bands: &Bands,
    weights: &[T],
    line: &[T],
    to: &mut Vec<T>,
) {
    let element = |band: &Band| {
        let elems = line[band.first.min(line.len())..]
            .iter()
            .step_by(bands.step);
        let elems = elems.take(band.len);
        match join {
            Join::Max => elems.fold(T::neg_infinity(), |max, x| larger(max, *x)),
            Join::Sum => {
                let mut terms = elems
                    .zip(&weights[band.weight..])
                    .map(|(x, weight)| *x * *weight);
                // The first term as it is, for the sign of zero.
                let first = terms.next().unwrap_or_else(<T as Zero>::zero);
                terms.fold(first, |sum, term| sum + term)
            }
        }
    };
    to.extend(bands.bands.iter().map(element));
}

/// Bands of lines.
fn along<T: Float + num_traits::Float>(
    join: Join,
    bands: &Bands,
    weights: &[T],
    (sheet, inner): (&[T], usize),
    to: &mut Vec<T>,
) {
    for band in &bands.bands {
        let start = to.len();
        let identity = match join {
            Join::Max => T::neg_infinity(),
            Join::Sum => <T as Zero>::zero(),
        };
        to.resize(start + inner, identity);
        let to = &mut to[start..];
        for at in 0..band.len {
            let line = &sheet[(band.first + at * bands.step) * inner..][..inner];
            let weight = weights[band.weight + at];
            simd(
                #[inline(always)]
                || {
                    let pairs = to.iter_mut().zip(line);
                    match (join, at) {
                        (Join::Max, _) => pairs.for_each(|(max, x)| *max = larger(*max, *x)),
                        (Join::Sum, 0) => pairs.for_each(|(sum, x)| *sum = *x * weight),
                        (Join::Sum, _) => pairs.for_each(|(sum, x)| *sum = *sum + *x * weight),
                    }
                },
            );
        }
    }
}

/// The larger; a NaN if one is.
#[inline(always)]
pub(super) fn larger<T: PartialOrd + Copy>(max: T, x: T) -> T {
    if x > max || is_nan(x) { x } else { max }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_no_part_of_a_band() {
        let window = Window {
            size: 3,
            stride: 2,
            before: 1,
            after: 1,
            dilation: 1,
        };
        let bands = Bands::of_windows(4, 2, window);
        let found: Vec<_> = bands
            .bands
            .iter()
            .map(|band| (band.first, band.len))
            .collect();
        assert_eq!(found, [(0, 2), (1, 3)]);
        let dilated = Window {
            dilation: 2,
            ..window
        };
        let bands = Bands::of_windows(4, 2, dilated);
        let found: Vec<_> = bands
            .bands
            .iter()
            .map(|band| (band.first, band.len))
            .collect();
        // Windows are at -1, 1, 3 and at 1, 3, 5.
        assert_eq!(found, [(1, 2), (1, 2)]);
    }

    #[test]
    fn the_adjoint_has_the_weights_the_other_way_around() {
        let mut bands = Bands::new();
        bands.push(0, [1.0, 2.0]);
        bands.push(1, [3.0]);
        bands.push(1, [4.0, 5.0]);
        let mut expected = Bands::new();
        expected.push(0, [1.0]);
        expected.push(0, [2.0, 3.0, 4.0]);
        expected.push(2, [5.0]);
        assert_eq!(bands.transposed(3), expected);
    }
}
