//! A rate along a line.

use alloc::string::String;

use burn_core::config::Config;

use super::record::state_in_record;
use super::{LrScheduler, check, check_initial};
use crate::{LearningRate, RecordState};

/// Describes a [`LinearLrScheduler`].
#[derive(Config, Debug)]
pub struct LinearLrSchedulerConfig {
    /// The rate at first.
    pub(crate) initial_lr: LearningRate,
    /// The rate at the end, which stays.
    pub(crate) final_lr: LearningRate,
    /// The number of steps from the first rate to the last.
    pub(crate) num_iters: usize,
}

impl LinearLrSchedulerConfig {
    pub(super) fn build(&self) -> Result<LinearLrScheduler, String> {
        let Self {
            initial_lr,
            final_lr,
            num_iters,
        } = *self;
        check_initial("linear", initial_lr)?;
        let legal = (0.0..=1.0).contains(&final_lr);
        check(legal, "linear.final_lr", final_lr, "from 0 to 1")?;
        check(num_iters > 0, "linear.num_iters", num_iters, "above 0")?;
        Ok(LinearLrScheduler {
            final_lr,
            slope: (initial_lr - final_lr) / num_iters as f64,
            state: LinearLrSchedulerState {
                remaining_iters: num_iters + 1,
            },
        })
    }
}

/// Goes from one rate to another in equal steps, and stays there.
#[derive(Clone, Debug)]
pub struct LinearLrScheduler {
    final_lr: LearningRate,
    /// How far a step back from the end is from it.
    slope: f64,
    state: LinearLrSchedulerState,
}

/// Where a [`LinearLrScheduler`] is.
#[derive(Clone, Debug, RecordState)]
pub struct LinearLrSchedulerState {
    /// The number of steps from the last rate to the end; one more than all before the first.
    remaining_iters: usize,
}

impl LrScheduler for LinearLrScheduler {
    fn step(&mut self) -> LearningRate {
        self.state.remaining_iters = self.state.remaining_iters.saturating_sub(1);
        self.final_lr + self.slope * self.state.remaining_iters as f64
    }

    state_in_record!("linear");
}
