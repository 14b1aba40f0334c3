//! Convolutions, their adjoints, and windows as columns.

use super::windows;
use crate::Tensor;
use crate::emit;
use crate::ops::{ConvOptions, ConvTransposeOptions, UnfoldOptions};
use alloc::boxed::Box;
use burn_dispatch::Handle;
use burn_ir::{Described, ModuleOp, Window};
use burn_std::Shape;

/// The windows of weights that slide as the options say.
fn weight_windows<const N: usize>(weight: &Handle, options: &ConvOptions<N>) -> Box<[Window]> {
    let size = |dim: usize| weight.meta().shape.get(dim + 2).copied().unwrap_or(0);
    windows(
        core::array::from_fn(size),
        options.stride,
        options.padding,
        options.dilation,
    )
}

#[track_caller]
fn conv<const N: usize>(
    input: Handle,
    weight: Handle,
    bias: Option<Tensor<1>>,
    options: &ConvOptions<N>,
) -> Handle {
    emit::module(ModuleOp::Conv {
        windows: weight_windows(&weight, options),
        input,
        weight,
        bias: bias.map(|bias| bias.handle),
        groups: options.groups,
    })
}

/// The cross-correlation of lines with a weight for each pair of channels.
///
/// # Shapes
/// - `x`: `[batch, in, length]`
/// - `weight`: `[out, in / groups, kernel]`
/// - `bias`: `[out]`
/// - output: `[batch, out, windows]`
#[track_caller]
pub fn conv1d(
    x: Tensor<3>,
    weight: Tensor<3>,
    bias: Option<Tensor<1>>,
    options: impl Into<ConvOptions<1>>,
) -> Tensor<3> {
    Tensor::new(conv(x.handle, weight.handle, bias, &options.into()))
}

/// The cross-correlation of images with a weight for each pair of channels.
///
/// # Shapes
/// - `x`: `[batch, in, height, width]`
/// - `weight`: `[out, in / groups, kernel height, kernel width]`
/// - `bias`: `[out]`
/// - output: `[batch, out, windows down, windows across]`
#[track_caller]
pub fn conv2d(
    x: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: impl Into<ConvOptions<2>>,
) -> Tensor<4> {
    Tensor::new(conv(x.handle, weight.handle, bias, &options.into()))
}

/// The cross-correlation of volumes with a weight for each pair of channels.
///
/// # Shapes
/// - `x`: `[batch, in, depth, height, width]`
/// - `weight`: `[out, in / groups, kernel depth, kernel height, kernel width]`
/// - `bias`: `[out]`
#[track_caller]
pub fn conv3d(
    x: Tensor<5>,
    weight: Tensor<5>,
    bias: Option<Tensor<1>>,
    options: impl Into<ConvOptions<3>>,
) -> Tensor<5> {
    Tensor::new(conv(x.handle, weight.handle, bias, &options.into()))
}

/// The gradient of [`conv2d`] for its weight, from that for its output.
#[track_caller]
pub fn conv2d_weight_backward(
    x: Tensor<4>,
    weight: Tensor<4>,
    output_grad: Tensor<4>,
    options: ConvOptions<2>,
) -> Tensor<4> {
    Tensor::new(emit::module(ModuleOp::ConvWeight {
        windows: weight_windows(&weight.handle, &options),
        input: x.handle,
        grad: output_grad.handle,
        groups: options.groups,
    }))
}

