//! Tensors that may still wait for their instruction to run.

use alloc::sync::Arc;
use burn_backend::Backend;
use burn_ir::{Described, Operation, TensorMeta};
use core::fmt::{self, Debug};

/// A tensor of a fusing backend, there already or waiting.
pub struct FusionTensor<B: Backend>(pub(crate) Kind<B>);

pub(crate) enum Kind<B: Backend> {
    /// There from the start.
    Ready { id: usize, tensor: B::Tensor },
    /// Made by an instruction that waited, and may wait still.
    Lazy(Arc<Cell<B>>),
}

pub(crate) struct Cell<B: Backend> {
    /// Grows in the order of creation, so that operands have smaller ids than what is made of them.
    pub(crate) id: usize,
    pub(crate) meta: TensorMeta,
    state: burn_std::sync::Mutex<State<B>>,
}

enum State<B: Backend> {
    Waiting(Arc<Waiting<B>>),
    /// A group that makes the value is running, and its operands may be gone.
    Running,
    Ready(B::Tensor),
    /// The group that was to make the value panicked.
    Failed,
}

pub(crate) struct Waiting<B: Backend> {
    pub(crate) operation: Operation<FusionTensor<B>>,
    /// At least the number of instructions that would run for this one.
    pub(crate) weight: usize,
}

impl<B: Backend> Cell<B> {
    pub(crate) fn new(id: usize, meta: TensorMeta, waiting: Waiting<B>) -> Arc<Self> {
        Arc::new(Self {
            id,
            meta,
            state: burn_std::sync::Mutex::new(State::Waiting(Arc::new(waiting))),
        })
    }

    pub(crate) fn waiting(&self) -> Option<Arc<Waiting<B>>> {
        match &*self.state.lock() {
            State::Waiting(waiting) => Some(waiting.clone()),
            _ => None,
        }
    }

    /// Whether the value is on its way, on another thread.
    ///
    /// # Panics
    /// If it will never come.
    pub(crate) fn is_running(&self) -> bool {
        match &*self.state.lock() {
            State::Running => true,
            State::Failed => panic!("the kernel that makes {} panicked before", self.meta),
            State::Waiting(_) | State::Ready(_) => false,
        }
    }

    /// Takes the instruction out, so that its operands can go before it runs; none if it waits no longer.
    pub(crate) fn begin(&self) -> Option<Arc<Waiting<B>>> {
        let mut state = self.state.lock();
        match core::mem::replace(&mut *state, State::Running) {
            State::Waiting(waiting) => Some(waiting),
            other => {
                *state = other;
                None
            }
        }
    }

    /// Puts an instruction back that was taken out.
    pub(crate) fn postpone(&self, waiting: Arc<Waiting<B>>) {
        *self.state.lock() = State::Waiting(waiting);
    }

    pub(crate) fn fulfil(&self, tensor: B::Tensor) {
        let before = core::mem::replace(&mut *self.state.lock(), State::Ready(tensor));
        // Frees the operands after the lock is gone: their own locks may be taken then.
        drop(before);
    }

    /// The value, if it is there.
    fn value(&self) -> Option<B::Tensor> {
        match &*self.state.lock() {
            State::Ready(tensor) => Some(tensor.clone()),
            _ => None,
        }
    }

    /// Says that the value will never come, unless it is there.
    pub(crate) fn fail(&self) {
        let mut state = self.state.lock();
        if matches!(*state, State::Running) {
            *state = State::Failed;
        }
    }
}

impl<B: Backend> FusionTensor<B> {
    pub(crate) fn ready(id: usize, tensor: B::Tensor) -> Self {
        Self(Kind::Ready { id, tensor })
    }

    pub(crate) fn id(&self) -> usize {
        match &self.0 {
            Kind::Ready { id, .. } => *id,
            Kind::Lazy(cell) => cell.id,
        }
    }

    pub(crate) fn waiting(&self) -> Option<Arc<Waiting<B>>> {
        match &self.0 {
            Kind::Ready { .. } => None,
            Kind::Lazy(cell) => cell.waiting(),
        }
    }

    /// The value, or the cell that it is still missing in.
    pub(crate) fn into_ready(self) -> Result<B::Tensor, Arc<Cell<B>>> {
        let cell = match self.0 {
            Kind::Ready { tensor, .. } => return Ok(tensor),
            Kind::Lazy(cell) => cell,
        };
        let Some(value) = cell.value() else {
            return Err(cell);
        };
        // The last owner's cell goes before its value is used, which is then the value's last owner.
        drop(cell);
        Ok(value)
    }

    /// Whether the storage may be overwritten by whoever takes this tensor.
    pub(crate) fn can_mut(&self) -> bool {
        match &self.0 {
            Kind::Ready { tensor, .. } => B::can_mut(tensor),
            Kind::Lazy(cell) => Arc::strong_count(cell) == 1,
        }
    }
}

impl<B: Backend> Clone for FusionTensor<B> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Kind::Ready { id, tensor } => Kind::Ready {
                id: *id,
                tensor: tensor.clone(),
            },
            Kind::Lazy(cell) => Kind::Lazy(cell.clone()),
        })
    }
}

impl<B: Backend> Described for FusionTensor<B> {
    fn meta(&self) -> &TensorMeta {
        match &self.0 {
            Kind::Ready { tensor, .. } => tensor.meta(),
            Kind::Lazy(cell) => &cell.meta,
        }
    }
}

impl<B: Backend> Debug for FusionTensor<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FusionTensor({}: {})", self.id(), self.meta())
    }
}
