//! Learning rates by parameter. Schedules are not here yet.

/// Learning rates of the parameters of a module.
pub mod module_lr_scheduler {
    use alloc::vec::Vec;

    use burn_core::module::{ParamGroup, ParamId};

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

        /// The rate of the parameter `id` at `path`: that of the first group it is in.
        pub fn lr_from_param(&self, id: ParamId, path: Option<&str>) -> LearningRate {
            let group = self
                .groups
                .iter()
                .find(|(group, _)| group.matches(&id, path));
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
}
