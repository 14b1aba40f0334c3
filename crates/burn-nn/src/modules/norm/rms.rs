//! [`RmsNorm`]: rows scaled to one length.

use crate::modules::inline;
use crate::{Initializer, check};
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::{DType, Device, Tensor};

/// Describes an [`RmsNorm`].
#[derive(Config, Debug)]
pub struct RmsNormConfig {
    /// Size of the last dimension.
    pub d_model: usize,
    /// Added to the mean square.
    #[config(default = 1e-5)]
    pub epsilon: f64,
}

/// The last dimension divided by the root of its mean square, and scaled: `x / √(mean(x²) + ε) · γ` (Zhang and Sennrich
/// 2019, equation 4).
///
/// Half types are squared in f32, where 256 and more has a square.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct RmsNorm {
    /// The scale, `[d_model]`.
    pub gamma: Param<Tensor<1>>,
    /// Added to the mean square.
    pub epsilon: f64,
}

impl RmsNormConfig {
    /// The layer on `device`: scale 1.
    ///
    /// # Panics
    /// If `epsilon` is negative.
    #[track_caller]
    pub fn init(&self, device: &Device) -> RmsNorm {
        check::epsilon("RmsNorm", self.epsilon);
        RmsNorm {
            gamma: Initializer::Ones.init([self.d_model], device),
            epsilon: self.epsilon,
        }
    }
}

impl RmsNorm {
    /// Normalizes `[…, d_model]`.
    ///
    /// # Panics
    /// If the last dimension has another size.
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let (shape, gamma) = (input.dims(), self.gamma.val());
        let size = gamma.dims()[0];
        assert!(
            shape.last() == Some(&size),
            "`RmsNorm`: `d_model` is {size}, but the input has the shape {shape:?}\n  legal: […, {size}]"
        );
        let dtype = input.dtype();
        let half = matches!(dtype, DType::F16 | DType::BF16);
        let input = if half { input.cast(DType::F32) } else { input };
        let mean = input.clone().square().mean_dim(-1);
        let output = input.div(mean.add_scalar(self.epsilon).sqrt());
        let output = if half { output.cast(dtype) } else { output };
        output.mul(gamma.unsqueeze())
    }
}

impl ModuleDisplay for RmsNorm {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("d_model", &self.gamma.lazy_shape()[0])
            .add("epsilon", &self.epsilon)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_halves_have_a_square() {
        let device = Device::default();
        let mut layer = RmsNormConfig::new(2).init(&device);
        layer.gamma = layer.gamma.map(|gamma| gamma.cast(DType::F16));
        let row = Tensor::<1>::from_data([3e4, -3e4], &device).cast(DType::F16);
        let found = layer.forward(row);
        assert_eq!(found.dtype(), DType::F16);
        let found: alloc::vec::Vec<f32> = found.into_data().iter().collect();
        assert_eq!(found, [1.0, -1.0]);
    }

    #[test]
    #[should_panic(expected = "`RmsNorm`: `d_model` is 2, but the input has the shape [2, 1]")]
    fn an_input_of_another_size_is_refused() {
        let device = Device::default();
        let layer = RmsNormConfig::new(2).init(&device);
        layer.forward(Tensor::<2>::ones([2, 1], &device));
    }

    #[test]
    #[should_panic(
        expected = "`RmsNorm`: the field `epsilon` is -1.0\n  legal: a number of at least 0"
    )]
    fn a_negative_epsilon_is_refused() {
        RmsNormConfig::new(2)
            .with_epsilon(-1.0)
            .init(&Device::default());
    }
}
