//! Tapes and gradients.

use super::Tensor;
use crate::emit;
use crate::kind::{Autodiff, Float};
#[cfg(feature = "autodiff")]
use burn_dispatch::autodiff::GradientCheckpointingStrategy;
use burn_dispatch::{Handle, gradients};

impl<const D: usize, K: Autodiff> Tensor<D, K> {
    /// The tensor without its tape, on the device below. A tensor on a plain device as it is.
    pub fn inner(self) -> Tensor<D, K> {
        let device = self.handle.device();
        Self::new(device.inner(self.handle))
    }

    /// The tensor without any tape, on the device that executes.
    pub fn without_autodiff(self) -> Self {
        let mut output = self;
        while output.is_autodiff() {
            output = output.inner();
        }
        output
    }

    /// The tensor as a constant on the autodiff device above. A tensor that is on one already as it is.
    #[cfg(feature = "autodiff")]
    pub fn autodiff(self) -> Self {
        let device = self.device().autodiff();
        self.to_device(&device)
    }

    /// [`Tensor::autodiff`] of a tensor.
    #[cfg(feature = "autodiff")]
    pub fn from_inner(inner: Tensor<D, K>) -> Self {
        inner.autodiff()
    }

    /// What the tape keeps of values made with this tensor; `None` on a device without a tape.
    #[cfg(feature = "autodiff")]
    pub fn gradient_checkpointing_strategy(&self) -> Option<GradientCheckpointingStrategy> {
        self.device().gradient_checkpointing_strategy()
    }

    /// The same tensor, at the same place of its tape, with another say in what the tape keeps of values made with it. An
    /// instruction checkpoints if one of its operands asks for that.
    ///
    /// # Panics
    /// On a device without a tape.
    #[cfg(feature = "autodiff")]
    #[track_caller]
    pub fn with_gradient_checkpointing_strategy(
        self,
        strategy: GradientCheckpointingStrategy,
    ) -> Self {
        let device = self
            .device()
            .with_strategy("with_gradient_checkpointing_strategy", strategy);
        self.to_device(&device)
    }

    /// Whether the tensor lives on an autodiff device.
    pub fn is_autodiff(&self) -> bool {
        self.handle.device().level() > 0
    }
}

impl<const D: usize> Tensor<D, Float> {
    /// The tensor as a leaf of the tape, for which gradients are collected. A leaf as it is.
    ///
    /// A quantized tensor stays a constant: rounding has no gradient.
    ///
    /// # Panics
    /// On a device without a tape, and for a tensor that is on the tape as a result.
    #[track_caller]
    pub fn require_grad(self) -> Self {
        Self::new(leaf(self.handle))
    }

    /// With `true`, as [`Tensor::require_grad`]; with `false`, the tensor without its place on the tape.
    #[track_caller]
    pub fn set_require_grad(self, require_grad: bool) -> Self {
        match require_grad {
            true => self.require_grad(),
            false => Self::new(gradients::detach(self.handle)),
        }
    }

    /// Whether the tensor is a leaf, for which gradients are collected.
    pub fn is_require_grad(&self) -> bool {
        gradients::is_leaf(&self.handle)
    }

    /// Whether gradients flow to the tensor.
    pub fn is_tracked(&self) -> bool {
        gradients::is_tracked(&self.handle)
    }

    /// The tensor without what it was made of; a leaf becomes a new leaf.
    pub fn detach(self) -> Self {
        let is_leaf = self.is_require_grad();
        self.set_require_grad(false).leaf_if(is_leaf)
    }

    fn leaf_if(self, is_leaf: bool) -> Self {
        if is_leaf { self.require_grad() } else { self }
    }
}

#[track_caller]
fn leaf(tensor: Handle) -> Handle {
    if gradients::is_leaf(&tensor) || emit::dtype(&tensor).is_quantized() {
        return tensor;
    }
    let device = tensor.device();
    assert!(
        !gradients::is_tracked(&tensor),
        "`require_grad`: the tensor is already on a tape as a result, and gradients flow through it\n  legal: a tensor that is not tracked; `detach` it first to make it a leaf"
    );
    match gradients::require_grad(tensor) {
        Some(leaf) => leaf,
        None => panic!(
            "`require_grad`: the tensor lives on {device}, which records no tape\n  legal: a tensor of an autodiff device; make it with `device.autodiff()`"
        ),
    }
}

#[cfg(feature = "autodiff")]
pub use with_tapes::Gradients;

#[cfg(feature = "autodiff")]
mod with_tapes {
    use crate::Tensor;
    use burn_dispatch::{Handle, autodiff};

    /// The gradients of one tensor with respect to the leaves it was made of.
    #[derive(Debug)]
    pub struct Gradients(autodiff::Gradients);

    impl<const D: usize> Tensor<D> {
        /// The gradients of the sum of the elements with respect to the leaves that the tensor was made of.
        ///
        /// Consumes the tape.
        ///
        /// # Panics
        /// If the tensor is on no tape, or part of the tape was consumed before.
        #[track_caller]
        pub fn backward(&self) -> Gradients {
            backward(&self.handle, false)
        }

        /// The gradients of the sum of the elements, themselves on the tape, so that they can be differentiated again.
        ///
        /// Leaves the tape.
        ///
        /// # Panics
        /// If the tensor is on no tape, or part of the tape was consumed before.
        #[track_caller]
        pub fn backward_create_graph(&self) -> Gradients {
            backward(&self.handle, true)
        }

        /// The gradient for this leaf, on the device below the tape.
        pub fn grad(&self, grads: &Gradients) -> Option<Tensor<D>> {
            grads.0.get(&self.handle).cloned().map(Tensor::new)
        }

        /// Takes the gradient for this leaf.
        pub fn grad_remove(&self, grads: &mut Gradients) -> Option<Tensor<D>> {
            grads.0.remove(&self.handle).map(Tensor::new)
        }

        /// Replaces the gradient for this leaf.
        ///
        /// # Panics
        /// If the tensor is on no tape.
        #[track_caller]
        pub fn grad_replace(&self, grads: &mut Gradients, grad: Tensor<D>) {
            if grads.0.insert(&self.handle, grad.inner().handle).is_err() {
                panic!(
                    "`grad_replace`: the tensor is on no tape\n  legal: a tensor with `require_grad`"
                );
            }
        }
    }

    #[track_caller]
    fn backward(root: &Handle, create_graph: bool) -> Gradients {
        match autodiff::backward(root, create_graph) {
            Ok(gradients) => Gradients(gradients),
            Err(error) => panic!("{error}"),
        }
    }
}
