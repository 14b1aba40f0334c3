//! A tensor of some backend, its type forgotten.

use crate::Device;
use alloc::boxed::Box;
use burn_ir::{Described, TensorMeta};
use core::any::{Any, type_name};
use core::fmt::{self, Debug};

/// A tensor of some engine. Cloning clones the engine's own tensor, so that the only reference count is the storage's
/// and a buffer with one owner can be overwritten.
pub struct Handle(Box<dyn AnyTensor>);

/// What every engine's tensor can say.
pub trait AnyTensor: Any + Debug + Send + Sync {
    /// The description of the tensor.
    fn meta(&self) -> &TensorMeta;
    /// The device that made it.
    fn device(&self) -> Device;
    /// The same tensor again.
    fn clone_boxed(&self) -> Box<dyn AnyTensor>;
    /// Whether it is the only owner of its storage.
    fn can_mut(&self) -> bool {
        false
    }
}

impl Handle {
    /// Forgets the type of a tensor.
    pub fn new(tensor: impl AnyTensor) -> Self {
        Self(Box::new(tensor))
    }

    /// The device that made the tensor.
    pub fn device(&self) -> Device {
        self.0.device()
    }

    /// Whether the tensor is the only owner of its storage, so that an instruction which takes it may overwrite it.
    /// `false` where the engine cannot tell.
    pub fn can_mut(&self) -> bool {
        self.0.can_mut()
    }

    /// The tensor, if it is a `T`.
    pub fn get<T: AnyTensor>(&self) -> Option<&T> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }

    /// The tensor.
    ///
    /// # Panics
    /// If it is no `T`: routing sent it to the wrong engine.
    pub fn expect<T: AnyTensor>(self) -> T {
        let device = self.device();
        let any: Box<dyn Any> = self.0;
        match any.downcast::<T>() {
            Ok(tensor) => *tensor,
            Err(_) => panic!(
                "a tensor of {device} was sent to an engine that takes {}",
                type_name::<T>()
            ),
        }
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        Self(self.0.clone_boxed())
    }
}

impl Described for Handle {
    fn meta(&self) -> &TensorMeta {
        self.0.meta()
    }
}

impl Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
