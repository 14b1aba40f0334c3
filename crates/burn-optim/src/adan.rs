//! Adan.

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
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// Describes an [`Adan`].
#[derive(Config, Debug)]
pub struct AdanConfig {
    /// Share of the average gradient that is kept.
    #[config(default = 0.98)]
    pub(crate) beta_1: f32,
    /// Share of the average difference of gradients that is kept.
    #[config(default = 0.92)]
    pub(crate) beta_2: f32,
    /// Share of the average square that is kept.
    #[config(default = 0.99)]
    pub(crate) beta_3: f32,
    /// Added to the scale of the step.
    #[config(default = 1e-8)]
    pub(crate) epsilon: f32,
    /// Share of the parameter that is taken off, times the learning rate.
    #[config(default = 0.0)]
    pub(crate) weight_decay: f32,
    /// Whether the decay comes before the step, as in AdamW, and is no proximal step.
    #[config(default = false)]
    pub(crate) no_prox: bool,
    /// Gradient clipping.
    pub(crate) grad_clipping: Option<GradientClippingConfig>,
}

impl AdanConfig {
    /// The optimizer of a module.
    #[track_caller]
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.grad_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> Adan {
        Adan {
            betas: [self.beta_1, self.beta_2, self.beta_3].map(f64::from),
            epsilon: self.epsilon,
            weight_decay: f64::from(self.weight_decay),
            no_prox: self.no_prox,
        }
    }
}

/// Adaptive Nesterov momentum (Xie et al., 2022, algorithm 1).
#[derive(Clone, Debug)]
pub struct Adan {
    betas: [f64; 3],
    epsilon: f32,
    weight_decay: f64,
    no_prox: bool,
}

impl Adan {
    /// The averages after another gradient. They start at 0, and so does the difference of gradients.
    fn averages<const D: usize>(
        &self,
        grad: Tensor<D>,
        state: Option<AdaptiveNesterovMomentumState<D>>,
    ) -> AdaptiveNesterovMomentumState<D> {
        let [beta_1, beta_2, beta_3] = self.betas;
        let neg_pre_grad = grad.clone().neg();
        let Some(state) = state else {
            return AdaptiveNesterovMomentumState {
                time: 1,
                exp_avg: grad.clone() * (1.0 - beta_1),
                exp_avg_sq: grad.clone().square() * (1.0 - beta_3),
                exp_avg_diff: grad.zeros_like(),
                neg_pre_grad,
            };
        };
        let diff = grad.clone() + state.neg_pre_grad;
        let ahead = grad.clone() + diff.clone() * beta_2;
        AdaptiveNesterovMomentumState {
            time: state.time + 1,
            exp_avg: state.exp_avg * beta_1 + grad * (1.0 - beta_1),
            exp_avg_sq: state.exp_avg_sq * beta_3 + ahead.square() * (1.0 - beta_3),
            exp_avg_diff: state.exp_avg_diff * beta_2 + diff * (1.0 - beta_2),
            neg_pre_grad,
        }
    }
}

impl Optimizer for Adan {
    type State<const D: usize> = AdanState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<AdanState<D>>,
    ) -> (Tensor<D>, Option<AdanState<D>>) {
        let state = self.averages(grad, state.map(|state| state.momentum));
        let [correction_1, correction_2, correction_3] =
            self.betas.map(|beta| correction(beta, state.time));
        // The root of the third correction is part of the factors, as in Adam.
        let root = correction_3.sqrt();
        let scale = state.exp_avg_sq.clone().sqrt() + f64::from(self.epsilon) * root;
        let direction = state.exp_avg.clone() * (lr * root / correction_1)
            + state.exp_avg_diff.clone() * (lr * root * self.betas[1] / correction_2);
        let step = direction / scale;
        let decay = lr * self.weight_decay;
        let tensor = match (decay == 0.0, self.no_prox) {
            (true, _) => tensor - step,
            (false, true) => tensor * (1.0 - decay) - step,
            (false, false) => (tensor - step) / (1.0 + decay),
        };
        (tensor, Some(AdanState::new(state)))
    }

    fn to_device<const D: usize>(state: AdanState<D>, device: &Device) -> AdanState<D> {
        state.to_device(device)
    }
}

state! {
    /// What [`Adan`] remembers about a parameter.
    AdanState {
        /// The averages.
        pub momentum: AdaptiveNesterovMomentumState<D>,
    }
}

impl<const D: usize> AdanState<D> {
    /// A state with these averages.
    pub fn new(momentum: AdaptiveNesterovMomentumState<D>) -> Self {
        Self { momentum }
    }
}

state! {
    /// The averages of a parameter's gradients.
    AdaptiveNesterovMomentumState {
        /// Steps so far.
        pub time: usize,
        /// Moving average of the gradient.
        pub exp_avg: Tensor<D>,
        /// Moving average of the square of the gradient looked ahead.
        pub exp_avg_sq: Tensor<D>,
        /// Moving average of the difference to the last gradient.
        pub exp_avg_diff: Tensor<D>,
        /// The last gradient, with its sign turned.
        pub neg_pre_grad: Tensor<D>,
    }
}

impl<const D: usize> AdaptiveNesterovMomentumState<D> {
    /// A state of these parts.
    pub fn new(
        time: usize,
        exp_avg: Tensor<D>,
        exp_avg_sq: Tensor<D>,
        exp_avg_diff: Tensor<D>,
        neg_pre_grad: Tensor<D>,
    ) -> Self {
        Self {
            time,
            exp_avg,
            exp_avg_sq,
            exp_avg_diff,
            neg_pre_grad,
        }
    }
}
