//! Adafactor.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use crate::field::state;
use crate::grad_clipping::GradientClippingConfig;
use crate::numeric::{root_mean_square, scale};
use crate::{LearningRate, ModuleOptimizer, Optimizer};

/// Describes an [`Adafactor`].
#[derive(Config, Debug)]
pub struct AdafactorConfig {
    /// Added to squared gradients.
    #[config(default = 1e-30)]
    pub(crate) epsilon_1: f32,
    /// The least size that a parameter is taken for.
    #[config(default = 1e-3)]
    pub(crate) epsilon_2: f32,
    /// The most that the root mean square of a direction is.
    #[config(default = 1.0)]
    pub(crate) clip_threshold: f32,
    /// Exponent of the number of steps in the share of the second moment that is renewed.
    #[config(default = -0.8)]
    pub(crate) decay_rate: f64,
    /// Whether the learning rate is at most `1 / √steps`.
    #[config(default = true)]
    pub(crate) relative_step: bool,
    /// Whether the step is in proportion to the parameter.
    #[config(default = true)]
    pub(crate) scale_parameter: bool,
    /// Share of the parameter that is taken off, times the learning rate.
    #[config(default = 0.0)]
    pub(crate) weight_decay: f32,
    /// Gradient clipping.
    pub(crate) grad_clipping: Option<GradientClippingConfig>,
}

impl AdafactorConfig {
    /// The optimizer of a module.
    #[track_caller]
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.grad_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> Adafactor {
        Adafactor {
            config: self.clone(),
        }
    }
}

/// Adam without a first moment, and with the second one of matrices kept as the means of rows and columns (Shazeer and
/// Stern, 2018, algorithms 4 and 5): memory for a parameter of `n · m` elements is `n + m`.
#[derive(Clone, Debug)]
pub struct Adafactor {
    config: AdafactorConfig,
}

impl Optimizer for Adafactor {
    type State<const D: usize> = AdafactorState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        mut tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<AdafactorState<D>>,
    ) -> (Tensor<D>, Option<AdafactorState<D>>) {
        let config = &self.config;
        let time = state.as_ref().map_or(0, |state| state.time) + 1;
        let square = grad.clone().square() + config.epsilon_1;
        let (direction, state) = self.scaled(time, grad, square, state);

        // One factor clips the direction and gives the step its length.
        let mut lr_now = lr;
        if config.relative_step {
            lr_now = lr_now.min(1.0 / (time as f64).sqrt());
        }
        let excess = root_mean_square(direction.clone()) / config.clip_threshold;
        let mut factor = excess.clamp_min(1.0).recip() * lr_now;
        if config.scale_parameter {
            factor = factor * root_mean_square(tensor.clone()).clamp_min(config.epsilon_2);
        }
        let decay = lr * f64::from(config.weight_decay);
        if decay != 0.0 {
            tensor = tensor * (1.0 - decay);
        }
        (tensor - scale(direction, factor), Some(state))
    }

    fn to_device<const D: usize>(state: AdafactorState<D>, device: &Device) -> AdafactorState<D> {
        state.to_device(device)
    }
}

impl Adafactor {
    /// The gradient over the root of its second moment, and the moments for the next step.
    fn scaled<const D: usize>(
        &self,
        time: usize,
        grad: Tensor<D>,
        square: Tensor<D>,
        state: Option<AdafactorState<D>>,
    ) -> (Tensor<D>, AdafactorState<D>) {
        let renewed = (time as f64).powf(self.config.decay_rate);
        let average = |old: Option<Tensor<D>>, new: Tensor<D>| match old {
            Some(old) => old * (1.0 - renewed) + new * renewed,
            None => new,
        };
        let (old, old_columns) = match state {
            Some(state) => (Some(state.second_moment), state.column_second_moment),
            None => (None, None),
        };
        if D < 2 {
            let second_moment = average(old, square);
            let direction = grad / second_moment.clone().sqrt();
            let state = AdafactorState {
                time,
                second_moment,
                column_second_moment: None,
            };
            return (direction, state);
        }
        let rows = average(old, square.clone().mean_dim(D - 1));
        let columns = average(old_columns, square.mean_dim(D - 2));
        // The outer product of row and column means, over the mean of all. Roots apart keep the product of two small
        // means from being 0.
        let share = rows.clone() / rows.clone().mean_dim(D - 2);
        let direction = grad / share.sqrt() / columns.clone().sqrt();
        let state = AdafactorState {
            time,
            second_moment: rows,
            column_second_moment: Some(columns),
        };
        (direction, state)
    }
}

state! {
    /// What [`Adafactor`] remembers about a parameter.
    AdafactorState {
        /// Steps so far.
        pub time: usize,
        /// Moving average of the squared gradient; of its rows, for matrices.
        pub second_moment: Tensor<D>,
        /// Moving average of the columns of the squared gradient, for matrices.
        pub column_second_moment: Option<Tensor<D>>,
    }
}
