//! The largest elements of windows, and where they are. Means are [`resample`](super::resample).

use super::bands::{self, Bands, Join};
use super::conv::{Geometry, by_float, elements};
use super::matmul::Float;
use super::reduce::is_nan;
use crate::FlexTensor;
use crate::parallel::{self, Shared};
use crate::simd::{Kernel, dispatch};
use alloc::vec::Vec;
use burn_ir::{TensorMeta, Window};
use burn_std::{Bytes, DType};
use num_traits::Zero;

/// The largest of each window.
pub(super) fn max(input: FlexTensor, windows: &[Window], output: &TensorMeta) -> FlexTensor {
    let sizes = input.shape()[2..].iter().zip(&output.shape[2..]);
    let tables: Vec<Bands> = sizes
        .zip(windows)
        .map(|((size, count), window)| Bands::of_windows(*size, *count, *window))
        .collect();
    bands::run(Join::Max, &tables, (&[], &[]), input, output)
}

/// The position of the first largest of each window in its channel.
pub(super) fn indices(input: FlexTensor, windows: &[Window], output: &TensorMeta) -> FlexTensor {
    let geometry = Geometry::new(input.shape(), &output.shape, windows, 1);
    let input = input.into_contiguous();
    let positions = by_float!(input.dtype(), positions(&geometry, &input));
    macro_rules! store {
        ($ty:ty) => {
            Bytes::from_elems(positions.iter().map(|at| *at as $ty).collect::<Vec<$ty>>())
        };
    }
    let bytes = match output.dtype {
        // No position is beyond the half of the numbers that both types have.
        DType::I32 | DType::U32 => Bytes::from_elems(positions),
        DType::I64 => store!(i64),
        DType::I16 => store!(i16),
        DType::I8 => store!(i8),
        DType::U64 => store!(u64),
        DType::U16 => store!(u16),
        DType::U8 => store!(u8),
        other => panic!("positions are no {}", other.name()),
    };
    FlexTensor::contiguous(output.clone(), bytes)
}

fn positions<T: Float>(g: &Geometry, input: &FlexTensor) -> Vec<u32> {
    let (channels, count) = (g.batch * g.channels, g.positions());
    let mut positions = alloc::vec![0u32; channels * count];
    let to = Shared(positions.as_mut_ptr());
    let first = Shared(elements::<T>(input).cast_mut());
    let work = count * (g.area() * 8 + 16);
    parallel::split(channels, 1, work, &|range| {
        for channel in range {
            // SAFETY: each item has a channel of its own.
            let (plane, to) = unsafe {
                (
                    core::slice::from_raw_parts(
                        first.get().add(channel * g.elements()),
                        g.elements(),
                    ),
                    core::slice::from_raw_parts_mut(to.get().add(channel * count), count),
                )
            };
            dispatch(FirstLargest { g, plane, to });
        }
    });
    positions
}

/// The positions of the largest elements of all windows of a channel; of equals, and of NaN, the first.
struct FirstLargest<'a, T> {
    g: &'a Geometry,
    plane: &'a [T],
    to: &'a mut [u32],
}

/// No element yet.
const NONE: u32 = u32::MAX;

impl<T: Float> Kernel for FirstLargest<'_, T> {
    type Output = ();

    /// Line by line, and in each one element of all windows after the other.
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let g = self.g;
        let [_, rows, width] = g.counts;
        let mut largest = alloc::vec![<T as Zero>::zero(); width];
        let taps: Vec<_> = (0..g.windows[2].size).map(|tap| g.inside(2, tap)).collect();
        let stride = g.windows[2].stride;
        for (line, to) in self.to.chunks_exact_mut(width.max(1)).enumerate() {
            to.fill(NONE);
            let at = [line / rows, line % rows];
            let inside = |dim: usize| {
                let (window, size) = (g.windows[dim], g.sizes[dim]);
                let first = at[dim] * window.stride;
                let taps = (0..window.size).map(move |tap| first + tap * window.dilation);
                taps.filter_map(move |tap| tap.checked_sub(window.before).filter(|tap| *tap < size))
            };
            for depth in inside(0) {
                for row in inside(1) {
                    let start = (depth * g.sizes[1] + row) * g.sizes[2];
                    for (columns, offset) in &taps {
                        let (to, largest) =
                            (&mut to[columns.clone()], &mut largest[columns.clone()]);
                        let first = ((columns.start * stride + start) as isize + *offset) as usize;
                        let Some(elems) = self.plane.get(first..).filter(|_| !to.is_empty()) else {
                            continue;
                        };
                        match stride {
                            1 => tournament::<T, 1>(elems, first, to, largest),
                            2 => tournament::<T, 2>(elems, first, to, largest),
                            _ => {
                                for (i, (to, largest)) in to.iter_mut().zip(largest).enumerate() {
                                    meet(elems[i * stride], first + i * stride, to, largest);
                                }
                            }
                        }
                    }
                }
            }
        }
        debug_assert!(
            !self.to.contains(&NONE),
            "the check keeps windows out of nothing but padding"
        );
    }
}

/// Lets elements, of which the first is at `first` and others `STRIDE` apart, replace what is largest so far.
#[inline(always)]
fn tournament<T: Float, const STRIDE: usize>(
    elems: &[T],
    first: usize,
    to: &mut [u32],
    largest: &mut [T],
) {
    // The last may have fewer elements behind it.
    let last = to.len() - 1;
    let (steps, _) = elems.as_chunks::<STRIDE>();
    for i in 0..last {
        meet(
            steps[..last][i][0],
            first + i * STRIDE,
            &mut to[..last][i],
            &mut largest[..last][i],
        );
    }
    let at = last * STRIDE;
    meet(elems[at], first + at, &mut to[last], &mut largest[last]);
}

/// Lets the element `x` at `at` replace the largest so far.
#[inline(always)]
fn meet<T: Float>(x: T, at: usize, to: &mut u32, largest: &mut T) {
    // Not `||`, which is a branch.
    let wins = (x > *largest) | (is_nan(x) & !is_nan(*largest)) | (*to == NONE);
    *to = if wins { at as u32 } else { *to };
    *largest = if wins { x } else { *largest };
}
