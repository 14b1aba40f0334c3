//! The traits of optimizers: [`Optimizer`], which you write, and [`DynOptimizer`], which can be
//! a trait object.

use alloc::boxed::Box;
use core::any::Any;

use burn_core::tensor::{Device, Tensor};

use crate::{DynState, LearningRate, ModuleOptimizer, RecordState, StateSink, StateSource};

/// A rule that improves one parameter by its gradient.
pub trait Optimizer: Send + Sync + Clone + 'static {
    /// What the rule remembers about a parameter.
    type State<const D: usize>: Clone + RecordState;

    /// The parameter after a step, and the state for the next one.
    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<Self::State<D>>,
    ) -> (Tensor<D>, Option<Self::State<D>>);

    /// The state on another device.
    fn to_device<const D: usize>(state: Self::State<D>, device: &Device) -> Self::State<D>;
}

/// An [`Optimizer`] of any type.
pub trait DynOptimizer: Send + Sync {
    /// Writes a state that this optimizer made.
    fn state_flatten(&self, prefix: &str, state: &DynState, sink: &mut StateSink);

    /// Reads a state that this optimizer can go on from.
    fn state_unflatten(
        &self,
        rank: usize,
        prefix: &str,
        source: &mut StateSource,
        device: &Device,
    ) -> Option<DynState>;

    /// A state that this optimizer made, on another device.
    fn to_device_dyn(&self, state: DynState, device: &Device) -> DynState;

    /// [`Optimizer::step`]; the tensors are `Tensor<rank>` in a box.
    #[doc(hidden)]
    fn step_dyn(
        &self,
        rank: usize,
        lr: LearningRate,
        tensor: Box<dyn Any>,
        grad: Box<dyn Any>,
        state: Option<DynState>,
    ) -> (Box<dyn Any>, Option<DynState>);
}

/// Calls a function with the rank as a constant.
macro_rules! with_rank {
    ($rank:expr, $function:ident($($argument:expr),*)) => {
        match $rank {
            1 => $function::<O, 1>($($argument),*),
            2 => $function::<O, 2>($($argument),*),
            3 => $function::<O, 3>($($argument),*),
            4 => $function::<O, 4>($($argument),*),
            5 => $function::<O, 5>($($argument),*),
            6 => $function::<O, 6>($($argument),*),
            7 => $function::<O, 7>($($argument),*),
            8 => $function::<O, 8>($($argument),*),
            rank => panic!("an optimizer takes parameters of 1 to 8 dimensions, not {rank}"),
        }
    };
}

impl<O: Optimizer> DynOptimizer for O {
    fn state_flatten(&self, prefix: &str, state: &DynState, sink: &mut StateSink) {
        with_rank!(state.rank(), flatten(prefix, state, sink))
    }

    fn state_unflatten(
        &self,
        rank: usize,
        prefix: &str,
        source: &mut StateSource,
        device: &Device,
    ) -> Option<DynState> {
        with_rank!(rank, unflatten(prefix, source, device))
    }

    fn to_device_dyn(&self, state: DynState, device: &Device) -> DynState {
        with_rank!(state.rank(), to_device(state, device))
    }

    fn step_dyn(
        &self,
        rank: usize,
        lr: LearningRate,
        tensor: Box<dyn Any>,
        grad: Box<dyn Any>,
        state: Option<DynState>,
    ) -> (Box<dyn Any>, Option<DynState>) {
        with_rank!(rank, step(self, lr, tensor, grad, state))
    }
}

fn flatten<O: Optimizer, const D: usize>(prefix: &str, state: &DynState, sink: &mut StateSink) {
    state
        .downcast_ref::<O::State<D>>()
        .state_flatten(prefix, sink);
}

fn unflatten<O: Optimizer, const D: usize>(
    prefix: &str,
    source: &mut StateSource,
    device: &Device,
) -> Option<DynState> {
    let state = O::State::<D>::state_unflatten(prefix, source, device)?;
    Some(DynState::create(state, D))
}

fn to_device<O: Optimizer, const D: usize>(state: DynState, device: &Device) -> DynState {
    DynState::create(O::to_device::<D>(state.downcast(), device), D)
}

fn step<O: Optimizer, const D: usize>(
    optimizer: &O,
    lr: LearningRate,
    tensor: Box<dyn Any>,
    grad: Box<dyn Any>,
    state: Option<DynState>,
) -> (Box<dyn Any>, Option<DynState>) {
    let (tensor, grad) = (unbox::<D>(tensor), unbox::<D>(grad));
    let (tensor, state) = optimizer.step(lr, tensor, grad, state.map(DynState::downcast));
    (
        Box::new(tensor),
        state.map(|state| DynState::create(state, D)),
    )
}

/// The tensor that [`DynOptimizer::step_dyn`] was given in a box.
pub(crate) fn unbox<const D: usize>(tensor: Box<dyn Any>) -> Tensor<D> {
    *tensor
        .downcast()
        .expect("the rank passed along is that of the tensor")
}

impl<O: Optimizer> From<O> for ModuleOptimizer {
    fn from(optimizer: O) -> Self {
        Self::new(optimizer)
    }
}
