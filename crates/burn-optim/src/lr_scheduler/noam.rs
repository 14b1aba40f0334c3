//! The rate of the first transformers.

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

/// Describes a [`NoamLrScheduler`].
#[derive(Config, Debug)]
pub struct NoamLrSchedulerConfig {
    /// The rate is multiplied by it.
    pub(crate) factor: f64,
    /// The number of steps in which the rate rises.
    #[config(default = 4000)]
    pub(crate) warmup_steps: usize,
    /// The width of the model.
    #[config(default = 512)]
    pub(crate) model_size: usize,
}

impl NoamLrSchedulerConfig {
    pub(super) fn build(&self) -> Result<NoamLrScheduler, String> {
        let Self {
            factor,
            warmup_steps,
            model_size,
        } = *self;
        check(factor.is_finite(), "noam.factor", factor, "a number")?;
        let expected = "above 0";
        check(
            warmup_steps > 0,
            "noam.warmup_steps",
            warmup_steps,
            expected,
        )?;
        check(model_size > 0, "noam.model_size", model_size, expected)?;
        Ok(NoamLrScheduler {
            scale: factor / (model_size as f64).sqrt(),
            warmup_steps: warmup_steps as f64,
            state: NoamLrSchedulerState { step: 0.0 },
        })
    }
}

/// `factor / √model_size · min(1 / √step, step / warmup_steps^1.5)` (Vaswani et al., 2017, equation 3).
#[derive(Clone, Debug)]
pub struct NoamLrScheduler {
    scale: f64,
    warmup_steps: f64,
    state: NoamLrSchedulerState,
}

/// Where a [`NoamLrScheduler`] is.
#[derive(Clone, Debug, RecordState)]
pub struct NoamLrSchedulerState {
    /// Steps so far.
    step: f64,
}

impl LrScheduler for NoamLrScheduler {
    fn step(&mut self) -> LearningRate {
        self.state.step += 1.0;
        let step = self.state.step;
        self.scale * (1.0 / step.sqrt()).min(step / self.warmup_steps.powf(1.5))
    }

    state_in_record!("noam");
}
