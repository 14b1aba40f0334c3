//! What several rules compute of a whole tensor. It stays on the device: no step waits for a number.

use burn_core::tensor::{DType, FloatDType, Tensor};

/// The sum of squares. Squares of half-precision elements overflow at 256, so that they are summed in f32.
pub(crate) fn sum_of_squares<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let wide = match tensor.dtype() {
        DType::F16 | DType::BF16 => tensor.cast(FloatDType::F32),
        _ => tensor,
    };
    wide.square().sum()
}

/// The Euclidean norm of all elements, in f32 for half precision.
pub(crate) fn norm<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    sum_of_squares(tensor).sqrt()
}

/// The root of the mean square of all elements, in f32 for half precision.
pub(crate) fn root_mean_square<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let count = tensor.shape().num_elements().max(1);
    (sum_of_squares(tensor) / count as f64).sqrt()
}

/// The tensor times one number that is a tensor.
pub(crate) fn scale<const D: usize>(tensor: Tensor<D>, factor: Tensor<1>) -> Tensor<D> {
    let dtype = tensor.dtype();
    tensor * factor.cast(dtype).unsqueeze::<D>()
}

/// The factor that shortens what has this norm to at most `max`.
///
/// A factor of 1 leaves what is shorter as it is, and 0, whose quotient is infinite. The factor of an infinite norm is 0,
/// which makes infinite elements NaN.
pub(crate) fn shortening(norm: Tensor<1>, max: f64) -> Tensor<1> {
    (norm.recip() * max).clamp_max(1.0)
}
