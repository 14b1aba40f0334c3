//! The moments that Adam and AdamW share.

use burn_core::tensor::Tensor;
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use crate::LearningRate;
use crate::field::state;

/// Adaptive moments (Kingma and Ba, 2015, algorithm 1; AMSGrad by Reddi et al., 2018).
#[derive(Clone, Debug)]
pub(crate) struct AdaptiveMomentum {
    pub beta_1: f32,
    pub beta_2: f32,
    pub epsilon: f32,
    pub amsgrad: bool,
}

impl AdaptiveMomentum {
    /// What the step takes off the parameter, and the state for the next one.
    pub fn transform<const D: usize>(
        &self,
        lr: LearningRate,
        grad: Tensor<D>,
        state: Option<AdaptiveMomentumState<D>>,
    ) -> (Tensor<D>, AdaptiveMomentumState<D>) {
        let (beta_1, beta_2) = (f64::from(self.beta_1), f64::from(self.beta_2));
        let new_1 = grad.clone() * (1.0 - beta_1);
        let new_2 = grad.square() * (1.0 - beta_2);
        let state = match state {
            Some(state) => AdaptiveMomentumState {
                time: state.time + 1,
                moment_1: state.moment_1 * beta_1 + new_1,
                moment_2: state.moment_2 * beta_2 + new_2,
                max_moment_2: state.max_moment_2,
            },
            None => AdaptiveMomentumState::new(1, new_1, new_2),
        };
        let state = self.with_max(state);

        // Both moments start at 0; dividing by what they can have reached corrects that. One factor for both corrections
        // and the learning rate saves passes over the parameter.
        let root = correction(beta_2, state.time).sqrt();
        let factor = lr * root / correction(beta_1, state.time);
        let moment_2 = state.max_moment_2.as_ref().unwrap_or(&state.moment_2);
        let scale = moment_2.clone().sqrt() + f64::from(self.epsilon) * root;
        (state.moment_1.clone() * factor / scale, state)
    }

    fn with_max<const D: usize>(
        &self,
        mut state: AdaptiveMomentumState<D>,
    ) -> AdaptiveMomentumState<D> {
        let moment_2 = state.moment_2.clone();
        state.max_moment_2 = self.amsgrad.then(|| match state.max_moment_2.take() {
            Some(max) => max.max_pair(moment_2),
            None => moment_2,
        });
        state
    }
}

/// What a moving average that starts at 0 can have reached after so many steps: `1 - beta^time`.
pub(crate) fn correction(beta: f64, time: usize) -> f64 {
    1.0 - beta.powi(time.min(i32::MAX as usize) as i32)
}

state! {
    /// The moments of a parameter.
    AdaptiveMomentumState {
        /// Steps so far.
        pub time: usize,
        /// Moving average of the gradient.
        pub moment_1: Tensor<D>,
        /// Moving average of the squared gradient.
        pub moment_2: Tensor<D>,
        /// Largest second moment so far, with AMSGrad.
        pub max_moment_2: Option<Tensor<D>>,
    }
}

impl<const D: usize> AdaptiveMomentumState<D> {
    /// A state without AMSGrad.
    pub fn new(time: usize, moment_1: Tensor<D>, moment_2: Tensor<D>) -> Self {
        Self {
            time,
            moment_1,
            moment_2,
            max_moment_2: None,
        }
    }
}
