//! Layers as functions of their weights.

mod conv;
mod ctc;
mod pool;
mod sample;

pub use conv::{
    conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv2d_weight_backward,
    conv3d, fold4d, unfold4d,
};
pub use ctc::ctc_loss;
pub use pool::{
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, avg_pool1d, avg_pool2d,
    avg_pool2d_backward, interpolate, max_pool1d, max_pool1d_with_indices, max_pool2d,
    max_pool2d_with_indices, max_pool2d_with_indices_backward,
};
pub use sample::deform_conv2d;

use crate::emit::{self, movement};
use crate::ops::AttentionModuleOptions;
use crate::{Bool, Int, Tensor};
use alloc::boxed::Box;
use burn_dispatch::Handle;
use burn_ir::{Described, ModuleOp, Scores, Window};
use burn_std::{Scalar, Shape};
use num_traits::Float;

/// Windows from their parts, one entry a dim.
fn windows<const N: usize>(
    size: [usize; N],
    stride: [usize; N],
    padding: [(usize, usize); N],
    dilation: [usize; N],
) -> Box<[Window]> {
    let window = |dim: usize| Window {
        size: size[dim],
        stride: stride[dim],
        before: padding[dim].0,
        after: padding[dim].1,
        dilation: dilation[dim],
    };
    (0..N).map(window).collect()
}

/// `x · weight + bias`
///
/// # Shapes
/// - `input`: `[…, in]`
/// - `weight`: `[in, out]`
/// - `bias`: `[out]`
/// - output: `[…, out]`
#[track_caller]
pub fn linear<const D: usize>(
    input: Tensor<D>,
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
) -> Tensor<D> {
    let (shape, columns) = (input.shape(), weight.dims()[1]);
    if D == 0 || shape[D - 1] != weight.dims()[0] {
        emit::fail(
            "linear",
            input.handle.meta(),
            format_args!(
                "the input does not fit a weight of shape {}",
                weight.shape()
            ),
            format_args!("an input of shape […, {}]", weight.dims()[0]),
        );
    }
    let mut output = shape;
    // One product of matrices, however many dims the rows are spread over.
    let rows = output[..D - 1].iter().product();
    let flat = movement::reshape(input.handle, Shape::new([rows, output[D - 1]]));
    let product: Tensor<2> = Tensor::new(emit::matmul(flat, weight.handle));
    let product = match bias {
        Some(bias) => product.add(bias.unsqueeze()),
        None => product,
    };
    output[D - 1] = columns;
    Tensor::new(movement::reshape(product.handle, output))
}

/// The rows of a table that numbers name.
///
/// # Shapes
/// - `weights`: `[rows, n]`
/// - `indices`: `[batch, length]`, numbers below `rows`
/// - output: `[batch, length, n]`
#[track_caller]
pub fn embedding(weights: Tensor<2>, indices: Tensor<2, Int>) -> Tensor<3> {
    weights.take(0, indices)
}

/// A vector along dim `dim` of a tensor of rank `D`.
#[track_caller]
fn along<const D: usize>(vector: Tensor<1>, dim: usize) -> Tensor<D> {
    let mut shape = Shape::from(alloc::vec![1; D]);
    shape[dim] = vector.dims()[0];
    Tensor::new(movement::reshape(vector.handle, shape))
}

/// The last dim with mean 0 and variance 1, then scaled by `gamma` and shifted by `beta` (Ba, Kiros and Hinton 2016,
/// section 3). `epsilon` is added to the variance, which is over `n`.
///
/// # Shapes
/// - `input`, output: `[…, n]`
/// - `gamma`, `beta`: `[n]`
#[track_caller]
pub fn layer_norm<const D: usize>(
    input: Tensor<D>,
    gamma: Tensor<1>,
    beta: Option<Tensor<1>>,
    epsilon: f64,
) -> Tensor<D> {
    Tensor::new(emit::module(ModuleOp::LayerNorm {
        input: input.handle,
        gamma: gamma.handle,
        beta: beta.map(|beta| beta.handle),
        epsilon: Scalar::Float(epsilon),
    }))
}

/// What [`batch_norm_train`] computes.
#[derive(Clone, Debug)]
pub struct BatchNormTrainOutput<const D: usize> {
    /// The normalized input.
    pub output: Tensor<D>,
    /// The mean of each channel.
    pub mean: Tensor<1>,
    /// The variance of each channel, over `n`.
    pub variance: Tensor<1>,
}

