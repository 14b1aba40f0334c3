//! [`RunningState`]: statistics that a module updates while it runs, as batch normalization does.

use core::fmt::{self, Debug, Display};

use burn_std::sync::Mutex;
use burn_tensor::Tensor;

use super::Param;
use crate::module::{
    Content, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, ParamId,
};

/// A tensor that is updated through `&self`, saved and loaded as a parameter, and never trained.
///
/// A copy of the module has statistics of its own from there on.
pub struct RunningState<V> {
    id: ParamId,
    value: Mutex<V>,
}

impl<const D: usize> RunningState<Tensor<D>> {
    /// A state with a new id.
    pub fn new(value: Tensor<D>) -> Self {
        Self::with_id(ParamId::new(), value)
    }

    /// A state with a given id.
    pub fn with_id(id: ParamId, value: Tensor<D>) -> Self {
        Self {
            id,
            value: Mutex::new(value),
        }
    }

    /// A state with the id and the value of `record`.
    pub fn from_record(record: Param<Tensor<D>>) -> Self {
        let (id, value, _) = record.consume();
        Self::with_id(id, value)
    }

    /// The value.
    pub fn value(&self) -> Tensor<D> {
        self.value.lock().clone()
    }

    /// The value. Updates are never delayed, so that it is [`value`](Self::value).
    pub fn value_sync(&self) -> Tensor<D> {
        self.value()
    }

    /// Replaces the value.
    pub fn update(&self, value: Tensor<D>) {
        *self.value.lock() = value;
    }

    /// The state as visitors and mappers see it: a parameter that is not trained.
    fn param(&self) -> Param<Tensor<D>> {
        Param::initialized(self.id, self.value()).set_require_grad(false)
    }
}

impl<const D: usize> Module for RunningState<Tensor<D>> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_float(&self.param());
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        Self::from_record(mapper.map_float(self.param()).set_require_grad(false))
    }
}

impl<V: Clone> Clone for RunningState<V> {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            value: Mutex::new(self.value.lock().clone()),
        }
    }
}

impl<V> Display for RunningState<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunningState(id={})", self.id)
    }
}

impl<V> Debug for RunningState<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl<const D: usize> ModuleDisplayDefault for RunningState<Tensor<D>> {
    fn content(&self, content: Content) -> Option<Content> {
        content.set_top_level_type("RunningState").optional()
    }
}

impl<const D: usize> ModuleDisplay for RunningState<Tensor<D>> {}
