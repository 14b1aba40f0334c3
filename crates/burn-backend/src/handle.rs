//! A tensor of some backend, its type forgotten.

use crate::Device;
use alloc::sync::Arc;
use burn_ir::{Described, TensorMeta};
use core::any::{Any, type_name};
use core::fmt::{self, Debug};

/// A tensor of some engine. Clones share it: whoever takes it out gets the tensor itself from the last handle, so that a
/// buffer with one owner can be overwritten, and a clone of it from others.
#[derive(Clone)]
pub struct Handle(Arc<dyn AnyTensor>);

/// What every engine's tensor can say.
pub trait AnyTensor: Any + Debug + Send + Sync {
    /// The description of the tensor.
    fn meta(&self) -> &TensorMeta;
    /// The device that made it.
    fn device(&self) -> Device;
    /// Whether it is the only owner of its storage.
    fn can_mut(&self) -> bool {
        false
    }
}

impl Handle {
    /// Forgets the type of a tensor.
    pub fn new(tensor: impl AnyTensor) -> Self {
        Self(Arc::new(tensor))
    }

    /// The device that made the tensor.
    #[inline]
    pub fn device(&self) -> Device {
        self.0.device()
    }

    /// Whether the tensor is the only owner of its storage, so that an instruction which takes it may overwrite it.
    /// `false` where the engine cannot tell.
    #[inline]
    pub fn can_mut(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && self.0.can_mut()
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
    pub fn expect<T: AnyTensor + Clone>(self) -> T {
        let Some(tensor) = self.get::<T>() else {
            panic!(
                "a tensor of {} was sent to an engine that takes {}",
                self.device(),
                type_name::<T>()
            )
        };
        // What others hold as well is not worth trying to take out.
        if Arc::strong_count(&self.0) > 1 {
            return tensor.clone();
        }
        let any: Arc<dyn Any + Send + Sync> = self.0;
        let tensor = any.downcast::<T>().expect("it is one, as seen above");
        Arc::unwrap_or_clone(tensor)
    }
}

impl Described for Handle {
    #[inline]
    fn meta(&self) -> &TensorMeta {
        self.0.meta()
    }
}

impl Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
