//! RMSProp.

use burn_core::config::Config;
use burn_core::tensor::{Device, Tensor};

use crate::decay::{WeightDecay, WeightDecayConfig};
use crate::field::state;
use crate::grad_clipping::GradientClippingConfig;
use crate::{LearningRate, ModuleOptimizer, Optimizer, RecordState};

/// Describes an [`RmsProp`].
#[derive(Config, Debug)]
pub struct RmsPropConfig {
    /// Share of the moving averages that is kept.
    #[config(default = 0.99)]
    pub(crate) alpha: f32,
    /// Share of the step that is kept for the next one.
    #[config(default = 0.9)]
    pub(crate) momentum: f32,
    /// Added to the scale of the step.
    #[config(default = 1e-5)]
    pub(crate) epsilon: f32,
    /// Whether the step is scaled by the variance of the gradient, not by its mean square.
    #[config(default = false)]
    pub(crate) centered: bool,
    /// Weight decay, as part of the gradient.
    pub(crate) weight_decay: Option<WeightDecayConfig>,
    /// Gradient clipping.
    pub(crate) grad_clipping: Option<GradientClippingConfig>,
}

impl RmsPropConfig {
    /// The optimizer of a module.
    #[track_caller]
    pub fn init(&self) -> ModuleOptimizer {
        ModuleOptimizer::with_config(self.build(), &self.grad_clipping)
    }

    /// The rule for one parameter.
    pub fn build(&self) -> RmsProp {
        RmsProp {
            alpha: f64::from(self.alpha),
            centered: self.centered,
            epsilon: self.epsilon,
            momentum: RmsPropMomentum {
                momentum: f64::from(self.momentum),
            },
            weight_decay: self.weight_decay.as_ref().map(WeightDecay::new),
        }
    }
}

/// Steps divided by the root of a moving average of squared gradients (Tieleman and Hinton, 2012; centered as in Graves,
/// 2013, equation 40).
#[derive(Clone, Debug)]
pub struct RmsProp {
    alpha: f64,
    centered: bool,
    epsilon: f32,
    momentum: RmsPropMomentum,
    weight_decay: Option<WeightDecay>,
}

/// Keeps a share of the step for the next one.
#[derive(Clone, Debug)]
pub struct RmsPropMomentum {
    momentum: f64,
}

impl RmsPropMomentum {
    fn transform<const D: usize>(
        &self,
        direction: Tensor<D>,
        state: Option<RmsPropMomentumState<D>>,
    ) -> (Tensor<D>, Option<RmsPropMomentumState<D>>) {
        if self.momentum == 0.0 {
            return (direction, None);
        }
        let buf = match state {
            Some(state) => state.buf * self.momentum + direction,
            None => direction,
        };
        (buf.clone(), Some(RmsPropMomentumState { buf }))
    }
}

impl RmsProp {
    /// A moving average, which starts at 0.
    fn average<const D: usize>(&self, average: Option<Tensor<D>>, new: Tensor<D>) -> Tensor<D> {
        let new = new * (1.0 - self.alpha);
        match average {
            Some(average) => average * self.alpha + new,
            None => new,
        }
    }
}

impl Optimizer for RmsProp {
    type State<const D: usize> = RmsPropState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        mut grad: Tensor<D>,
        state: Option<RmsPropState<D>>,
    ) -> (Tensor<D>, Option<RmsPropState<D>>) {
        if let Some(decay) = &self.weight_decay {
            grad = decay.transform(grad, tensor.clone());
        }
        let (square_avg, grad_avg, momentum) = match state {
            Some(state) => {
                let square_avg = state.square_avg.square_avg;
                (Some(square_avg), state.centered.grad_avg, state.momentum)
            }
            None => (None, None, None),
        };
        let square_avg = self.average(square_avg, grad.clone().square());
        let centered = match self.centered {
            false => CenteredState::new(None, square_avg.clone()),
            true => {
                let grad_avg = self.average(grad_avg, grad.clone());
                let avg = square_avg.clone() - grad_avg.clone().square();
                CenteredState::new(Some(grad_avg), avg)
            }
        };
        let direction = grad / (centered.avg.clone().sqrt() + self.epsilon);
        let (direction, momentum) = self.momentum.transform(direction, momentum);
        let state = RmsPropState::new(SquareAvgState::new(square_avg), centered, momentum);
        (tensor - direction * lr, Some(state))
    }

    fn to_device<const D: usize>(state: RmsPropState<D>, device: &Device) -> RmsPropState<D> {
        state.to_device(device)
    }
}

/// What [`RmsProp`] remembers about a parameter.
#[derive(Clone, Debug, RecordState)]
pub struct RmsPropState<const D: usize> {
    /// The moving average of squared gradients.
    pub square_avg: SquareAvgState<D>,
    /// What the step was scaled by.
    pub centered: CenteredState<D>,
    /// The last step, with momentum.
    pub momentum: Option<RmsPropMomentumState<D>>,
}

impl<const D: usize> RmsPropState<D> {
    /// The state on another device. Uncentered, both averages are one tensor, and stay one.
    pub fn to_device(self, device: &Device) -> Self {
        let (square_avg, centered) = match self.centered {
            CenteredState {
                grad_avg: None,
                avg,
            } => {
                drop(avg);
                let square_avg = self.square_avg.to_device(device);
                let avg = square_avg.square_avg.clone();
                (square_avg, CenteredState::new(None, avg))
            }
            centered => (
                self.square_avg.to_device(device),
                centered.to_device(device),
            ),
        };
        let momentum = self.momentum.map(|momentum| momentum.to_device(device));
        Self::new(square_avg, centered, momentum)
    }
}

impl<const D: usize> RmsPropState<D> {
    /// A state of these parts.
    pub fn new(
        square_avg: SquareAvgState<D>,
        centered: CenteredState<D>,
        momentum: Option<RmsPropMomentumState<D>>,
    ) -> Self {
        Self {
            square_avg,
            centered,
            momentum,
        }
    }
}

state! {
    /// The moving average of squared gradients.
    SquareAvgState {
        /// The average.
        pub square_avg: Tensor<D>,
    }
}

impl<const D: usize> SquareAvgState<D> {
    /// A state with this average.
    pub fn new(square_avg: Tensor<D>) -> Self {
        Self { square_avg }
    }
}

state! {
    /// What the last step was scaled by.
    CenteredState {
        /// The moving average of the gradient, if the variance scales the step.
        pub grad_avg: Option<Tensor<D>>,
        /// The variance or the mean square.
        pub avg: Tensor<D>,
    }
}

impl<const D: usize> CenteredState<D> {
    /// A state of these parts.
    pub fn new(grad_avg: Option<Tensor<D>>, avg: Tensor<D>) -> Self {
        Self { grad_avg, avg }
    }
}

state! {
    /// The last step.
    RmsPropMomentumState {
        buf: Tensor<D>,
    }
}

impl<const D: usize> RmsPropMomentumState<D> {
    /// A state with this step, without the learning rate.
    pub fn new(buf: Tensor<D>) -> Self {
        Self { buf }
    }
}
