//! Weight decay as part of the gradient (L2 regularization).

use burn_core::config::Config;
use burn_core::tensor::Tensor;

use crate::field::state;

/// Describes a [`WeightDecay`].
#[derive(Config, Debug)]
pub struct WeightDecayConfig {
    /// Share of the parameter that is added to its gradient.
    pub penalty: f32,
}

/// Adds a share of the parameter to its gradient.
#[derive(Clone, Debug)]
pub struct WeightDecay {
    penalty: f32,
}

impl WeightDecay {
    /// The decay that `config` describes.
    pub fn new(config: &WeightDecayConfig) -> Self {
        Self {
            penalty: config.penalty,
        }
    }

    /// `grad + penalty · tensor`.
    pub fn transform<const D: usize>(&self, grad: Tensor<D>, tensor: Tensor<D>) -> Tensor<D> {
        grad + tensor * self.penalty
    }
}

state! {
    /// A gradient that decay was added to, for rules that keep it.
    WeightDecayState {
        grad_last_step: Tensor<D>,
    }
}

impl<const D: usize> WeightDecayState<D> {
    /// A state with this gradient.
    pub fn new(grad_last_step: Tensor<D>) -> Self {
        Self { grad_last_step }
    }
}
