//! Layers as functions of their weights. Convolution, pooling and lookup have no instruction yet.

use crate::Tensor;
use crate::emit::{self, movement};
use burn_ir::Described;
use burn_std::Shape;

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
