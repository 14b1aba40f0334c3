//! Schedules at the same time.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use burn_core::config::Config;

use super::cosine::CosineAnnealingLrSchedulerConfig;
use super::exponential::ExponentialLrSchedulerConfig;
use super::linear::LinearLrSchedulerConfig;
use super::noam::NoamLrSchedulerConfig;
use super::step::StepLrSchedulerConfig;
use super::{DynLrScheduler, LrScheduler, LrSchedulerConfig, LrSchedulerRecord, check};
use crate::LearningRate;

/// What several rates become.
#[derive(Config, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchedulerReduction {
    /// Their mean.
    Avg,
    /// Their sum.
    Sum,
    /// Their product.
    #[default]
    Prod,
}

/// Describes a [`ComposedLrScheduler`].
#[derive(Config, Debug)]
pub struct ComposedLrSchedulerConfig {
    /// The schedules.
    #[config(default = "Vec::new()")]
    pub(crate) schedulers: Vec<LrSchedulerConfig>,
    /// What their rates become.
    #[config(default = "SchedulerReduction::Prod")]
    pub(crate) reduction: SchedulerReduction,
}

impl ComposedLrSchedulerConfig {
    pub(super) fn build(&self) -> Result<ComposedLrScheduler, String> {
        let field = "composed.schedulers";
        check(!self.schedulers.is_empty(), field, "[]", "one or more")?;
        Ok(ComposedLrScheduler {
            schedulers: build_all(field, &self.schedulers)?,
            reduction: self.reduction,
        })
    }

    fn with(mut self, scheduler: impl Into<LrSchedulerConfig>) -> Self {
        self.schedulers.push(scheduler.into());
        self
    }

    /// Adds a rate that stays.
    pub fn constant(self, lr: LearningRate) -> Self {
        self.with(lr)
    }

    /// Adds a rate along a line.
    pub fn linear(self, config: LinearLrSchedulerConfig) -> Self {
        self.with(config)
    }

    /// Adds a rate along a cosine.
    pub fn cosine(self, config: CosineAnnealingLrSchedulerConfig) -> Self {
        self.with(config)
    }

    /// Adds a rate that falls by a factor.
    pub fn exponential(self, config: ExponentialLrSchedulerConfig) -> Self {
        self.with(config)
    }

    /// Adds the rate of the first transformers.
    pub fn noam(self, config: NoamLrSchedulerConfig) -> Self {
        self.with(config)
    }

    /// Adds a rate that falls by a factor now and then.
    pub fn step(self, config: StepLrSchedulerConfig) -> Self {
        self.with(config)
    }

    /// Adds a composition.
    pub fn composed(self, config: Self) -> Self {
        self.with(config)
    }
}

/// Combines the rates of several schedules.
#[derive(Clone, Debug, Default)]
pub struct ComposedLrScheduler {
    schedulers: Vec<DynLrScheduler>,
    reduction: SchedulerReduction,
}

impl ComposedLrScheduler {
    /// Adds a schedule of any type.
    pub fn with_custom_scheduler<S: LrScheduler + 'static>(mut self, scheduler: S) -> Self {
        self.schedulers.push(scheduler.into());
        self
    }
}

impl LrScheduler for ComposedLrScheduler {
    fn step(&mut self) -> LearningRate {
        let count = self.schedulers.len() as f64;
        let rates = self.schedulers.iter_mut().map(DynLrScheduler::step);
        match self.reduction {
            SchedulerReduction::Avg => rates.sum::<f64>() / count,
            SchedulerReduction::Sum => rates.sum(),
            SchedulerReduction::Prod => rates.product(),
        }
    }

    fn to_record(&self) -> LrSchedulerRecord {
        record_all(&self.schedulers)
    }

    #[track_caller]
    fn load_record(&mut self, record: LrSchedulerRecord) {
        load_all(&mut self.schedulers, &record);
    }
}

/// The schedules, or which field of which one is out of range.
pub(super) fn build_all(
    field: &str,
    configs: &[LrSchedulerConfig],
) -> Result<Vec<DynLrScheduler>, String> {
    let build = |(index, config): (usize, &LrSchedulerConfig)| {
        let scheduler = config.build();
        scheduler.map_err(|problem| alloc::format!("`{field}[{index}]`: {problem}"))
    };
    configs.iter().enumerate().map(build).collect()
}

/// The record of each schedule under its index.
pub(super) fn record_all(schedulers: &[DynLrScheduler]) -> LrSchedulerRecord {
    let add = |record: LrSchedulerRecord, (index, scheduler): (usize, &DynLrScheduler)| {
        record.with_record(&index.to_string(), scheduler.to_record())
    };
    let schedulers = schedulers.iter().enumerate();
    schedulers.fold(LrSchedulerRecord::new(), add)
}

#[track_caller]
pub(super) fn load_all(schedulers: &mut [DynLrScheduler], record: &LrSchedulerRecord) {
    for (index, scheduler) in schedulers.iter_mut().enumerate() {
        scheduler.0.load_record(record.record(&index.to_string()));
    }
}
