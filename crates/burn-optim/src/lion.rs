//! Lion.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};

use crate::field::state;
use crate::grad_clipping::GradientClippingConfig;
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// Describes a [`Lion`].
#[derive(Config, Debug)]
pub struct LionConfig {
    /// Share of the momentum in the direction of the step.
    #[config(default = 0.9)]
    pub(crate) beta_1: f32,
    /// Share of the momentum that is kept.
    #[config(default = 0.99)]
    pub(crate) beta_2: f32,
    /// Share of the parameter that is taken off, times the learning rate.
    #[config(default = 0.0)]
    pub(crate) weight_decay: f32,
    /// Gradient clipping.
    pub(crate) grad_clipping: Option<GradientClippingConfig>,
}

impl LionConfig {
    /// The optimizer of a module.
    #[track_caller]
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.grad_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> Lion {
        Lion {
            beta_1: f64::from(self.beta_1),
            beta_2: f64::from(self.beta_2),
            weight_decay: f64::from(self.weight_decay),
        }
    }
}

/// Steps of one size by the sign of the momentum (Chen et al., 2023, algorithm 2).
#[derive(Clone, Debug)]
pub struct Lion {
    beta_1: f64,
    beta_2: f64,
    weight_decay: f64,
}

impl Optimizer for Lion {
    type State<const D: usize> = LionState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        mut tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<LionState<D>>,
    ) -> (Tensor<D>, Option<LionState<D>>) {
        let (ahead, kept) = (
            grad.clone() * (1.0 - self.beta_1),
            grad * (1.0 - self.beta_2),
        );
        let (direction, momentum) = match state {
            Some(LionState { momentum }) => (
                momentum.clone() * self.beta_1 + ahead,
                momentum * self.beta_2 + kept,
            ),
            None => (ahead, kept),
        };
        let decay = lr * self.weight_decay;
        if decay != 0.0 {
            tensor = tensor * (1.0 - decay);
        }
        let tensor = tensor - direction.sign() * lr;
        (tensor, Some(LionState { momentum }))
    }

    fn to_device<const D: usize>(state: LionState<D>, device: &Device) -> LionState<D> {
        state.to_device(device)
    }
}

state! {
    /// What [`Lion`] remembers about a parameter.
    LionState {
        /// Moving average of the gradient.
        pub momentum: Tensor<D>,
    }
}

impl<const D: usize> LionState<D> {
    /// A state with this momentum.
    pub fn new(momentum: Tensor<D>) -> Self {
        Self { momentum }
    }
}