/// Each channel of dim 1 normalized by the given mean and variance, then scaled by `gamma` and shifted by `beta` (Ioffe
/// and Szegedy 2015, algorithm 2). `epsilon` is added to the variance.
///
/// # Shapes
/// - `input`, output: `[batch, channels, …]`
/// - `gamma`, `beta`, `mean`, `variance`: `[channels]`
#[track_caller]
pub fn batch_norm<const D: usize>(
    input: Tensor<D>,
    gamma: Tensor<1>,
    beta: Tensor<1>,
    mean: Tensor<1>,
    variance: Tensor<1>,
    epsilon: f64,
) -> Tensor<D> {
    let deviation = variance.add_scalar(epsilon).sqrt();
    let scaled = input.sub(along(mean, 1)).div(along(deviation, 1));
    scaled.mul(along(gamma, 1)).add(along(beta, 1))
}

/// Each channel of dim 1 normalized by its own mean and variance, which come along (Ioffe and Szegedy 2015,
/// algorithm 1).
///
/// # Shapes
/// - `input`, output: `[batch, channels, …]`
/// - `gamma`, `beta`: `[channels]`
#[track_caller]
pub fn batch_norm_train<const D: usize>(
    input: Tensor<D>,
    gamma: Tensor<1>,
    beta: Tensor<1>,
    epsilon: f64,
) -> BatchNormTrainOutput<D> {
    let dims: alloc::vec::Vec<usize> = (0..D).filter(|dim| *dim != 1).collect();
    let channels = input.shape()[1];
    let mean = input.clone().mean_dims(&dims);
    let squares = input.clone().sub(mean.clone()).square();
    let variance = squares.mean_dims(&dims);
    let mean: Tensor<1> = mean.reshape([channels]);
    let variance: Tensor<1> = variance.reshape([channels]);
    let output = batch_norm(input, gamma, beta, mean.clone(), variance.clone(), epsilon);
    BatchNormTrainOutput {
        output,
        mean,
        variance,
    }
}

/// Scaled dot-product attention (Vaswani and others 2017, equation 1): `softmax(scale · q · kᵀ + bias) · v`.
///
/// Where `mask` is true a position is left out, and with `is_causal` so is every key behind the position of its query,
/// both counted from their ends. A query that may see nothing gets zeros.
///
/// # Shapes
/// - `query`: `[batch, heads, queries, features]`
/// - `key`: `[batch, shared, keys, features]`, where `heads` is a multiple of `shared`: as many in a row share one
/// - `value`: `[batch, shared, keys, values]`
/// - `mask`, `attn_bias`: broadcast to `[batch, heads, queries, keys]`
/// - output: `[batch, heads, queries, values]`
#[track_caller]
pub fn attention(
    query: Tensor<4>,
    key: Tensor<4>,
    value: Tensor<4>,
    mask: Option<Tensor<4, Bool>>,
    attn_bias: Option<Tensor<4>>,
    options: AttentionModuleOptions,
) -> Tensor<4> {
    let op = attention_op([query, key, value], mask, attn_bias, options);
    Tensor::new(emit::module(op))
}

/// [`attention`] by its definition, with all scores at once.
#[track_caller]
pub fn attention_fallback(
    query: Tensor<4>,
    key: Tensor<4>,
    value: Tensor<4>,
    mask: Option<Tensor<4, Bool>>,
    attn_bias: Option<Tensor<4>>,
    options: AttentionModuleOptions,
) -> Tensor<4> {
    let first = query.handle.clone();
    let op = attention_op([query, key, value], mask, attn_bias, options);
    Tensor::new(emit::lowered(&first, op))
}

fn attention_op(
    [query, key, value]: [Tensor<4>; 3],
    mask: Option<Tensor<4, Bool>>,
    bias: Option<Tensor<4>>,
    options: AttentionModuleOptions,
) -> ModuleOp<Handle> {
    let features = query.dims()[3];
    let scale = options.scale.unwrap_or(1.0 / Float::sqrt(features as f64));
    ModuleOp::Attention {
        query: query.handle,
        key: key.handle,
        value: value.handle,
        mask: mask.map(|mask| mask.handle),
        bias: bias.map(|bias| bias.handle),
        scores: Scores {
            scale: Scalar::Float(scale),
            softcap: options.softcap.map(Scalar::Float),
            causal: options.is_causal,
        },
    }
}
