//! Schedules after each other.

use alloc::string::String;
use alloc::vec::Vec;

use burn_core::config::Config;

use super::composed::{load_all, record_all};
use super::{DynLrScheduler, LrScheduler, LrSchedulerConfig, LrSchedulerRecord, check};
use crate::LearningRate;

/// Describes a [`SequentialLrScheduler`].
#[derive(Config, Debug)]
pub struct SequentialLrSchedulerConfig {
    /// The schedules in order.
    pub(crate) schedulers: Vec<LrSchedulerConfig>,
    /// The step, from 0, of the first rate of each schedule but the first.
    pub(crate) milestones: Vec<usize>,
}

impl SequentialLrSchedulerConfig {
    pub(super) fn build(&self) -> Result<SequentialLrScheduler, String> {
        let field = "sequential.schedulers";
        check(!self.schedulers.is_empty(), field, "[]", "one or more")?;
        let milestones = &self.milestones;
        let rises = milestones.first() != Some(&0) && milestones.is_sorted_by(|a, b| a < b);
        check(
            rises && milestones.len() + 1 == self.schedulers.len(),
            "sequential.milestones",
            alloc::format!("{milestones:?}"),
            &alloc::format!(
                "{} numbers above 0 that rise",
                self.schedulers.len().saturating_sub(1)
            ),
        )?;
        Ok(SequentialLrScheduler {
            schedulers: super::composed::build_all(field, &self.schedulers)?,
            milestones: milestones.clone(),
            step: 0,
        })
    }
}

/// Follows one schedule after another, each from its own start.
#[derive(Clone, Debug)]
pub struct SequentialLrScheduler {
    schedulers: Vec<DynLrScheduler>,
    milestones: Vec<usize>,
    step: usize,
}

impl LrScheduler for SequentialLrScheduler {
    fn step(&mut self) -> LearningRate {
        let passed = self.milestones.partition_point(|start| *start <= self.step);
        self.step += 1;
        self.schedulers[passed].step()
    }

    fn to_record(&self) -> LrSchedulerRecord {
        record_all(&self.schedulers).with_scalar("step", self.step)
    }

    #[track_caller]
    fn load_record(&mut self, record: LrSchedulerRecord) {
        let step = record.scalar("step");
        self.step = step.unwrap_or_else(|| {
            panic!("the record has no state of a `sequential` schedule: {record:?}")
        });
        load_all(&mut self.schedulers, &record);
    }
}
