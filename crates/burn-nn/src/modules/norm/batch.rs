//! [`BatchNorm`]: channels normalized over a batch.

use super::channels;
use crate::modules::inline;
use crate::{Initializer, check};
use burn_core::config::Config;
use burn_core::module::{
    Content, DisplaySettings, Flag, Module, ModuleDisplay, Param, RunningState,
};
use burn_core::tensor::module::{batch_norm, batch_norm_train};
use burn_core::tensor::{Device, Tensor};

/// Describes a [`BatchNorm`].
#[derive(Config, Debug)]
pub struct BatchNormConfig {
    /// The channels.
    pub num_features: usize,
    /// Added to the variance.
    #[config(default = 1e-5)]
    pub epsilon: f64,
    /// The share of a batch in the running statistics.
    #[config(default = 0.1)]
    pub momentum: f64,
}

/// Each channel (dimension 1) with mean 0 and variance 1, scaled and shifted (Ioffe and Szegedy 2015).
///
/// In training these are the statistics of the batch, and running means of them are kept; otherwise those are used. The
/// running variance is that over `n - 1`.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct BatchNorm {
    /// The scale, `[num_features]`.
    pub gamma: Param<Tensor<1>>,
    /// The shift, `[num_features]`.
    pub beta: Param<Tensor<1>>,
    /// Running mean of the batches' means.
    pub running_mean: RunningState<Tensor<1>>,
    /// Running mean of the batches' variances.
    pub running_var: RunningState<Tensor<1>>,
    /// The share of a batch in the running statistics.
    pub momentum: f64,
    /// Added to the variance.
    pub epsilon: f64,
    /// On in training.
    pub training: Param<Flag>,
}

impl BatchNormConfig {
    /// The layer on `device`: scale and variance 1, shift and mean 0.
    ///
    /// # Panics
    /// If `epsilon` is negative, or the momentum is not in `0..=1`.
    #[track_caller]
    pub fn init(&self, device: &Device) -> BatchNorm {
        let momentum = self.momentum;
        check::epsilon("BatchNorm", self.epsilon);
        check::field(
            (0.0..=1.0).contains(&momentum),
            "BatchNorm",
            "momentum",
            momentum,
            "a share in 0..=1",
        );
        let shape = [self.num_features];
        BatchNorm {
            gamma: Initializer::Ones.init(shape, device),
            beta: Initializer::Zeros.init(shape, device),
            running_mean: RunningState::new(Tensor::zeros(shape, device)),
            running_var: RunningState::new(Tensor::ones(shape, device)),
            momentum: self.momentum,
            epsilon: self.epsilon,
            training: Param::from_bool(true),
        }
    }
}

impl BatchNorm {
    /// Normalizes `[batch, num_features, …]`.
    ///
    /// # Panics
    /// If the input has another number of channels.
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let features = self.gamma.lazy_shape()[0];
        channels("BatchNorm", "num_features", &input.dims(), features);
        let (gamma, beta) = (self.gamma.val(), self.beta.val());
        if !(self.training.val().is_enabled() && input.is_autodiff()) {
            let (mean, variance) = (self.running_mean.value(), self.running_var.value());
            return batch_norm(input, gamma, beta, mean, variance, self.epsilon);
        }
        let count = input.shape().num_elements() / input.dims()[1].max(1);
        let trained = batch_norm_train(input, gamma, beta, self.epsilon);
        let unbiased = count as f64 / (count.saturating_sub(1)).max(1) as f64;
        self.keep(&self.running_mean, trained.mean);
        self.keep(&self.running_var, trained.variance.mul_scalar(unbiased));
        trained.output
    }

    /// Moves a statistic towards that of a batch.
    fn keep(&self, state: &RunningState<Tensor<1>>, batch: Tensor<1>) {
        let old = state.value().mul_scalar(1.0 - self.momentum);
        let new = batch.detach().mul_scalar(self.momentum);
        state.update(old.add(new));
    }
}

impl ModuleDisplay for BatchNorm {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("num_features", &self.beta.lazy_shape()[0])
            .add("momentum", &self.momentum)
            .add("epsilon", &self.epsilon)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    #[track_caller]
    fn close<const D: usize>(tensor: Tensor<D>, expected: &[f32]) {
        let found: Vec<f32> = tensor.try_into_vec_as().expect("a CPU tensor can be read");
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            // f32: a few roundings of values around 1.
            assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
        }
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn training_keeps_statistics_that_validation_uses() {
        let device = Device::default().autodiff();
        let layer = BatchNormConfig::new(1)
            .with_epsilon(0.0)
            .with_momentum(0.5)
            .init(&device);
        let batch = || Tensor::<2>::from_data([[1.0], [3.0]], &device);
        close(layer.forward(batch()), &[-1.0, 1.0]);
        // Halfway from 0 to 2, and from 1 to 2 (over n - 1).
        close(layer.running_mean.value(), &[1.0]);
        close(layer.running_var.value(), &[1.5]);
        let layer = layer.valid();
        let root = 1.5f32.sqrt();
        close(layer.forward(batch().inner()), &[0.0, 2.0 / root]);
        close(layer.running_mean.value(), &[1.0]);
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn the_running_variance_is_that_over_one_less() {
        let device = Device::default().autodiff();
        let layer = BatchNormConfig::new(1).init(&device);
        let batch = Tensor::<2>::from_data([[1.0], [2.0], [3.0], [6.0]], &device);
        // Normalized by the variance over n, 3.5, and kept by that over n - 1, 14/3: 0.9 + 0.1 · 14/3.
        let expected = [-1.069_043_4, -0.534_521_7, 0.0, 1.603_565_1];
        close(layer.forward(batch), &expected);
        close(layer.running_mean.value(), &[0.3]);
        close(layer.running_var.value(), &[1.366_666_7]);
        let row = Tensor::<2>::from_data([[3.0]], &Device::default());
        close(layer.valid().forward(row), &[2.309_568_6]);
    }

    #[test]
    fn the_layer_prints_its_options() {
        let layer = BatchNormConfig::new(6).init(&Device::default());
        assert_eq!(
            format!("{layer}"),
            "BatchNorm {num_features: 6, momentum: 0.1, epsilon: 0.00001, params: 24}"
        );
    }

    #[test]
    fn a_fresh_layer_passes_one_row_on() {
        let layer = BatchNormConfig::new(2).init(&Device::default());
        let row = Tensor::<2>::from_data([[2.0, 4.0]], &Device::default());
        // x / √(1 + 1e-5)
        close(layer.forward(row), &[1.99999, 3.99998]);
    }

    #[test]
    #[should_panic(
        expected = "`BatchNorm`: the field `momentum` is 1.5\n  legal: a share in 0..=1"
    )]
    fn a_momentum_above_1_is_refused() {
        BatchNormConfig::new(2)
            .with_momentum(1.5)
            .init(&Device::default());
    }

    #[test]
    #[should_panic(
        expected = "`BatchNorm`: `num_features` is 2, but the input has the shape [4, 3]"
    )]
    fn an_input_of_other_channels_is_refused() {
        let device = Device::default();
        let layer = BatchNormConfig::new(2).init(&device);
        layer.forward(Tensor::<2>::ones([4, 3], &device));
    }
}
