//! What the benchmarks share: inputs. Measuring is divan's.

use burn::prelude::*;
use burn::tensor::Distribution;

/// Uniform random numbers in [-1, 1).
pub fn uniform<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(shape, Distribution::Uniform(-1.0, 1.0), device)
}
