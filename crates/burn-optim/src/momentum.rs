//! Momentum: steps go on in the direction of earlier ones.

use burn_core::config::Config;
use burn_core::tensor::Tensor;

use crate::field::state;

/// Describes a [`Momentum`].
#[derive(Config, Debug)]
pub struct MomentumConfig {
    /// Share of the velocity that is kept.
    #[config(default = 0.9)]
    pub momentum: f64,
    /// Share of the gradient that is left out of the velocity, after the first step.
    #[config(default = 0.1)]
    pub dampening: f64,
    /// Whether the step looks ahead (Sutskever et al., 2013).
    #[config(default = false)]
    pub nesterov: bool,
}

/// Turns gradients into a velocity.
#[derive(Clone, Debug)]
pub struct Momentum {
    momentum: f64,
    dampening: f64,
    nesterov: bool,
}

impl Momentum {
    /// The momentum that `config` describes.
    pub fn new(config: &MomentumConfig) -> Self {
        let MomentumConfig {
            momentum,
            dampening,
            nesterov,
        } = *config;
        Self {
            momentum,
            dampening,
            nesterov,
        }
    }

    /// The direction of the step, and the state for the next one.
    ///
    /// `v = momentum · v + (1 - dampening) · grad`, where the first `v` is the gradient.
    pub fn transform<const D: usize>(
        &self,
        grad: Tensor<D>,
        state: Option<MomentumState<D>>,
    ) -> (Tensor<D>, MomentumState<D>) {
        // Looking ahead needs the gradient once more; otherwise it can be overwritten.
        let ahead = self.nesterov.then(|| grad.clone());
        let velocity = match state {
            Some(state) => state.velocity * self.momentum + grad * (1.0 - self.dampening),
            None => grad,
        };
        let direction = match ahead {
            Some(grad) => grad + velocity.clone() * self.momentum,
            None => velocity.clone(),
        };
        (direction, MomentumState { velocity })
    }
}

state! {
    /// The velocity of a parameter.
    MomentumState {
        velocity: Tensor<D>,
    }
}

impl<const D: usize> MomentumState<D> {
    /// A state with this velocity.
    pub fn new(velocity: Tensor<D>) -> Self {
        Self { velocity }
    }
}
