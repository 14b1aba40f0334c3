//! Learning rates of the parameters of a module, and their schedules.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use burn_core::config::Config;
use burn_core::module::{ParamGroup, ParamId};

use super::{DynLrScheduler, LrScheduler, LrSchedulerConfig, LrSchedulerRecord};
use crate::LearningRate;

/// A learning rate, and others for groups of parameters.
#[derive(Clone, Debug)]
pub struct ModuleLearningRate {
    base: LearningRate,
    groups: Vec<(ParamGroup, LearningRate)>,
}

impl ModuleLearningRate {
    /// The rate of parameters that are in no group.
    pub fn base(&self) -> LearningRate {
        self.base
    }

    /// The rate of the parameter `id` at `path`: that of the last group it is in.
    pub fn lr_from_param(&self, id: ParamId, path: Option<&str>) -> LearningRate {
        let mut groups = self.groups.iter().rev();
        let group = groups.find(|(group, _)| group.matches(&id, path));
        group.map_or(self.base, |(_, lr)| *lr)
    }
}

impl From<LearningRate> for ModuleLearningRate {
    fn from(base: LearningRate) -> Self {
        Self {
            base,
            groups: Vec::new(),
        }
    }
}

/// A schedule, and others for groups of parameters.
#[derive(Clone, Debug)]
pub struct ModuleLrScheduler {
    base: DynLrScheduler,
    groups: Vec<(ParamGroup, DynLrScheduler)>,
}

impl ModuleLrScheduler {
    /// A schedule for all parameters.
    pub fn new<S: LrScheduler + 'static>(scheduler: S) -> Self {
        scheduler.into()
    }

    /// Gives the parameters in `group` a schedule of their own.
    pub fn with_group(mut self, group: ParamGroup, scheduler: impl Into<DynLrScheduler>) -> Self {
        self.groups.push((group, scheduler.into()));
        self
    }

    /// The rates for the next step.
    pub fn step(&mut self) -> ModuleLearningRate {
        let groups = self.groups.iter_mut();
        ModuleLearningRate {
            base: self.base.step(),
            groups: groups
                .map(|(group, scheduler)| (group.clone(), scheduler.step()))
                .collect(),
        }
    }

    /// Where the schedules are: that for all under `0`, then each group in order.
    pub fn to_record(&self) -> LrSchedulerRecord {
        let groups = self.groups.iter().map(|(_, scheduler)| scheduler);
        let schedulers = core::iter::once(&self.base).chain(groups);
        let add = |record: LrSchedulerRecord, (index, scheduler): (usize, &DynLrScheduler)| {
            record.with_record(&index.to_string(), scheduler.to_record())
        };
        schedulers.enumerate().fold(LrSchedulerRecord::new(), add)
    }

    /// The schedules going on from `record`.
    ///
    /// # Panics
    /// If the record is not of such schedules.
    #[track_caller]
    pub fn load_record(mut self, record: LrSchedulerRecord) -> Self {
        let groups = self.groups.iter_mut().map(|(_, scheduler)| scheduler);
        let schedulers = core::iter::once(&mut self.base).chain(groups);
        for (index, scheduler) in schedulers.enumerate() {
            scheduler.0.load_record(record.record(&index.to_string()));
        }
        self
    }
}

impl<S: LrScheduler + 'static> From<S> for ModuleLrScheduler {
    fn from(scheduler: S) -> Self {
        Self {
            base: scheduler.into(),
            groups: Vec::new(),
        }
    }
}

/// A schedule for a group of parameters.
#[derive(Config, Debug)]
pub struct LrSchedulerGroupConfig {
    /// The parameters.
    pub group: ParamGroup,
    /// Their schedule.
    pub scheduler: LrSchedulerConfig,
}

/// Describes a [`ModuleLrScheduler`].
#[derive(Config, Debug)]
pub struct ModuleLrSchedulerConfig {
    /// The schedule of parameters that are in no group.
    pub(crate) base: LrSchedulerConfig,
    /// Schedules for groups of parameters.
    #[config(default = "Vec::new()")]
    pub(crate) scheduler_groups: Vec<LrSchedulerGroupConfig>,
}

impl ModuleLrSchedulerConfig {
    /// Gives the parameters in `group` a schedule of their own.
    pub fn with_group(
        mut self,
        group: ParamGroup,
        scheduler: impl Into<LrSchedulerConfig>,
    ) -> Self {
        let scheduler = scheduler.into();
        self.scheduler_groups
            .push(LrSchedulerGroupConfig { group, scheduler });
        self
    }

    /// The schedules.
    ///
    /// # Errors
    /// Which field is out of range.
    pub fn init(&self) -> Result<ModuleLrScheduler, String> {
        let mut groups = Vec::new();
        for (index, group) in self.scheduler_groups.iter().enumerate() {
            let scheduler = group.scheduler.build();
            let scheduler = scheduler
                .map_err(|problem| alloc::format!("`scheduler_groups[{index}]`: {problem}"))?;
            groups.push((group.group.clone(), scheduler));
        }
        Ok(ModuleLrScheduler {
            base: self.base.build()?,
            groups,
        })
    }
}
