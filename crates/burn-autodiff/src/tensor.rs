//! Tensors of the layer: a tensor below, and its place on the tape if it has one.

use crate::engine::Autodiff;
use crate::recipe::Recipe;
use crate::tape::{Node, Source, Step};
use alloc::sync::Arc;
use burn_backend::{AnyTensor, Device, Handle};
use burn_ir::{Described, TensorMeta};

#[derive(Clone, Debug)]
pub(crate) struct AdTensor {
    pub(crate) inner: Handle,
    pub(crate) place: Place,
    /// How to compute the values again, where the tape does not keep them.
    pub(crate) recipe: Option<Arc<Recipe>>,
    pub(crate) engine: &'static Autodiff,
}

/// Where a tensor is on the tape.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Nowhere.
    Constant,
    /// Nowhere, because no gradient flows through the operation of this name, which read a tensor of the tape.
    Cut(&'static str),
    /// Gradients flow to it.
    On(Source),
}

impl Place {
    pub(crate) fn source(&self) -> Option<&Source> {
        match self {
            Self::On(source) => Some(source),
            Self::Constant | Self::Cut(_) => None,
        }
    }
}

impl Described for AdTensor {
    fn meta(&self) -> &TensorMeta {
        self.inner.meta()
    }
}

impl AnyTensor for AdTensor {
    fn meta(&self) -> &TensorMeta {
        self.inner.meta()
    }

    fn device(&self) -> Device {
        Device::new(self.engine)
    }

    fn can_mut(&self) -> bool {
        self.inner.can_mut()
    }
}

impl AdTensor {
    pub(crate) fn constant(inner: Handle, engine: &'static Autodiff) -> Self {
        Self {
            inner,
            place: Place::Constant,
            recipe: None,
            engine,
        }
    }

    pub(crate) fn is_tracked(&self) -> bool {
        self.place.source().is_some()
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.place
            .source()
            .is_some_and(|source| matches!(*source.node.step.lock(), Step::Leaf))
    }
}

/// The tensor as a new leaf of the tape, for which gradients are wanted. `None` if it lives under no tape.
pub fn require_grad(tensor: Handle) -> Option<Handle> {
    tensor.get::<AdTensor>()?;
    let tensor = tensor.expect::<AdTensor>();
    let node = Node::new(Step::Leaf);
    Some(Handle::new(AdTensor {
        place: Place::On(Source { node, output: 0 }),
        ..AdTensor::constant(tensor.inner, tensor.engine)
    }))
}

/// The tensor without its place on the tape.
pub fn detach(tensor: Handle) -> Handle {
    if tensor.get::<AdTensor>().is_none() {
        return tensor;
    }
    let AdTensor { inner, engine, .. } = tensor.expect();
    Handle::new(AdTensor::constant(inner, engine))
}

/// Whether gradients flow to the tensor.
pub fn is_tracked(tensor: &Handle) -> bool {
    tensor.get::<AdTensor>().is_some_and(AdTensor::is_tracked)
}

/// Whether the tensor is a leaf, so that gradients are collected for it.
pub fn is_leaf(tensor: &Handle) -> bool {
    tensor.get::<AdTensor>().is_some_and(AdTensor::is_leaf)
}
