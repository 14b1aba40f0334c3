//! The moments that Adam and AdamW share.

use burn_core::tensor::{Device, Tensor};
use burn_pack::Scalar;
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use crate::{LearningRate, RecordState, StateSink, StateSource};

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

        // Both moments start at 0; dividing by what they can have reached corrects that. One factor
        // for the first one's correction and the learning rate saves a pass over the parameter.
        let exponent = state.time.min(i32::MAX as usize) as i32;
        let correction_1 = 1.0 - beta_1.powi(exponent);
        let correction_2 = 1.0 - beta_2.powi(exponent);
        let moment_2 = state.max_moment_2.as_ref().unwrap_or(&state.moment_2);
        let scale = (moment_2.clone() / correction_2).sqrt() + self.epsilon;
        (state.moment_1.clone() * (lr / correction_1) / scale, state)
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

/// The moments of a parameter.
#[derive(Clone, Debug)]
pub struct AdaptiveMomentumState<const D: usize> {
    /// Steps so far.
    pub time: usize,
    /// Moving average of the gradient.
    pub moment_1: Tensor<D>,
    /// Moving average of the squared gradient.
    pub moment_2: Tensor<D>,
    /// Largest second moment so far, with AMSGrad.
    pub max_moment_2: Option<Tensor<D>>,
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

    /// The state on another device.
    pub fn to_device(self, device: &Device) -> Self {
        Self {
            time: self.time,
            moment_1: self.moment_1.to_device(device),
            moment_2: self.moment_2.to_device(device),
            max_moment_2: self.max_moment_2.map(|max| max.to_device(device)),
        }
    }
}

impl<const D: usize> RecordState for AdaptiveMomentumState<D> {
    fn state_flatten(&self, prefix: &str, sink: &mut StateSink) {
        sink.push_scalar(prefix, "time", Scalar::from(self.time));
        sink.push_tensor(prefix, "moment_1", self.moment_1.to_data());
        sink.push_tensor(prefix, "moment_2", self.moment_2.to_data());
        if let Some(max) = &self.max_moment_2 {
            sink.push_tensor(prefix, "max_moment_2", max.to_data());
        }
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        Some(Self {
            time: usize::try_from(source.take_scalar(prefix, "time")?).ok()?,
            moment_1: source.take(prefix, "moment_1", device)?,
            moment_2: source.take(prefix, "moment_2", device)?,
            max_moment_2: source.take(prefix, "max_moment_2", device),
        })
    }
}

/// A state that is nothing but moments, written under `momentum`.
macro_rules! momentum_state {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<const D: usize> {
            /// The moments.
            pub momentum: AdaptiveMomentumState<D>,
        }

        impl<const D: usize> $name<D> {
            /// A state with these moments.
            pub fn new(momentum: AdaptiveMomentumState<D>) -> Self {
                Self { momentum }
            }
        }

        impl<const D: usize> RecordState for $name<D> {
            fn state_flatten(&self, prefix: &str, sink: &mut StateSink) {
                self.momentum.state_flatten(&alloc::format!("{prefix}.momentum"), sink);
            }

            fn state_unflatten(
                prefix: &str,
                source: &mut StateSource,
                device: &Device,
            ) -> Option<Self> {
                let prefix = alloc::format!("{prefix}.momentum");
                AdaptiveMomentumState::state_unflatten(&prefix, source, device).map(Self::new)
            }
        }
    };
}

pub(crate) use momentum_state;
