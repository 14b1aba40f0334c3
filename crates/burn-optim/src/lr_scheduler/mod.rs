//! Schedules of the learning rate.
//!
//! A schedule is asked for the rate once before each step of an optimizer; its first answer is where it starts. All of
//! them save and load where they are ([`LrSchedulerRecord`]). [`ModuleLrScheduler`](module_lr_scheduler::ModuleLrScheduler)
//! gives groups of parameters schedules of their own.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::LearningRate;

pub mod composed;
pub mod constant;
pub mod cosine;
pub mod exponential;
pub mod linear;
pub mod module_lr_scheduler;
pub mod noam;
pub mod sequential;
pub mod step;

mod config;
mod record;

pub use config::LrSchedulerConfig;
pub use record::LrSchedulerRecord;

/// A schedule of the learning rate. A number is one, which stays.
pub trait LrScheduler: LrSchedulerClone + Send + Sync {
    /// The rate for the next step.
    fn step(&mut self) -> LearningRate;

    /// Where the schedule is.
    fn to_record(&self) -> LrSchedulerRecord;

    /// Goes on from `record`.
    ///
    /// # Panics
    /// If the record is not of such a schedule.
    fn load_record(&mut self, record: LrSchedulerRecord);
}

/// Copies a schedule behind a trait object; every [`LrScheduler`] that is `Clone` has it.
pub trait LrSchedulerClone {
    /// A copy.
    fn clone_box(&self) -> Box<dyn LrScheduler>;
}

impl<T: LrScheduler + Clone + 'static> LrSchedulerClone for T {
    fn clone_box(&self) -> Box<dyn LrScheduler> {
        Box::new(self.clone())
    }
}

impl LrScheduler for LearningRate {
    fn step(&mut self) -> LearningRate {
        *self
    }

    fn to_record(&self) -> LrSchedulerRecord {
        LrSchedulerRecord::new()
    }

    fn load_record(&mut self, _record: LrSchedulerRecord) {}
}

/// A schedule of any type.
pub struct DynLrScheduler(Box<dyn LrScheduler>);

impl DynLrScheduler {
    /// The rate for the next step.
    pub fn step(&mut self) -> LearningRate {
        self.0.step()
    }

    /// Where the schedule is.
    pub fn to_record(&self) -> LrSchedulerRecord {
        self.0.to_record()
    }

    /// The schedule going on from `record`.
    ///
    /// # Panics
    /// If the record is not of such a schedule.
    #[track_caller]
    pub fn load_record(mut self, record: LrSchedulerRecord) -> Self {
        self.0.load_record(record);
        self
    }
}

impl Clone for DynLrScheduler {
    fn clone(&self) -> Self {
        Self(self.0.clone_box())
    }
}

impl fmt::Debug for DynLrScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynLrScheduler")
            .field(&self.to_record())
            .finish()
    }
}

impl<S: LrScheduler + 'static> From<S> for DynLrScheduler {
    fn from(scheduler: S) -> Self {
        Self(Box::new(scheduler))
    }
}

/// An error that names the schedule, the field and its value unless `legal`.
fn check(legal: bool, field: &str, value: impl fmt::Display, expected: &str) -> Result<(), String> {
    match legal {
        true => Ok(()),
        false => Err(alloc::format!("`{field}` is {value}; legal: {expected}")),
    }
}

