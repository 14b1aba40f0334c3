//! A rate along a cosine.

use alloc::string::String;
use core::f64::consts::PI;

use burn_core::config::Config;
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use super::record::state_in_record;
use super::{LrScheduler, check, check_initial};
use crate::{LearningRate, RecordState};

/// Describes a [`CosineAnnealingLrScheduler`].
#[derive(Config, Debug)]
pub struct CosineAnnealingLrSchedulerConfig {
    /// The rate at first.
    pub(crate) initial_lr: LearningRate,
    /// The lowest rate.
    #[config(default = 0.0)]
    pub(crate) min_lr: LearningRate,
    /// The number of steps from the first rate to the lowest.
    pub(crate) num_iters: usize,
}

impl CosineAnnealingLrSchedulerConfig {
    pub(super) fn build(&self) -> Result<CosineAnnealingLrScheduler, String> {
        let Self {
            initial_lr,
            min_lr,
            num_iters,
        } = *self;
        check_initial("cosine", initial_lr)?;
        let legal = (0.0..=initial_lr).contains(&min_lr);
        check(legal, "cosine.min_lr", min_lr, "from 0 to `initial_lr`")?;
        check(num_iters > 0, "cosine.num_iters", num_iters, "above 0")?;
        Ok(CosineAnnealingLrScheduler {
            initial_lr,
            min_lr,
            num_iters,
            state: CosineAnnealingLrSchedulerState { current_iter: -1 },
        })
    }
}

/// Falls along half a cosine (Loshchilov and Hutter, 2017, equation 5), rises along the other half, and so on.
#[derive(Clone, Debug)]
pub struct CosineAnnealingLrScheduler {
    initial_lr: LearningRate,
    min_lr: LearningRate,
    num_iters: usize,
    state: CosineAnnealingLrSchedulerState,
}

/// Where a [`CosineAnnealingLrScheduler`] is.
#[derive(Clone, Debug, RecordState)]
pub struct CosineAnnealingLrSchedulerState {
    /// The step of the last rate, from 0; -1 before the first.
    current_iter: i64,
}

impl LrScheduler for CosineAnnealingLrScheduler {
    fn step(&mut self) -> LearningRate {
        self.state.current_iter += 1;
        let angle = PI * self.state.current_iter as f64 / self.num_iters as f64;
        self.min_lr + 0.5 * (self.initial_lr - self.min_lr) * (1.0 + angle.cos())
    }

    state_in_record!("cosine");
}
