//! Windows: weights that fade out at both ends of a frame.

use alloc::vec::Vec;
use burn_tensor::{Shape, Tensor, TensorCreationOptions, TensorData};
use core::f64::consts::PI;
use num_traits::Float;

/// Sums of cosines over one period, `Σ_k (-1)^k·a_k·cos(2πk·i/n)`; a symmetric window ends with its first weight.
fn cosines(
    size: usize,
    periodic: bool,
    weights: &[f64],
    options: TensorCreationOptions,
) -> Tensor<1> {
    let period = if periodic {
        size
    } else {
        size.saturating_sub(1)
    };
    let weight = |i: usize| -> f64 {
        if size == 1 {
            return 1.0;
        }
        let angle = 2.0 * PI * i as f64 / period as f64;
        let term = |(k, weight): (usize, &f64)| {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sign * weight * Float::cos(k as f64 * angle)
        };
        weights.iter().enumerate().map(term).sum()
    };
    let values: Vec<f64> = (0..size).map(weight).collect();
    Tensor::from_data(TensorData::new(values, Shape::new([size])), options)
}

/// The window of von Hann, `0.5 - 0.5·cos(2πi/n)`. Periodic windows suit spectra, symmetric ones filters.
pub fn hann_window(
    size: usize,
    periodic: bool,
    options: impl Into<TensorCreationOptions>,
) -> Tensor<1> {
    cosines(size, periodic, &[0.5, 0.5], options.into())
}

/// The window of Hamming, `0.54 - 0.46·cos(2πi/n)`. Periodic windows suit spectra, symmetric ones filters.
pub fn hamming_window(
    size: usize,
    periodic: bool,
    options: impl Into<TensorCreationOptions>,
) -> Tensor<1> {
    cosines(size, periodic, &[0.54, 0.46], options.into())
}

/// The window of Blackman, `0.42 - 0.5·cos(2πi/n) + 0.08·cos(4πi/n)`. Periodic windows suit spectra, symmetric ones
/// filters.
pub fn blackman_window(
    size: usize,
    periodic: bool,
    options: impl Into<TensorCreationOptions>,
) -> Tensor<1> {
    cosines(size, periodic, &[0.42, 0.5, 0.08], options.into())
}
