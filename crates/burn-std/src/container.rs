//! Values of several types under one kind of key: where gradients of all ranks live together.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::{self, Debug};
use core::hash::Hash;

use hashbrown::HashMap;

/// Holds values of any type by key.
pub struct TensorContainer<ID> {
    values: HashMap<ID, Box<dyn Any + Send>>,
}

impl<ID: Hash + Eq + Debug> Default for TensorContainer<ID> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
        }
    }
}

impl<ID: Hash + Eq + Debug> Debug for TensorContainer<ID> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl<ID: Hash + Eq + Debug> TensorContainer<ID> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy of the value under `id`; `None` if there is none of type `T`.
    pub fn get<T: Clone + Send + 'static>(&self, id: &ID) -> Option<T> {
        self.values.get(id)?.downcast_ref().cloned()
    }

    /// The value under `id`, to change it; `None` if there is none of type `T`.
    pub fn get_mut_ref<T: Clone + Send + 'static>(&mut self, id: &ID) -> Option<&mut T> {
        self.values.get_mut(id)?.downcast_mut()
    }

    /// Puts `value` under `id`, in place of what was there.
    pub fn register<T: Clone + Send + 'static>(&mut self, id: ID, value: T) {
        self.values.insert(id, Box::new(value));
    }

    /// Takes the value under `id`; `None` if there is none of type `T`, and another stays.
    pub fn remove<T: Clone + Send + 'static>(&mut self, id: &ID) -> Option<T> {
        if !self.values.get(id)?.is::<T>() {
            return None;
        }
        let value = self.values.remove(id)?.downcast().ok()?;
        Some(*value)
    }

    /// All keys, in no order.
    pub fn ids(&self) -> Vec<&ID> {
        self.values.keys().collect()
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
