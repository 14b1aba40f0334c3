//! [`LayerNorm`]: rows normalized.

use crate::modules::inline;
use crate::{Initializer, check};
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::module::layer_norm;
use burn_core::tensor::{Device, Tensor};

/// Describes a [`LayerNorm`].
#[derive(Config, Debug)]
pub struct LayerNormConfig {
    /// Size of the last dimension.
    pub d_model: usize,
    /// Added to the variance.
    #[config(default = 1e-5)]
    pub epsilon: f64,
    /// Whether the output is shifted.
    #[config(default = true)]
    pub bias: bool,
}

/// The last dimension with mean 0 and variance 1, scaled and shifted (Ba, Kiros and Hinton 2016).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct LayerNorm {
    /// The scale, `[d_model]`.
    pub gamma: Param<Tensor<1>>,
    /// The shift, `[d_model]`.
    pub beta: Option<Param<Tensor<1>>>,
    epsilon: f64,
}

impl LayerNormConfig {
    /// The layer on `device`: scale 1, shift 0.
    ///
    /// # Panics
    /// If `epsilon` is negative.
    #[track_caller]
    pub fn init(&self, device: &Device) -> LayerNorm {
        check::epsilon("LayerNorm", self.epsilon);
        let shift = || Initializer::Zeros.init([self.d_model], device);
        LayerNorm {
            gamma: Initializer::Ones.init([self.d_model], device),
            beta: self.bias.then(shift),
            epsilon: self.epsilon,
        }
    }
}

impl LayerNorm {
    /// Normalizes `[…, d_model]`.
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let beta = self.beta.as_ref().map(Param::val);
        layer_norm(input, self.gamma.val(), beta, self.epsilon)
    }
}

impl ModuleDisplay for LayerNorm {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("d_model", &self.gamma.lazy_shape()[0])
            .add("epsilon", &self.epsilon)
            .add("bias", &self.beta.is_some())
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[test]
    fn rows_are_normalized_whatever_the_rank() {
        let layer = LayerNormConfig::new(2)
            .with_epsilon(0.0)
            .init(&Device::default());
        let rows = Tensor::<2>::from_data([[1.0, 3.0], [8.0, 4.0]], &Device::default());
        assert_eq!(values(layer.forward(rows.clone())), [-1.0, 1.0, 1.0, -1.0]);
        let three: Tensor<3> = rows.reshape([1, 2, 2]);
        assert_eq!(values(layer.forward(three)), [-1.0, 1.0, 1.0, -1.0]);
    }

    #[test]
    fn a_small_variance_around_a_large_mean_is_seen() {
        let device = Device::default();
        // Deviations 0.5 apart around 10000.75, of variance 0.3125; the mean of squares less the square of the mean is 8.
        let row = [10000.0, 10000.5, 10001.0, 10001.5];
        let row = Tensor::<1>::from_data(row, &device);
        let found = values(LayerNormConfig::new(4).init(&device).forward(row));
        let expected = [-1.341_619_3, -0.447_206_4, 0.447_206_4, 1.341_619_3];
        for (found, expected) in found.into_iter().zip(expected) {
            // f32 holds the inputs exactly: a few roundings of values around 1.
            assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
        }
    }

    #[test]
    fn the_layer_prints_its_options() {
        let layer = LayerNormConfig::new(6).init(&Device::default());
        assert_eq!(
            alloc::format!("{layer}"),
            "LayerNorm {d_model: 6, epsilon: 0.00001, bias: true, params: 12}"
        );
    }
}
