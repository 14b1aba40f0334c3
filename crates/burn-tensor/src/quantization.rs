//! How floats become codes of few bits: schemes, and scales from the values that are to be covered.
//!
//! Tensors are quantized by [`Tensor::quantize`] and [`Tensor::quantize_dynamic`].

use crate::Tensor;
use crate::emit::quant;
pub use burn_std::quantization::*;

/// The values that scales are to cover, for each block in row-major order, or the one.
#[derive(Clone, Debug)]
pub struct CalibrationRange {
    /// The least.
    pub min: Tensor<1>,
    /// The greatest.
    pub max: Tensor<1>,
}

/// The scales of a tensor.
pub type QuantizationParameters = QParams<Tensor<1>>;

/// The range of the values of a tensor, or of each block.
///
/// # Panics
/// If the blocks of the scheme do not divide the dims of the tensor.
#[track_caller]
pub fn compute_range<const D: usize>(
    scheme: &QuantScheme,
    tensor: &Tensor<D>,
    calibration: &Calibration,
) -> CalibrationRange {
    let [min, max] = quant::range(scheme, tensor.handle.clone(), calibration);
    CalibrationRange {
        min: Tensor::new(min),
        max: Tensor::new(max),
    }
}

/// The scales under which the codes of a scheme cover a range, and the same range below 0.
///
/// # Panics
/// If the ends of the range are of different shapes.
#[track_caller]
pub fn compute_q_params(scheme: &QuantScheme, range: CalibrationRange) -> QuantizationParameters {
    let (scales, global) = quant::params(scheme, [range.min.handle, range.max.handle]);
    QParams {
        scales: Tensor::new(scales),
        global: global.map(Tensor::new),
    }
}
