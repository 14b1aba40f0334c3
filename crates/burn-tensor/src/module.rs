//! Layers as functions of their weights. Convolution and pooling have no instruction yet.

use crate::emit::{self, movement};
use crate::ops::AttentionModuleOptions;
use crate::{Bool, Int, Tensor, activation};
use burn_ir::Described;
use burn_std::Shape;
use num_traits::Float;

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
    let (variance, mean) = input.clone().var_mean_bias(-1);
    let scaled = input.sub(mean).div(variance.add_scalar(epsilon).sqrt());
    let output = scaled.mul(along(gamma, D - 1));
    match beta {
        Some(beta) => output.add(along(beta, D - 1)),
        None => output,
    }
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
/// - `key`: `[batch, heads, keys, features]`
/// - `value`: `[batch, heads, keys, values]`
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
    attention_fallback(query, key, value, mask, attn_bias, options)
}

/// [`attention`] by its definition. No device has a kernel of its own for it yet, so the two are the same.
#[track_caller]
pub fn attention_fallback(
    query: Tensor<4>,
    key: Tensor<4>,
    value: Tensor<4>,
    mask: Option<Tensor<4, Bool>>,
    attn_bias: Option<Tensor<4>>,
    options: AttentionModuleOptions,
) -> Tensor<4> {
    let [_, _, queries, features] = query.dims();
    let keys = key.dims()[2];
    let mut scores = match options.scale {
        Some(scale) => query.mul_scalar(scale),
        None => query.div_scalar(Float::sqrt(features as f64)),
    }
    .matmul(key.transpose());
    if let Some(cap) = options.softcap {
        scores = scores.div_scalar(cap).tanh().mul_scalar(cap);
    }
    if let Some(bias) = attn_bias {
        scores = scores.add(bias);
    }
    let device = scores.device().inner();
    let offset = keys as i64 - queries as i64;
    let causal = || Tensor::<4, Bool>::tril_mask([1, 1, queries, keys], offset, &device);
    let hidden = match (mask, options.is_causal) {
        (Some(mask), true) => Some(mask.bool_or(causal())),
        (Some(mask), false) => Some(mask),
        (None, true) => Some(causal()),
        (None, false) => None,
    };
    let weights = match hidden {
        None => activation::softmax(scores, 3),
        Some(hidden) => {
            let hidden = hidden.expand([-1, -1, queries as i64, keys as i64]);
            let scores = scores.mask_fill(hidden.clone(), f64::NEG_INFINITY);
            // A row without anything to see is NaN, and zero by this.
            activation::softmax(scores, 3).mask_fill(hidden, 0)
        }
    };
    weights.matmul(value)
}
