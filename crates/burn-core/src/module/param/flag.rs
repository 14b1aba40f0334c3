//! [`Flag`]: a switch that a module turns with training and freezing, as for dropout.

use core::fmt::{self, Display};

use super::sealed::Sealed;
use super::{Param, ParameterValue};
use crate::module::{
    Content, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, ParamId,
};

/// A switch: on in training, off in validation and where the module is frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag(bool);

impl Flag {
    /// A switch that is on if `enabled`.
    pub const fn new(enabled: bool) -> Self {
        Self(enabled)
    }

    /// Whether the switch is on.
    pub const fn is_enabled(&self) -> bool {
        self.0
    }

    /// The switch turned to `enabled`.
    pub const fn with(self, enabled: bool) -> Self {
        Self(enabled)
    }
}

impl Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "enabled" } else { "disabled" })
    }
}

impl Sealed for Flag {
    fn wants_grad(&self) -> bool {
        self.0
    }
}

impl ParameterValue for Flag {}

impl Param<Flag> {
    /// A switch with a new id.
    pub fn from_bool(enabled: bool) -> Self {
        Self::initialized(ParamId::new(), Flag::new(enabled))
    }

    /// The switch turned to `enabled`, now and in training, under the same id.
    pub fn with_value(mut self, enabled: bool) -> Self {
        self.require_grad = enabled;
        self.map(|flag| flag.with(enabled))
    }

    /// Turns the switch off, or to what it is in training.
    pub(crate) fn activate(self, training: bool) -> Self {
        let enabled = training && self.require_grad;
        self.map(|flag| flag.with(enabled))
    }
}

impl Module for Param<Flag> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_flag(self);
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        mapper.map_flag(self)
    }
}

impl ModuleDisplayDefault for Param<Flag> {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&self.val()).optional()
    }
}

impl ModuleDisplay for Param<Flag> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_switch_stays_off_in_training() {
        let flag = Module::freeze(Param::from_bool(true));
        assert!(!flag.is_enabled());
        let flag = Module::train(Module::valid(&flag));
        assert!(!flag.is_enabled());
        assert!(Module::unfreeze(flag).is_enabled());
    }

    #[test]
    fn training_gives_a_switch_back_what_validation_took() {
        let flag = Module::valid(&Param::from_bool(true));
        assert!(!flag.is_enabled());
        assert!(flag.train().is_enabled());
        let off = Param::from_bool(false);
        assert!(!off.valid().train().is_enabled());
    }
}
