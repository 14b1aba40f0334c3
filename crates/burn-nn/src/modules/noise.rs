//! [`GaussianNoise`]: noise in training.

use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::{Flag, Module, Param};
use burn_core::tensor::{Distribution, Tensor};

/// Describes a [`GaussianNoise`].
#[derive(Config, Debug)]
pub struct GaussianNoiseConfig {
    /// Standard deviation of the noise.
    pub std: f64,
}

/// Adds normal noise of mean 0 to each element in training. Off a tape nothing happens.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct GaussianNoise {
    /// Standard deviation of the noise.
    pub std: f64,
    /// On in training.
    pub training: Param<Flag>,
}

impl GaussianNoiseConfig {
    /// The layer.
    ///
    /// # Panics
    /// If the deviation is negative.
    #[track_caller]
    pub fn init(&self) -> GaussianNoise {
        let ok = self.std >= 0.0 && self.std.is_finite();
        check::field(ok, "GaussianNoise", "std", self.std, "at least 0");
        GaussianNoise {
            std: self.std,
            training: Param::from_bool(true),
        }
    }
}

impl GaussianNoise {
    /// Adds noise to a tensor of any shape.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        if !self.training.val().is_enabled() || !input.is_autodiff() || self.std == 0.0 {
            return input;
        }
        let noise = input.random_like(Distribution::Normal(0.0, self.std));
        input.add(noise)
    }
}

in_one_line! {
    GaussianNoise { std }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use burn_core::tensor::Device;

    #[test]
    #[cfg(feature = "autodiff")]
    fn there_is_noise_in_training_and_none_in_validation() {
        let device = Device::default().autodiff();
        device.seed(3);
        let layer = GaussianNoiseConfig::new(0.5).init();
        let input = Tensor::<1>::full([10_000], 2.0, &device);
        let values = |output: Tensor<1>| -> Vec<f64> { output.into_data().iter().collect() };
        let noisy = values(layer.forward(input.clone()));
        let mean = noisy.iter().sum::<f64>() / 1e4;
        let variance = noisy.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4;
        // Five standard errors: 5 · 0.5 / 100 of the mean, 5 · 0.25 · √(2 / 10⁴) of the variance.
        assert!((mean - 2.0).abs() < 0.025, "{mean}");
        assert!((variance - 0.25).abs() < 0.018, "{variance}");
        assert!(
            values(layer.valid().forward(input))
                .iter()
                .all(|x| *x == 2.0)
        );
    }

    #[test]
    fn the_layer_prints_its_deviation() {
        let layer = GaussianNoiseConfig::new(0.5).init();
        assert_eq!(format!("{layer}"), "GaussianNoise {std: 0.5}");
    }

    #[test]
    #[should_panic(expected = "`GaussianNoise`: the field `std` is -0.5")]
    fn a_negative_deviation_is_refused() {
        GaussianNoiseConfig::new(-0.5).init();
    }
}
