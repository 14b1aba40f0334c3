//! Pools, and images of another size.

use super::windows;
use crate::emit;
use crate::ops::{AvgPoolOptions, InterpolateMode, InterpolateOptions, MaxPoolOptions};
use crate::{Int, Tensor};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_ir::{Described, Filter, ModuleOp, Window};
use burn_std::{IndexingUpdateOp, Shape};

#[track_caller]
fn resample(input: Handle, filters: Vec<Filter>, sizes: Shape) -> Handle {
    emit::module(ModuleOp::Resample {
        input,
        filters: filters.into(),
        sizes,
        adjoint: false,
    })
}

/// The means of windows, and how many there are in each dim of an image.
fn means<const N: usize>(input: &Handle, options: &AvgPoolOptions<N>) -> (Vec<Filter>, Shape) {
    let windows = windows(options.kernel_size, options.stride, options.padding, [1; N]);
    let count = |(dim, window): (usize, &Window)| {
        let size = input.meta().shape.get(dim + 2).copied().unwrap_or(0);
        // Windows that do not fit are refused with their number, whatever it is.
        window.count(size, options.ceil_mode).unwrap_or(0)
    };
    let sizes = windows.iter().enumerate().map(count).collect();
    let mean = |window: &Window| Filter::Mean {
        window: *window,
        count_padding: options.count_include_pad,
    };
    (windows.iter().map(mean).collect(), sizes)
}

#[track_caller]
fn avg_pool<const N: usize>(input: Handle, options: &AvgPoolOptions<N>) -> Handle {
    let (filters, sizes) = means(&input, options);
    resample(input, filters, sizes)
}

/// The mean of each window of lines. A window that `ceil_mode` adds is divided by what is left of it.
///
/// # Shapes
/// - `x`: `[batch, channels, length]`
/// - output: `[batch, channels, windows]`
#[track_caller]
pub fn avg_pool1d(x: Tensor<3>, options: AvgPoolOptions<1>) -> Tensor<3> {
    Tensor::new(avg_pool(x.handle, &options))
}

/// The mean of each window of images. A window that `ceil_mode` adds is divided by what is left of it.
///
/// # Shapes
/// - `x`: `[batch, channels, height, width]`
/// - output: `[batch, channels, windows down, windows across]`
#[track_caller]
pub fn avg_pool2d(x: Tensor<4>, options: AvgPoolOptions<2>) -> Tensor<4> {
    Tensor::new(avg_pool(x.handle, &options))
}

/// The gradient of [`avg_pool2d`] for `x`, from that for its output.
#[track_caller]
pub fn avg_pool2d_backward(
    x: Tensor<4>,
    grad: Tensor<4>,
    kernel_size: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    count_include_pad: bool,
    ceil_mode: bool,
) -> Tensor<4> {
    let options = AvgPoolOptions::new(kernel_size)
        .with_stride(stride)
        .with_padding(padding)
        .with_count_include_pad(count_include_pad)
        .with_ceil_mode(ceil_mode);
    let (filters, _) = means(&x.handle, &options);
    let [_, _, height, width] = x.dims();
    Tensor::new(emit::module(ModuleOp::Resample {
        input: grad.handle,
        filters: filters.into(),
        sizes: [height, width].into(),
        adjoint: true,
    }))
}

/// The mean of each of `output_size` parts of lines, which overlap where sizes do not divide.
///
/// # Shapes
/// - `x`: `[batch, channels, length]`
/// - output: `[batch, channels, output size]`
#[track_caller]
pub fn adaptive_avg_pool1d(x: Tensor<3>, output_size: usize) -> Tensor<3> {
    Tensor::new(resample(
        x.handle,
        alloc::vec![Filter::AdaptiveMean],
        [output_size].into(),
    ))
}

/// The mean of each of `output_size` parts of images, which overlap where sizes do not divide.
///
/// # Shapes
/// - `x`: `[batch, channels, height, width]`
/// - output: `[batch, channels, output height, output width]`
#[track_caller]
pub fn adaptive_avg_pool2d(x: Tensor<4>, output_size: [usize; 2]) -> Tensor<4> {
    let filters = alloc::vec![Filter::AdaptiveMean; 2];
    Tensor::new(resample(x.handle, filters, output_size.into()))
}

/// The mean of each of `output_size` parts of volumes, which overlap where sizes do not divide.
///
/// # Shapes
/// - `x`: `[batch, channels, depth, height, width]`
/// - output: `[batch, channels, output depth, output height, output width]`
#[track_caller]
pub fn adaptive_avg_pool3d(x: Tensor<5>, output_size: [usize; 3]) -> Tensor<5> {
    let filters = alloc::vec![Filter::AdaptiveMean; 3];
    Tensor::new(resample(x.handle, filters, output_size.into()))
}

