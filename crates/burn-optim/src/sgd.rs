//! Stochastic gradient descent.

use alloc::format;

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};

use crate::decay::{WeightDecay, WeightDecayConfig};
use crate::grad_clipping::GradientClippingConfig;
use crate::momentum::{Momentum, MomentumConfig, MomentumState};
use crate::{LearningRate, ModuleOptimizer, Optimizer, RecordState, StateSink, StateSource};

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
        SgdState {
            momentum: state.momentum.map(|momentum| momentum.to_device(device)),
        }
    }
}

/// What [`Sgd`] remembers about a parameter.
#[derive(Clone, Debug)]
pub struct SgdState<const D: usize> {
    /// The velocity, with momentum.
    pub momentum: Option<MomentumState<D>>,
}

impl<const D: usize> SgdState<D> {
    /// A state with this velocity.
    pub fn new(momentum: Option<MomentumState<D>>) -> Self {
        Self { momentum }
    }
}

impl<const D: usize> RecordState for SgdState<D> {
    fn state_flatten(&self, prefix: &str, sink: &mut StateSink) {
        if let Some(momentum) = &self.momentum {
            momentum.state_flatten(&format!("{prefix}.momentum"), sink);
        }
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let prefix = format!("{prefix}.momentum");
        match source.has_under(&prefix) {
            true => MomentumState::state_unflatten(&prefix, source, device).map(|momentum| Self {
                momentum: Some(momentum),
            }),
            false => Some(Self { momentum: None }),
        }
    }
}
