//! Adam.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};

use crate::adaptive::{AdaptiveMomentum, AdaptiveMomentumState};
use crate::decay::{WeightDecay, WeightDecayConfig};
use crate::field::state;
use crate::grad_clipping::GradientClippingConfig;
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// Describes an [`Adam`].
#[derive(Config, Debug)]
pub struct AdamConfig {
    /// Share of the first moment that is kept.
    #[config(default = 0.9)]
    pub(crate) beta_1: f32,
    /// Share of the second moment that is kept.
    #[config(default = 0.999)]
    pub(crate) beta_2: f32,
    /// Added to the scale of the step.
    #[config(default = 1e-5)]
    pub(crate) epsilon: f32,
    /// Whether the second moment never shrinks.
    #[config(default = false)]
    pub(crate) amsgrad: bool,
    /// Weight decay, as part of the gradient.
    pub(crate) weight_decay: Option<WeightDecayConfig>,
    /// Gradient clipping.
    pub(crate) grad_clipping: Option<GradientClippingConfig>,
}

impl AdamConfig {
    /// The optimizer of a module.
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.grad_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> Adam {
        Adam {
            momentum: AdaptiveMomentum {
                beta_1: self.beta_1,
                beta_2: self.beta_2,
                epsilon: self.epsilon,
                amsgrad: self.amsgrad,
            },
            weight_decay: self.weight_decay.as_ref().map(WeightDecay::new),
        }
    }
}

/// Steps scaled by the moments of the gradient (Kingma and Ba, 2015).
#[derive(Clone, Debug)]
pub struct Adam {
    momentum: AdaptiveMomentum,
    weight_decay: Option<WeightDecay>,
}

impl Optimizer for Adam {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        mut grad: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        if let Some(decay) = &self.weight_decay {
            grad = decay.transform(grad, tensor.clone());
        }
        let (step, momentum) = self.momentum.transform(lr, grad, state.map(|s| s.momentum));
        (tensor - step, Some(AdamState { momentum }))
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        state.to_device(device)
    }
}

state! {
    /// What [`Adam`] remembers about a parameter.
    AdamState {
        /// The moments.
        pub momentum: AdaptiveMomentumState<D>,
    }
}

impl<const D: usize> AdamState<D> {
    /// A state with these moments.
    pub fn new(momentum: AdaptiveMomentumState<D>) -> Self {
        Self { momentum }
    }
}