#[track_caller]
fn conv_transpose<const N: usize>(
    input: Handle,
    weight: Handle,
    bias: Option<Tensor<1>>,
    options: ConvTransposeOptions<N>,
) -> Handle {
    let ConvTransposeOptions {
        stride,
        padding,
        padding_out,
        dilation,
        groups,
    } = options;
    let options = ConvOptions::new(stride, padding, dilation, groups);
    let windows = weight_windows(&weight, &options);
    let mut sizes = Shape::from(alloc::vec![0; N]);
    for dim in 0..N {
        let count = input.meta().shape.get(dim + 2).copied().unwrap_or(0);
        let padded = count
            .saturating_sub(1)
            .saturating_mul(stride[dim])
            .saturating_add(windows[dim].extent().unwrap_or(0))
            .saturating_add(padding_out[dim]);
        // What is less than nothing is refused with the rest of what does not fit.
        sizes[dim] = padded.saturating_sub(padding[dim].saturating_mul(2));
    }
    emit::module(ModuleOp::ConvTranspose {
        input,
        weight,
        bias: bias.map(|bias| bias.handle),
        windows,
        sizes,
        groups,
    })
}

/// The adjoint of [`conv1d`]: each element adds its window of weights to the output. Windows start `stride` elements
/// apart; `padding` elements are cut from both ends, and `padding_out`, fewer than a stride, are left at the end.
///
/// # Shapes
/// - `x`: `[batch, in, length]`
/// - `weight`: `[in, out / groups, kernel]`
/// - `bias`: `[out]`
/// - output: `[batch, out, (length - 1) · stride + dilation · (kernel - 1) + 1 - 2 · padding + padding_out]`
#[track_caller]
pub fn conv_transpose1d(
    x: Tensor<3>,
    weight: Tensor<3>,
    bias: Option<Tensor<1>>,
    options: ConvTransposeOptions<1>,
) -> Tensor<3> {
    Tensor::new(conv_transpose(x.handle, weight.handle, bias, options))
}

/// The adjoint of [`conv2d`]; sizes as in [`conv_transpose1d`].
///
/// # Shapes
/// - `x`: `[batch, in, height, width]`
/// - `weight`: `[in, out / groups, kernel height, kernel width]`
/// - `bias`: `[out]`
#[track_caller]
pub fn conv_transpose2d(
    x: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    options: ConvTransposeOptions<2>,
) -> Tensor<4> {
    Tensor::new(conv_transpose(x.handle, weight.handle, bias, options))
}

/// The adjoint of [`conv3d`]; sizes as in [`conv_transpose1d`].
///
/// # Shapes
/// - `x`: `[batch, in, depth, height, width]`
/// - `weight`: `[in, out / groups, kernel depth, kernel height, kernel width]`
/// - `bias`: `[out]`
#[track_caller]
pub fn conv_transpose3d(
    x: Tensor<5>,
    weight: Tensor<5>,
    bias: Option<Tensor<1>>,
    options: ConvTransposeOptions<3>,
) -> Tensor<5> {
    Tensor::new(conv_transpose(x.handle, weight.handle, bias, options))
}

fn column_windows(kernel_size: [usize; 2], options: &UnfoldOptions) -> Box<[Window]> {
    let padding = options.padding.map(|padding| (padding, padding));
    windows(kernel_size, options.stride, padding, options.dilation)
}

/// The windows of images as columns, with zeros around.
///
/// # Shapes
/// - `x`: `[batch, channels, height, width]`
/// - output: `[batch, channels · kernel height · kernel width, windows]`
#[track_caller]
pub fn unfold4d(x: Tensor<4>, kernel_size: [usize; 2], options: UnfoldOptions) -> Tensor<3> {
    Tensor::new(emit::module(ModuleOp::Unfold {
        input: x.handle,
        windows: column_windows(kernel_size, &options),
    }))
}

/// The adjoint of [`unfold4d`]: columns add up where their windows overlap.
///
/// # Shapes
/// - `x`: `[batch, channels · kernel height · kernel width, windows]`
/// - output: `[batch, channels, output height, output width]`
#[track_caller]
pub fn fold4d(
    x: Tensor<3>,
    output_size: [usize; 2],
    kernel_size: [usize; 2],
    options: UnfoldOptions,
) -> Tensor<4> {
    Tensor::new(emit::module(ModuleOp::Fold {
        input: x.handle,
        windows: column_windows(kernel_size, &options),
        sizes: output_size.into(),
    }))
}
