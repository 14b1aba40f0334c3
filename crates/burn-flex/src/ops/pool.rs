//! The largest elements of windows, and where they are. Means are [`resample`](super::resample).

use super::bands::{self, Bands, Join};
use super::conv::{Geometry, by_float, elements};
use super::matmul::Float;
use super::reduce::is_nan;
use crate::FlexTensor;
use crate::parallel::{self, Shared};
use alloc::vec::Vec;
use burn_ir::{TensorMeta, Window};
use burn_std::{Bytes, DType};

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
        DType::I64 => store!(i64),
        DType::I32 => store!(i32),
        DType::I16 => store!(i16),
        DType::I8 => store!(i8),
        DType::U64 => store!(u64),
        DType::U32 => store!(u32),
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
    let work = count * (g.area() * 16 + 16);
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
            for (position, to) in to.iter_mut().enumerate() {
                *to = first_largest(g, plane, position) as u32;
            }
        }
    });
    positions
}

/// The position of the largest element of a window; of equals, and of NaN, the first.
fn first_largest<T: Float>(g: &Geometry, plane: &[T], position: usize) -> usize {
    let [_, rows, line] = g.counts;
    let at = [
        position / line / rows,
        position / line % rows,
        position % line,
    ];
    let inside = |dim: usize| {
        let window = g.windows[dim];
        let size = g.sizes[dim];
        let taps = (0..window.size).map(move |tap| at[dim] * window.stride + tap * window.dilation);
        taps.filter_map(move |tap| tap.checked_sub(window.before).filter(|tap| *tap < size))
    };
    let mut best: Option<(usize, T)> = None;
    for depth in inside(0) {
        for row in inside(1) {
            for column in inside(2) {
                let index = (depth * g.sizes[1] + row) * g.sizes[2] + column;
                let x = plane[index];
                let wins = match best {
                    None => true,
                    Some((_, max)) => x > max || (is_nan(x) && !is_nan(max)),
                };
                if wins {
                    best = Some((index, x));
                }
            }
        }
    }
    best.expect("the check keeps windows out of nothing but padding")
        .0
}
