//! Stochastic gradient descent.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};

use crate::decay::{WeightDecay, WeightDecayConfig};
use crate::field::state;
use crate::grad_clipping::GradientClippingConfig;
use crate::momentum::{Momentum, MomentumConfig, MomentumState};
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// Describes an [`Sgd`].
#[derive(Config, Debug)]
pub struct SgdConfig {
    /// Weight decay, as part of the gradient.
    pub weight_decay: Option<WeightDecayConfig>,
    /// Momentum.
    pub momentum: Option<MomentumConfig>,
    /// Gradient clipping.
    pub gradient_clipping: Option<GradientClippingConfig>,
}

impl SgdConfig {
    /// The optimizer of a module.
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.gradient_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> Sgd {
        Sgd {
            weight_decay: self.weight_decay.as_ref().map(WeightDecay::new),
            momentum: self.momentum.as_ref().map(Momentum::new),
        }
    }
}

/// `θ ← θ - lr · grad`, optionally with weight decay and momentum.
#[derive(Clone, Debug)]
pub struct Sgd {
    weight_decay: Option<WeightDecay>,
    momentum: Option<Momentum>,
}

impl Optimizer for Sgd {
    type State<const D: usize> = SgdState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        mut grad: Tensor<D>,
        state: Option<SgdState<D>>,
    ) -> (Tensor<D>, Option<SgdState<D>>) {
        if let Some(decay) = &self.weight_decay {
            grad = decay.transform(grad, tensor.clone());
        }
        let Some(momentum) = &self.momentum else {
            return (tensor - grad * lr, None);
        };
        let (direction, momentum) = momentum.transform(grad, state.and_then(|s| s.momentum));
        (tensor - direction * lr, Some(SgdState::new(Some(momentum))))
    }

    fn to_device<const D: usize>(state: SgdState<D>, device: &Device) -> SgdState<D> {
        state.to_device(device)
    }
}

state! {
    /// What [`Sgd`] remembers about a parameter.
    SgdState {
        /// The velocity, with momentum.
        pub momentum: Option<MomentumState<D>>,
    }
}

impl<const D: usize> SgdState<D> {
    /// A state with this velocity.
    pub fn new(momentum: Option<MomentumState<D>>) -> Self {
        Self { momentum }
    }
}
