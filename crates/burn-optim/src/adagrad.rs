//! AdaGrad.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};

use crate::decay::{WeightDecay, WeightDecayConfig};
use crate::field::state;
use crate::grad_clipping::GradientClippingConfig;
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// Describes an [`AdaGrad`].
#[derive(Config, Debug)]
pub struct AdaGradConfig {
    /// How much the learning rate falls: it is divided by `1 + lr_decay · steps`.
    #[config(default = 0.0)]
    pub(crate) lr_decay: f64,
    /// Added to the scale of the step.
    #[config(default = 1e-5)]
    pub(crate) epsilon: f32,
    /// Weight decay, as part of the gradient.
    pub(crate) weight_decay: Option<WeightDecayConfig>,
    /// Gradient clipping.
    pub(crate) grad_clipping: Option<GradientClippingConfig>,
}

impl AdaGradConfig {
    /// The optimizer of a module.
    #[track_caller]
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.grad_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> AdaGrad {
        AdaGrad {
            lr_decay: self.lr_decay,
            epsilon: self.epsilon,
            weight_decay: self.weight_decay.as_ref().map(WeightDecay::new),
        }
    }
}

/// Steps divided by the root of the sum of squared gradients (Duchi, Hazan and Singer, 2011).
#[derive(Clone, Debug)]
pub struct AdaGrad {
    lr_decay: f64,
    epsilon: f32,
    weight_decay: Option<WeightDecay>,
}

impl Optimizer for AdaGrad {
    type State<const D: usize> = AdaGradState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        mut grad: Tensor<D>,
        state: Option<AdaGradState<D>>,
    ) -> (Tensor<D>, Option<AdaGradState<D>>) {
        if let Some(decay) = &self.weight_decay {
            grad = decay.transform(grad, tensor.clone());
        }
        let square = grad.clone().square();
        let (time, sum) = match state {
            Some(AdaGradState { lr_decay }) => (lr_decay.time + 1, lr_decay.sum + square),
            None => (1, square),
        };
        let lr = lr / (1.0 + (time - 1) as f64 * self.lr_decay);
        let step = grad * lr / (sum.clone().sqrt() + self.epsilon);
        let state = AdaGradState::new(LrDecayState::new(time, sum));
        (tensor - step, Some(state))
    }

    fn to_device<const D: usize>(state: AdaGradState<D>, device: &Device) -> AdaGradState<D> {
        state.to_device(device)
    }
}

state! {
    /// What [`AdaGrad`] remembers about a parameter.
    AdaGradState {
        lr_decay: LrDecayState<D>,
    }
}

impl<const D: usize> AdaGradState<D> {
    /// A state with these sums.
    pub fn new(lr_decay: LrDecayState<D>) -> Self {
        Self { lr_decay }
    }
}

state! {
    /// The squared gradients of a parameter.
    LrDecayState {
        time: usize,
        sum: Tensor<D>,
    }
}

impl<const D: usize> LrDecayState<D> {
    /// The `sum` of squared gradients of the steps so far.
    pub fn new(time: usize, sum: Tensor<D>) -> Self {
        Self { time, sum }
    }
}
