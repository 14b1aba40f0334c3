//! Floats as codes of few bits.
//!
//! A quantized tensor is a tensor of floats that is stored otherwise: every operation takes it. Products read its codes,
//! movements that leave scales in place keep them, and other operations compute with the floats that codes stand for.

use super::Tensor;
use crate::emit::quant;
use crate::kind::Float;
use crate::quantization::QuantizationParameters;
use burn_std::quantization::{Calibration, QuantScheme};

impl<const D: usize> Tensor<D, Float> {
    /// The tensor as codes under the given scales: `x / scale`, to the nearest integer of the scheme's range, halves to
    /// even; NaN becomes 0. No gradient flows.
    ///
    /// # Shapes
    /// - scales: `[1]`, or for blocks `[blocks]`, in row-major order
    ///
    /// # Panics
    /// If there are more or fewer scales, or blocks do not divide the dims of the tensor.
    #[track_caller]
    pub fn quantize(self, scheme: &QuantScheme, qparams: QuantizationParameters) -> Tensor<D> {
        let scales = qparams.scales.handle;
        let global = qparams.global.map(|global| global.handle);
        Self::new(quant::quantize(*scheme, self.handle, (scales, global)))
    }

    /// The tensor as codes under scales that cover its least and its greatest value. No gradient flows.
    ///
    /// # Panics
    /// If blocks do not divide the dims of the tensor.
    #[track_caller]
    pub fn quantize_dynamic(self, scheme: &QuantScheme) -> Tensor<D> {
        let range = quant::range(scheme, self.handle.clone(), &Calibration::MinMax);
        let params = quant::params(scheme, range);
        Self::new(quant::quantize(*scheme, self.handle, params))
    }

    /// The floats that codes stand for; a tensor of floats as it is.
    #[track_caller]
    pub fn dequantize(self) -> Tensor<D> {
        Self::new(quant::dequantize(self.handle))
    }
}