fn max_windows<const N: usize>(options: &MaxPoolOptions<N>) -> Box<[Window]> {
    windows(
        options.kernel_size,
        options.stride,
        options.padding,
        options.dilation,
    )
}

#[track_caller]
fn max_pool<const N: usize>(input: Handle, options: &MaxPoolOptions<N>) -> Handle {
    emit::module(ModuleOp::MaxPool {
        input,
        windows: max_windows(options),
        ceil: options.ceil_mode,
    })
}

#[track_caller]
fn max_pool_indices<const N: usize>(input: Handle, options: &MaxPoolOptions<N>) -> Handle {
    let dtype = input.device().settings().int_dtype;
    emit::module(ModuleOp::MaxPoolIndices {
        input,
        windows: max_windows(options),
        ceil: options.ceil_mode,
        dtype,
    })
}

/// The largest of each window of lines; NaN is larger than anything.
///
/// # Shapes
/// - `x`: `[batch, channels, length]`
/// - output: `[batch, channels, windows]`
#[track_caller]
pub fn max_pool1d(x: Tensor<3>, options: MaxPoolOptions<1>) -> Tensor<3> {
    Tensor::new(max_pool(x.handle, &options))
}

/// The largest of each window of lines, and the position of the first of those in its line.
#[track_caller]
pub fn max_pool1d_with_indices(
    x: Tensor<3>,
    options: MaxPoolOptions<1>,
) -> (Tensor<3>, Tensor<3, Int>) {
    let values = max_pool(x.handle.clone(), &options);
    let indices = max_pool_indices(x.handle, &options);
    (Tensor::new(values), Tensor::new(indices))
}

/// The largest of each window of images; NaN is larger than anything.
///
/// # Shapes
/// - `x`: `[batch, channels, height, width]`
/// - output: `[batch, channels, windows down, windows across]`
#[track_caller]
pub fn max_pool2d(x: Tensor<4>, options: MaxPoolOptions<2>) -> Tensor<4> {
    Tensor::new(max_pool(x.handle, &options))
}

/// The largest of each window of images, and the position of the first of those in its image: `row · width + column`.
#[track_caller]
pub fn max_pool2d_with_indices(
    x: Tensor<4>,
    options: MaxPoolOptions<2>,
) -> (Tensor<4>, Tensor<4, Int>) {
    let values = max_pool(x.handle.clone(), &options);
    let indices = max_pool_indices(x.handle, &options);
    (Tensor::new(values), Tensor::new(indices))
}

/// The gradient of [`max_pool2d_with_indices`] for `x`, from that for its values and from its indices, which alone say
/// where it goes.
#[track_caller]
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of the pool and what came of it"
)]
pub fn max_pool2d_with_indices_backward(
    x: Tensor<4>,
    _kernel_size: [usize; 2],
    _stride: [usize; 2],
    _padding: [usize; 2],
    _dilation: [usize; 2],
    _ceil_mode: bool,
    output_grad: Tensor<4>,
    indices: Tensor<4, Int>,
) -> Tensor<4> {
    let [batch, channels, height, width] = x.dims();
    let [_, _, down, across] = indices.dims();
    let windows = [batch, channels, down * across];
    let zeros = x.zeros_like().reshape([batch, channels, height * width]);
    let (indices, grad) = (indices.reshape(windows), output_grad.reshape(windows));
    let sums = zeros.scatter(2, indices, grad, IndexingUpdateOp::Add);
    sums.reshape([batch, channels, height, width])
}

/// Images of another size.
///
/// # Shapes
/// - `x`: `[batch, channels, height, width]`
/// - output: `[batch, channels, output height, output width]`; by factors, sizes are rounded down.
#[track_caller]
pub fn interpolate(x: Tensor<4>, options: InterpolateOptions) -> Tensor<4> {
    let [_, _, height, width] = x.dims();
    let sizes = match (options.output_size, options.scale_factor) {
        (Some(sizes), _) => sizes,
        (None, Some([down, across])) => [
            (height as f64 * f64::from(down)) as usize,
            (width as f64 * f64::from(across)) as usize,
        ],
        (None, None) => emit::fail(
            "interpolate",
            x.handle.meta(),
            format_args!("the options have no size"),
            format_args!("an output size or a scale factor"),
        ),
    };
    let align_corners = options.align_corners;
    let filter = match options.mode {
        InterpolateMode::Nearest => Filter::Nearest,
        InterpolateMode::NearestExact => Filter::NearestExact,
        InterpolateMode::Bilinear => Filter::Linear { align_corners },
        InterpolateMode::Bicubic => Filter::Cubic { align_corners },
        InterpolateMode::Lanczos3 => Filter::Lanczos { align_corners },
    };
    Tensor::new(resample(x.handle, alloc::vec![filter; 2], sizes.into()))
}
