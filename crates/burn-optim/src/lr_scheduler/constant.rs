//! A rate that stays.

use super::{LrScheduler, LrSchedulerRecord};
use crate::LearningRate;

/// The same rate always.
#[derive(Clone, Copy, Debug)]
pub struct ConstantLr {
    lr: LearningRate,
}

impl ConstantLr {
    /// This rate.
    pub fn new(lr: LearningRate) -> Self {
        Self { lr }
    }
}

impl From<LearningRate> for ConstantLr {
    fn from(lr: LearningRate) -> Self {
        Self::new(lr)
    }
}

impl LrScheduler for ConstantLr {
    fn step(&mut self) -> LearningRate {
        self.lr
    }

    fn to_record(&self) -> LrSchedulerRecord {
        LrSchedulerRecord::new()
    }

    fn load_record(&mut self, _record: LrSchedulerRecord) {}
}
