//! [`LrSchedulerConfig`]: the description of any schedule of this crate.

use alloc::string::String;

use burn_core::config::Config;

use super::DynLrScheduler;
use super::composed::ComposedLrSchedulerConfig;
use super::constant::ConstantLr;
use super::cosine::CosineAnnealingLrSchedulerConfig;
use super::exponential::ExponentialLrSchedulerConfig;
use super::linear::LinearLrSchedulerConfig;
use super::noam::NoamLrSchedulerConfig;
use super::sequential::SequentialLrSchedulerConfig;
use super::step::StepLrSchedulerConfig;
use crate::LearningRate;

/// Describes a schedule.
#[derive(Config, Debug)]
pub enum LrSchedulerConfig {
    /// The same rate always.
    Constant(LearningRate),
    /// Along half a cosine, and back.
    Cosine(CosineAnnealingLrSchedulerConfig),
    /// A factor at each step.
    Exponential(ExponentialLrSchedulerConfig),
    /// Along a line.
    Linear(LinearLrSchedulerConfig),
    /// Up along a line, then down with the root of the steps.
    Noam(NoamLrSchedulerConfig),
    /// A factor after every so many steps.
    Step(StepLrSchedulerConfig),
    /// Several schedules at once.
    Composed(ComposedLrSchedulerConfig),
    /// Several schedules after each other.
    Sequential(SequentialLrSchedulerConfig),
}

impl LrSchedulerConfig {
    /// The schedule, or which field is out of range.
    pub(super) fn build(&self) -> Result<DynLrScheduler, String> {
        Ok(match self {
            Self::Constant(lr) => ConstantLr::new(*lr).into(),
            Self::Cosine(config) => config.build()?.into(),
            Self::Exponential(config) => config.build()?.into(),
            Self::Linear(config) => config.build()?.into(),
            Self::Noam(config) => config.build()?.into(),
            Self::Step(config) => config.build()?.into(),
            Self::Composed(config) => config.build()?.into(),
            Self::Sequential(config) => config.build()?.into(),
        })
    }
}

impl From<LearningRate> for LrSchedulerConfig {
    fn from(lr: LearningRate) -> Self {
        Self::Constant(lr)
    }
}

/// `init` for the module as a whole, and the conversion to [`LrSchedulerConfig`].
macro_rules! conversions {
    ($($config:ident => $variant:ident;)+) => {
        $(
            impl $config {
                /// The schedule, for all parameters of a module.
                ///
                /// # Errors
                /// Which field is out of range.
                pub fn init(
                    &self,
                ) -> Result<super::module_lr_scheduler::ModuleLrScheduler, String> {
                    Ok(self.build()?.into())
                }
            }

            impl From<$config> for LrSchedulerConfig {
                fn from(config: $config) -> Self {
                    Self::$variant(config)
                }
            }
        )+
    };
}

conversions! {
    CosineAnnealingLrSchedulerConfig => Cosine;
    ExponentialLrSchedulerConfig => Exponential;
    LinearLrSchedulerConfig => Linear;
    NoamLrSchedulerConfig => Noam;
    StepLrSchedulerConfig => Step;
    ComposedLrSchedulerConfig => Composed;
    SequentialLrSchedulerConfig => Sequential;
}
