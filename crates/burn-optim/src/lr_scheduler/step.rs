//! A rate that falls by a factor now and then.

use alloc::string::String;

use burn_core::config::Config;
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use super::record::state_in_record;
use super::{LrScheduler, check};
use crate::{LearningRate, RecordState};

/// Describes a [`StepLrScheduler`].
#[derive(Config, Debug)]
pub struct StepLrSchedulerConfig {
    /// The rate at first.
    pub(crate) initial_lr: LearningRate,
    /// The number of steps at one rate.
    pub(crate) step_size: usize,
    /// The factor between two rates.
    #[config(default = 0.1)]
    pub(crate) gamma: f64,
}

impl StepLrSchedulerConfig {
    pub(super) fn build(&self) -> Result<StepLrScheduler, String> {
        let Self {
            initial_lr,
            step_size,
            gamma,
        } = *self;
        check(
            initial_lr.is_finite(),
            "step.initial_lr",
            initial_lr,
            "a number",
        )?;
        check(gamma.is_finite(), "step.gamma", gamma, "a number")?;
        check(step_size > 0, "step.step_size", step_size, "above 0")?;
        Ok(StepLrScheduler {
            initial_lr,
            gamma,
            step_size,
            state: StepLrSchedulerState { iter_idx: -1 },
        })
    }
}

/// Multiplies the rate by a factor after every so many steps.
#[derive(Clone, Debug)]
pub struct StepLrScheduler {
    initial_lr: LearningRate,
    gamma: f64,
    step_size: usize,
    state: StepLrSchedulerState,
}

/// Where a [`StepLrScheduler`] is.
#[derive(Clone, Debug, RecordState)]
pub struct StepLrSchedulerState {
    /// The step of the last rate, from 0; -1 before the first.
    iter_idx: i64,
}

impl LrScheduler for StepLrScheduler {
    fn step(&mut self) -> LearningRate {
        self.state.iter_idx += 1;
        let drops = self.state.iter_idx / self.step_size as i64;
        self.initial_lr * self.gamma.powi(drops.min(i64::from(i32::MAX)) as i32)
    }

    state_in_record!("step");
}
