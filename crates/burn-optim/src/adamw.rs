//! AdamW.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};

use crate::adaptive::{AdaptiveMomentum, AdaptiveMomentumState};
use crate::field::state;
use crate::grad_clipping::GradientClippingConfig;
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// Describes an [`AdamW`].
#[derive(Config, Debug)]
pub struct AdamWConfig {
    /// Share of the first moment that is kept.
    #[config(default = 0.9)]
    pub(crate) beta_1: f32,
    /// Share of the second moment that is kept.
    #[config(default = 0.999)]
    pub(crate) beta_2: f32,
    /// Added to the scale of the step.
    #[config(default = 1e-5)]
    pub(crate) epsilon: f32,
    /// Share of the parameter that is taken off, times the learning rate.
    #[config(default = 1e-4)]
    pub(crate) weight_decay: f32,
    /// Whether an element decays only if its step goes towards 0, too.
    #[config(default = false)]
    pub(crate) cautious_weight_decay: bool,
    /// Whether the second moment never shrinks.
    #[config(default = false)]
    pub(crate) amsgrad: bool,
    /// Gradient clipping.
    pub(crate) grad_clipping: Option<GradientClippingConfig>,
}

impl AdamWConfig {
    /// The optimizer of a module.
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.grad_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> AdamW {
        AdamW {
            momentum: AdaptiveMomentum {
                beta_1: self.beta_1,
                beta_2: self.beta_2,
                epsilon: self.epsilon,
                amsgrad: self.amsgrad,
            },
            weight_decay: self.weight_decay,
            cautious: self.cautious_weight_decay,
        }
    }
}

/// [`Adam`](crate::Adam) with weight decay beside the gradient (Loshchilov and Hutter, 2019).
#[derive(Clone, Debug)]
pub struct AdamW {
    momentum: AdaptiveMomentum,
    weight_decay: f32,
    cautious: bool,
}

impl Optimizer for AdamW {
    type State<const D: usize> = AdamWState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<AdamWState<D>>,
    ) -> (Tensor<D>, Option<AdamWState<D>>) {
        let (step, momentum) = self.momentum.transform(lr, grad, state.map(|s| s.momentum));
        let decay = lr * f64::from(self.weight_decay);
        let tensor = match self.cautious {
            false => tensor * (1.0 - decay),
            true => {
                let away_from_zero = (step.clone() * tensor.clone()).lower_elem(0.0);
                let decay = (tensor.clone() * decay).mask_fill(away_from_zero, 0.0);
                tensor - decay
            }
        };
        (tensor - step, Some(AdamWState { momentum }))
    }

    fn to_device<const D: usize>(state: AdamWState<D>, device: &Device) -> AdamWState<D> {
        state.to_device(device)
    }
}

state! {
    /// What [`AdamW`] remembers about a parameter.
    AdamWState {
        /// The moments.
        pub momentum: AdaptiveMomentumState<D>,
    }
}

impl<const D: usize> AdamWState<D> {
    /// A state with these moments.
    pub fn new(momentum: AdaptiveMomentumState<D>) -> Self {
        Self { momentum }
    }
}
