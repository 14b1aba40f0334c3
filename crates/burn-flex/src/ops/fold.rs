//! Windows as columns, all of them, and back. Convolution makes columns by the tile instead.

use super::conv::{Geometry, add, by_float, elements, load};
use super::matmul::Float;
use crate::FlexTensor;
use crate::parallel::{Shared, split};
use crate::tensor::allocate;
use burn_ir::{TensorMeta, Window};
use burn_std::{DType, Shape};
use num_traits::Zero;

/// The columns of an image.
pub(super) fn unfold(input: FlexTensor, windows: &[Window], output: &TensorMeta) -> FlexTensor {
    let g = geometry(input.shape(), windows);
    let input = input.into_contiguous();
    by_float!(output.dtype, to_columns(&g, &input, output))
}

/// The image that columns add up to.
pub(super) fn fold(input: FlexTensor, windows: &[Window], output: &TensorMeta) -> FlexTensor {
    let g = geometry(&output.shape, windows);
    let input = input.into_contiguous();
    by_float!(output.dtype, to_image(&g, &input, output))
}

fn geometry(image: &Shape, windows: &[Window]) -> Geometry {
    let count = |(size, window): (&usize, &Window)| window.count(*size, false);
    let counts = image[2..].iter().zip(windows).map(count);
    let counts = counts.map(|count| count.expect("the check admits windows that fit"));
    let output: Shape = image[..2].iter().copied().chain(counts).collect();
    Geometry::new(image, &output, windows, 1)
}

fn to_columns<T: Float>(g: &Geometry, input: &FlexTensor, output: &TensorMeta) -> FlexTensor {
    // SAFETY: each channel writes its rows.
    let mut bytes = unsafe { allocate(output.shape.num_elements() * size_of::<T>(), output.dtype) };
    let to = Shared(bytes.as_mut_ptr().cast::<T>());
    let from = Shared(elements::<T>(input).cast_mut());
    let (positions, len) = (g.positions(), g.area() * g.positions());
    split(g.batch * g.channels, 1, len * size_of::<T>(), &|range| {
        for channel in range {
            // SAFETY: items have channels of their own.
            unsafe {
                let plane = from.get().add(channel * g.elements());
                load(
                    g,
                    plane,
                    0..positions,
                    to.get().add(channel * len),
                    positions,
                );
            }
        }
    });
    FlexTensor::contiguous(output.clone(), bytes)
}

fn to_image<T: Float>(g: &Geometry, input: &FlexTensor, output: &TensorMeta) -> FlexTensor {
    let mut image = alloc::vec![<T as Zero>::zero(); output.shape.num_elements()];
    let to = Shared(image.as_mut_ptr());
    let from = Shared(elements::<T>(input).cast_mut());
    let (positions, len) = (g.positions(), g.area() * g.positions());
    split(g.batch * g.channels, 1, len * size_of::<T>(), &|range| {
        for channel in range {
            // SAFETY: items have channels of their own.
            unsafe {
                let rows = from.get().add(channel * len);
                add(g, rows, 0..positions, to.get().add(channel * g.elements()));
            }
        }
    });
    FlexTensor::contiguous(output.clone(), super::reduce::store::<T>(image))
}
