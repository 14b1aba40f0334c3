//! Tensors of the layer: a tensor below, and its place on the tape if it has one.

use crate::engine::Autodiff;
use crate::tape::{Node, Source, Step};
use burn_backend::{AnyTensor, Device, Handle};
use burn_ir::{Described, TensorMeta};

#[derive(Clone, Debug)]
pub(crate) struct AdTensor {
    pub(crate) inner: Handle,
    pub(crate) source: Option<Source>,
    pub(crate) engine: &'static Autodiff,
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
    pub(crate) fn is_leaf(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(|source| matches!(*source.node.step.lock(), Step::Leaf))
    }
}

/// The tensor as a new leaf of the tape, for which gradients are wanted. `None` if it lives under no tape.
pub fn require_grad(tensor: Handle) -> Option<Handle> {
    tensor.get::<AdTensor>()?;
    let tensor = tensor.expect::<AdTensor>();
    let source = Some(Source {
        node: Node::new(Step::Leaf),
        output: 0,
    });
    Some(Handle::new(AdTensor { source, ..tensor }))
}

/// The tensor without its place on the tape.
pub fn detach(tensor: Handle) -> Handle {
    match tensor.get::<AdTensor>() {
        None => tensor,
        Some(_) => Handle::new(AdTensor {
            source: None,
            ..tensor.expect::<AdTensor>()
        }),
    }
}

/// Whether gradients flow to the tensor.
pub fn is_tracked(tensor: &Handle) -> bool {
    tensor
        .get::<AdTensor>()
        .is_some_and(|tensor| tensor.source.is_some())
}

/// Whether the tensor is a leaf, so that gradients are collected for it.
pub fn is_leaf(tensor: &Handle) -> bool {
    tensor.get::<AdTensor>().is_some_and(AdTensor::is_leaf)
}
