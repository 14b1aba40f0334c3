//! [`Ignored`]: a field that is no module. `#[module(skip)]` does the same without a wrapper.

use core::fmt::{self, Debug, Display};
use core::ops::Deref;

use crate::module::{
    Content, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
};

/// A value that a module keeps without treating it as a module.
///
/// Prefer `#[module(skip)]` on the field: it needs no wrapper.
#[derive(Clone, Debug)]
pub struct Ignored<T>(pub T);

impl<T: Sync + Send + Debug + Clone> Module for Ignored<T> {
    fn visit<V: ModuleVisitor>(&self, _visitor: &mut V) {}

    fn map<M: ModuleMapper>(self, _mapper: &mut M) -> Self {
        self
    }
}

impl<T: Sync + Send + Debug + Clone> ModuleDisplayDefault for Ignored<T> {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(self).optional()
    }
}

impl<T: Sync + Send + Debug + Clone> ModuleDisplay for Ignored<T> {}

impl<T: Sync + Send + Debug + Clone> Display for Ignored<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl<T> Deref for Ignored<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
