//! [`PositionWiseFeedForward`]: the same two maps at every position.

use crate::activation::{Activation, ActivationConfig};
use crate::modules::inline;
use crate::{Dropout, DropoutConfig, Initializer, Linear, LinearConfig};
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Device, Tensor};

/// Describes a [`PositionWiseFeedForward`].
#[derive(Config, Debug)]
pub struct PositionWiseFeedForwardConfig {
    /// Size of the features of input and output.
    pub d_model: usize,
    /// Size of the features between the two maps.
    pub d_ff: usize,
    /// The chance of a feature between the maps to become zero in training.
    #[config(default = 0.1)]
    pub dropout: f64,
    /// Draws weights and biases.
    #[config(default = "crate::modules::DEFAULT_INITIALIZER")]
    pub initializer: Initializer,
    /// The activation between the maps, of `d_ff` features.
    #[config(default = "ActivationConfig::Gelu")]
    pub activation: ActivationConfig,
}

/// `linear_outer(dropout(activation(linear_inner(x))))` (Vaswani and others 2017, equation 2).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct PositionWiseFeedForward {
    /// From `d_model` to `d_ff`.
    pub linear_inner: Linear,
    /// From `d_ff` to `d_model`.
    pub linear_outer: Linear,
    /// Drops features between the maps in training.
    pub dropout: Dropout,
    /// The activation between the maps.
    pub activation: Activation,
}

impl PositionWiseFeedForwardConfig {
    /// The layer on `device`.
    #[track_caller]
    pub fn init(&self, device: &Device) -> PositionWiseFeedForward {
        let linear = |from, to| {
            LinearConfig::new(from, to)
                .with_initializer(self.initializer.clone())
                .init(device)
        };
        PositionWiseFeedForward {
            linear_inner: linear(self.d_model, self.d_ff),
            linear_outer: linear(self.d_ff, self.d_model),
            dropout: DropoutConfig::new(self.dropout).init(),
            activation: self.activation.init(device),
        }
    }
}

impl PositionWiseFeedForward {
    /// Maps the last dimension.
    ///
    /// # Shapes
    /// - input, output: `[…, d_model]`
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let inner = self.activation.forward(self.linear_inner.forward(input));
        self.linear_outer.forward(self.dropout.forward(inner))
    }
}

impl ModuleDisplay for PositionWiseFeedForward {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let shape = self.linear_inner.weight.lazy_shape();
        content
            .add("d_model", &shape[0])
            .add("d_ff", &shape[1])
            .add("prob", &self.dropout.prob)
            .optional()
    }
}
