//! A rate that falls by a factor.

use alloc::string::String;

use burn_core::config::Config;

use super::record::state_in_record;
use super::{LrScheduler, check, check_initial};
use crate::{LearningRate, RecordState};

/// Describes an [`ExponentialLrScheduler`].
#[derive(Config, Debug)]
pub struct ExponentialLrSchedulerConfig {
    /// The rate at first.
    pub(crate) initial_lr: LearningRate,
    /// The factor of each step.
    pub(crate) gamma: f64,
}

impl ExponentialLrSchedulerConfig {
    pub(super) fn build(&self) -> Result<ExponentialLrScheduler, String> {
        check_initial("exponential", self.initial_lr)?;
        let legal = self.gamma > 0.0 && self.gamma <= 1.0;
        check(legal, "exponential.gamma", self.gamma, "above 0, up to 1")?;
        Ok(ExponentialLrScheduler {
            gamma: self.gamma,
            state: ExponentialLrSchedulerState {
                previous_lr: self.initial_lr / self.gamma,
            },
        })
    }
}

/// Multiplies the rate by a factor at each step.
#[derive(Clone, Debug)]
pub struct ExponentialLrScheduler {
    gamma: f64,
    state: ExponentialLrSchedulerState,
}

/// Where an [`ExponentialLrScheduler`] is.
#[derive(Clone, Debug, RecordState)]
pub struct ExponentialLrSchedulerState {
    /// The last rate; before the first, what leads to it.
    previous_lr: f64,
}

impl LrScheduler for ExponentialLrScheduler {
    fn step(&mut self) -> LearningRate {
        self.state.previous_lr *= self.gamma;
        self.state.previous_lr
    }

    state_in_record!("exponential");
}