/// Checks a rate that a schedule starts from.
fn check_initial(schedule: &str, initial_lr: LearningRate) -> Result<(), String> {
    let legal = initial_lr > 0.0 && initial_lr <= 1.0;
    let field = alloc::format!("{schedule}.initial_lr");
    check(legal, &field, initial_lr, "above 0, up to 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lr_scheduler::composed::{ComposedLrSchedulerConfig, SchedulerReduction};
    use crate::lr_scheduler::constant::ConstantLr;
    use crate::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
    use crate::lr_scheduler::exponential::ExponentialLrSchedulerConfig;
    use crate::lr_scheduler::linear::LinearLrSchedulerConfig;
    use crate::lr_scheduler::module_lr_scheduler::{ModuleLrScheduler, ModuleLrSchedulerConfig};
    use crate::lr_scheduler::noam::NoamLrSchedulerConfig;
    use crate::lr_scheduler::sequential::SequentialLrSchedulerConfig;
    use crate::lr_scheduler::step::StepLrSchedulerConfig;
    use alloc::vec;
    use alloc::vec::Vec;
    use burn_core::config::Config;
    use burn_core::module::{ParamGroup, ParamId};

    fn init(config: impl Into<LrSchedulerConfig>) -> Result<ModuleLrScheduler, String> {
        ModuleLrSchedulerConfig::new(config.into()).init()
    }

    #[track_caller]
    fn assert_rates(config: impl Into<LrSchedulerConfig>, expected: &[f64]) {
        let mut scheduler = init(config).expect("the configuration is legal");
        let found: Vec<f64> = expected.iter().map(|_| scheduler.step().base()).collect();
        for (found_one, expected_one) in found.iter().zip(expected) {
            // f64: a few roundings.
            assert!(
                (found_one - expected_one).abs() < 1e-12,
                "{found:?} for {expected:?}"
            );
        }
    }

    fn linear() -> LinearLrSchedulerConfig {
        LinearLrSchedulerConfig::new(0.8, 0.2, 3)
    }

    fn cosine() -> CosineAnnealingLrSchedulerConfig {
        CosineAnnealingLrSchedulerConfig::new(0.5, 2).with_min_lr(0.1)
    }

    fn all() -> Vec<LrSchedulerConfig> {
        vec![
            0.3.into(),
            linear().into(),
            cosine().into(),
            ExponentialLrSchedulerConfig::new(0.5, 0.1).into(),
            StepLrSchedulerConfig::new(0.5, 2).into(),
            NoamLrSchedulerConfig::new(1.0).with_warmup_steps(4).into(),
            SequentialLrSchedulerConfig::new(vec![linear().into(), cosine().into()], vec![4])
                .into(),
            ComposedLrSchedulerConfig::new()
                .linear(linear())
                .cosine(cosine())
                .into(),
        ]
    }

    #[test]
    fn the_first_rate_is_where_a_schedule_starts() {
        assert_rates(0.3, &[0.3, 0.3]);
        assert_rates(linear(), &[0.8, 0.6, 0.4, 0.2, 0.2]);
        let exponential = ExponentialLrSchedulerConfig::new(0.5, 0.1);
        assert_rates(exponential, &[0.5, 0.05, 0.005]);
        let step = StepLrSchedulerConfig::new(0.5, 2);
        assert_rates(step, &[0.5, 0.5, 0.05, 0.05, 0.005]);
        // min(step^-0.5, step · 4^-1.5) / √16
        let noam = NoamLrSchedulerConfig::new(1.0)
            .with_warmup_steps(4)
            .with_model_size(16);
        let fifth = 1.0 / (4.0 * 5f64.sqrt());
        assert_rates(noam, &[0.03125, 0.0625, 0.09375, 0.125, fifth]);
        // 0.1 + 0.4 · (1 + cos(π · step / 2)) / 2
        assert_rates(cosine(), &[0.5, 0.3, 0.1, 0.3, 0.5]);
    }

    #[test]
    fn a_sequence_starts_the_next_schedule_at_each_milestone() {
        let schedules = vec![
            LinearLrSchedulerConfig::new(0.2, 0.8, 3).into(),
            0.5.into(),
            ExponentialLrSchedulerConfig::new(0.4, 0.5).into(),
        ];
        let sequence = SequentialLrSchedulerConfig::new(schedules, vec![2, 3]);
        assert_rates(sequence, &[0.2, 0.4, 0.5, 0.4, 0.2, 0.1]);
    }

    #[test]
    fn a_composition_combines_the_rates() {
        let composed = |reduction| {
            ComposedLrSchedulerConfig::new()
                .linear(linear())
                .composed(ComposedLrSchedulerConfig::new().constant(0.5))
                .with_reduction(reduction)
        };
        assert_rates(composed(SchedulerReduction::Prod), &[0.4, 0.3, 0.2]);
        assert_rates(composed(SchedulerReduction::Sum), &[1.3, 1.1, 0.9]);
        assert_rates(composed(SchedulerReduction::Avg), &[0.65, 0.55, 0.45]);
    }

    #[test]
    fn a_restored_schedule_goes_on_and_repeats_nothing() {
        for config in all() {
            for steps in 0..6 {
                let mut scheduler = init(config.clone()).expect("the configuration is legal");
                for _ in 0..steps {
                    scheduler.step();
                }
                let bytes = scheduler.to_record().into_bytes().expect("it is small");
                let record = LrSchedulerRecord::from_bytes(bytes).expect("it is intact");
                let fresh = init(config.clone()).expect("the configuration is legal");
                let mut restored = fresh.load_record(record);
                for _ in 0..3 {
                    let (found, expected) = (restored.step().base(), scheduler.step().base());
                    assert_eq!(found, expected, "{config} after {steps} steps");
                }
            }
        }
    }

    #[test]
    fn a_configuration_survives_its_json() {
        for config in all() {
            let json = alloc::format!("{config}");
            let loaded = LrSchedulerConfig::load_binary(json.as_bytes());
            let loaded = loaded.expect("it was just written");
            assert_eq!(alloc::format!("{loaded}"), json);
        }
        let groups = ModuleLrSchedulerConfig::new(0.1.into())
            .with_group(ParamGroup::from_predicate("bias"), linear());
        let json = alloc::format!("{groups}");
        let loaded = ModuleLrSchedulerConfig::load_binary(json.as_bytes());
        let loaded = loaded.expect("it was just written");
        assert_eq!(alloc::format!("{loaded}"), json);
    }

    #[test]
    fn a_group_has_a_schedule_of_its_own() {
        let bias = ParamGroup::from_predicate("bias");
        let mut scheduler = ModuleLrScheduler::new(ConstantLr::new(0.1))
            .with_group(bias, StepLrScheduler::of(0.5, 1, 0.5));
        let id = ParamId::new();
        for expected in [0.5, 0.25] {
            let rate = scheduler.step();
            assert_eq!(rate.base(), 0.1);
            assert_eq!(rate.lr_from_param(id, Some("layer.bias")), expected);
            assert_eq!(rate.lr_from_param(id, Some("layer.weight")), 0.1);
            assert_eq!(rate.lr_from_param(id, None), 0.1);
        }
    }

    /// A schedule as somebody else would write it.
    #[derive(Clone)]
    struct StepLrScheduler {
        lr: f64,
        every: u64,
        factor: f64,
        step: u64,
    }

    impl StepLrScheduler {
        fn of(lr: f64, every: u64, factor: f64) -> Self {
            Self {
                lr,
                every,
                factor,
                step: 0,
            }
        }
    }

    impl LrScheduler for StepLrScheduler {
        fn step(&mut self) -> LearningRate {
            self.step += 1;
            self.lr * self.factor.powi(((self.step - 1) / self.every) as i32)
        }

        fn to_record(&self) -> LrSchedulerRecord {
            LrSchedulerRecord::new().with_scalar("step", self.step)
        }

        fn load_record(&mut self, record: LrSchedulerRecord) {
            self.step = record.scalar("step").expect("the record has the step");
        }
    }

    #[test]
    fn a_schedule_of_somebody_else_composes_and_is_restored() {
        use crate::lr_scheduler::composed::ComposedLrScheduler;
        let composed = || {
            ComposedLrScheduler::default()
                .with_custom_scheduler(StepLrScheduler::of(0.5, 1, 0.5))
                .with_custom_scheduler(0.5)
        };
        let mut scheduler = DynLrScheduler::from(composed());
        assert_eq!([scheduler.step(), scheduler.step()], [0.25, 0.125]);
        let record = scheduler.to_record();
        assert_eq!(record.record("0").scalar::<u64>("step"), Some(2));
        let mut restored = DynLrScheduler::from(composed()).load_record(record);
        assert_eq!(restored.step(), 0.0625);
    }

    #[track_caller]
    fn assert_refused(config: impl Into<LrSchedulerConfig>, problem: &str) {
        let error = init(config).expect_err("the configuration is not legal");
        assert!(error.contains(problem), "{error}");
    }

    #[test]
    fn a_value_out_of_range_is_an_error_that_names_the_field() {
        let linear = |from, to, iters| LinearLrSchedulerConfig::new(from, to, iters);
        assert_refused(linear(1.5, 0.2, 3), "`linear.initial_lr` is 1.5");
        assert_refused(linear(f64::NAN, 0.2, 3), "`linear.initial_lr` is NaN");
        assert_refused(linear(0.5, -0.2, 3), "`linear.final_lr` is -0.2");
        assert_refused(linear(0.5, 0.2, 0), "`linear.num_iters` is 0");
        let cosine = CosineAnnealingLrSchedulerConfig::new(0.5, 4).with_min_lr(0.9);
        assert_refused(cosine, "`cosine.min_lr` is 0.9");
        let exponential = ExponentialLrSchedulerConfig::new(0.5, 1.1);
        assert_refused(exponential, "`exponential.gamma` is 1.1");
        assert_refused(StepLrSchedulerConfig::new(0.5, 0), "`step.step_size` is 0");
        let noam = NoamLrSchedulerConfig::new(1.0).with_warmup_steps(0);
        assert_refused(noam, "`noam.warmup_steps` is 0");
        let sequence = SequentialLrSchedulerConfig::new(vec![0.1.into(), 0.2.into()], vec![0]);
        assert_refused(sequence, "`sequential.milestones` is [0]");
        let sequence = SequentialLrSchedulerConfig::new(vec![0.1.into(), 0.2.into()], vec![]);
        assert_refused(sequence, "`sequential.milestones` is []");
        let inner = ComposedLrSchedulerConfig::new().linear(linear(0.5, 0.2, 0));
        assert_refused(
            ComposedLrSchedulerConfig::new()
                .constant(0.1)
                .composed(inner),
            "`composed.schedulers[1]`: `composed.schedulers[0]`: `linear.num_iters` is 0",
        );
        assert_refused(
            ComposedLrSchedulerConfig::new(),
            "`composed.schedulers` is []",
        );
    }

    #[test]
    #[should_panic(expected = "the record has no state of a `linear` schedule")]
    fn the_record_of_another_schedule_is_refused() {
        let step = init(StepLrSchedulerConfig::new(0.5, 2)).expect("it is legal");
        let linear = init(linear()).expect("it is legal");
        let _ = linear.load_record(step.to_record());
    }
}
