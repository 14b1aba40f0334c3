//! Tensors that may still wait for their instruction to run.

use alloc::sync::Arc;
use burn_backend::Backend;
use burn_ir::{Described, Operation, TensorMeta};
use core::fmt::{self, Debug};

/// A tensor of a fusing backend, there already or waiting.
pub struct FusionTensor<B: Backend>(pub(crate) Arc<Cell<B>>);

pub(crate) struct Cell<B: Backend> {
    /// Grows in the order of creation, so that operands have smaller ids than what is made of them.
    pub(crate) id: usize,
    pub(crate) meta: TensorMeta,
    state: burn_std::sync::Mutex<State<B>>,
}

pub(crate) enum State<B: Backend> {
    Ready(B::Tensor),
    Waiting(Arc<Waiting<B>>),
}

pub(crate) struct Waiting<B: Backend> {
    pub(crate) operation: Operation<FusionTensor<B>>,
    /// At least the number of instructions that would run for this one.
    pub(crate) weight: usize,
}

impl<B: Backend> FusionTensor<B> {
    pub(crate) fn new(id: usize, meta: TensorMeta, state: State<B>) -> Self {
        Self(Arc::new(Cell {
            id,
            meta,
            state: burn_std::sync::Mutex::new(state),
        }))
    }

    pub(crate) fn waiting(&self) -> Option<Arc<Waiting<B>>> {
        match &*self.0.state.lock() {
            State::Ready(_) => None,
            State::Waiting(waiting) => Some(waiting.clone()),
        }
    }

    /// The value, if it is there. Moved out if this was the last owner, so that its storage can be reused.
    pub(crate) fn into_ready(self) -> Result<B::Tensor, Self> {
        match Arc::try_unwrap(self.0) {
            Ok(cell) => match cell.state.into_inner() {
                State::Ready(tensor) => Ok(tensor),
                state => Err(Self::new(cell.id, cell.meta, state)),
            },
            Err(shared) => {
                let ready = match &*shared.state.lock() {
                    State::Ready(tensor) => Some(tensor.clone()),
                    State::Waiting(_) => None,
                };
                ready.ok_or(Self(shared))
            }
        }
    }

    pub(crate) fn fulfil(&self, tensor: B::Tensor) {
        let before = core::mem::replace(&mut *self.0.state.lock(), State::Ready(tensor));
        // Frees the operands after the lock is gone: their own locks may be taken then.
        drop(before);
    }
}

impl<B: Backend> Clone for FusionTensor<B> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Backend> Described for FusionTensor<B> {
    fn meta(&self) -> &TensorMeta {
        &self.0.meta
    }
}

impl<B: Backend> Debug for FusionTensor<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FusionTensor({}: {})", self.0.id, self.0.meta)
    }
}
