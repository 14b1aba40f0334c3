//! LAMB.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use crate::adaptive::correction;
use crate::field::state;
use crate::grad_clipping::GradientClippingConfig;
use crate::numeric::{norm, scale};
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// Describes a [`Lamb`].
#[derive(Config, Debug)]
pub struct LambConfig {
    /// Share of the first moment that is kept.
    #[config(default = 0.9)]
    pub(crate) beta_1: f32,
    /// Share of the second moment that is kept.
    #[config(default = 0.999)]
    pub(crate) beta_2: f32,
    /// Added to the scale of the step.
    #[config(default = 1e-6)]
    pub(crate) epsilon: f32,
    /// Share of the parameter that is added to the direction of the step.
    #[config(default = 0.0)]
    pub(crate) weight_decay: f32,
    /// Whether the step is as long as the parameter, times the learning rate.
    #[config(default = true)]
    pub(crate) use_trust_ratio: bool,
    /// Gradient clipping.
    pub(crate) grad_clipping: Option<GradientClippingConfig>,
}

impl LambConfig {
    /// The optimizer of a module.
    #[track_caller]
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.grad_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> Lamb {
        Lamb {
            beta_1: f64::from(self.beta_1),
            beta_2: f64::from(self.beta_2),
            epsilon: self.epsilon,
            weight_decay: self.weight_decay,
            use_trust_ratio: self.use_trust_ratio,
        }
    }
}

/// Adam whose steps are as long as the parameter (You et al., 2020, algorithm 2), for large batches.
#[derive(Clone, Debug)]
pub struct Lamb {
    beta_1: f64,
    beta_2: f64,
    epsilon: f32,
    weight_decay: f32,
    use_trust_ratio: bool,
}

impl Optimizer for Lamb {
    type State<const D: usize> = LambState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<LambState<D>>,
    ) -> (Tensor<D>, Option<LambState<D>>) {
        let new_1 = grad.clone() * (1.0 - self.beta_1);
        let new_2 = grad.square() * (1.0 - self.beta_2);
        let state = match state {
            Some(state) => LambState {
                time: state.time + 1,
                moment_1: state.moment_1 * self.beta_1 + new_1,
                moment_2: state.moment_2 * self.beta_2 + new_2,
            },
            None => LambState {
                time: 1,
                moment_1: new_1,
                moment_2: new_2,
            },
        };
        // One factor for both corrections, as in Adam.
        let root = correction(self.beta_2, state.time).sqrt();
        let factor = root / correction(self.beta_1, state.time);
        let size = state.moment_2.clone().sqrt() + f64::from(self.epsilon) * root;
        let mut direction = state.moment_1.clone() * factor / size;
        if self.weight_decay != 0.0 {
            direction = direction + tensor.clone() * self.weight_decay;
        }
        if self.use_trust_ratio {
            let ratio = trust_ratio(&tensor, &direction);
            direction = scale(direction, ratio);
        }
        (tensor - direction * lr, Some(state))
    }

    fn to_device<const D: usize>(state: LambState<D>, device: &Device) -> LambState<D> {
        state.to_device(device)
    }
}

/// How much longer the parameter is than its step; 1 if one of them is 0.
fn trust_ratio<const D: usize>(tensor: &Tensor<D>, direction: &Tensor<D>) -> Tensor<1> {
    let (tensor, direction) = (norm(tensor.clone()), norm(direction.clone()));
    let is_zero = (tensor.clone() * direction.clone()).equal_elem(0.0);
    (tensor / direction).mask_fill(is_zero, 1.0)
}

state! {
    /// What [`Lamb`] remembers about a parameter.
    LambState {
        /// Steps so far.
        pub time: usize,
        /// Moving average of the gradient.
        pub moment_1: Tensor<D>,
        /// Moving average of the squared gradient.
        pub moment_2: Tensor<D>,
    }
}
