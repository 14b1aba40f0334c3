//! Operations with a gradient of the user's own. Taking gradients is in the methods of [`Tensor`].

use crate::{DynTensor, Tensor};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_dispatch::autodiff::{self, Pulled};

/// What a gradient of one's own is made of: tensors below the tape, or on it if the backward pass is recorded, so that
/// gradients of gradients flow through what is computed from them.
#[derive(Debug)]
pub struct Pullback<const D: usize> {
    /// The inputs of the operation.
    pub inputs: Vec<DynTensor>,
    /// What it made of them.
    pub output: Tensor<D>,
    /// The gradient for the output.
    pub grad: Tensor<D>,
}

/// The output of an operation with a gradient of its own.
///
/// `forward` gets the inputs without their tape, and may compute its output in whatever way. `pullback` gives a gradient
/// for each input, or `None` where none flows; it runs in each backward pass through the operation. Where no gradient
/// is wanted, this is `forward` alone. With gradient checkpointing, inputs and output are kept.
///
/// # Panics
/// If inputs live on different devices; in a backward pass, if a gradient has another shape or element type than its input.
///
/// # Examples
/// Rounding that lets gradients through as they are:
///
/// ```
/// use burn_tensor::{Device, Float, Tensor, autodiff};
///
/// let device = Device::flex().autodiff();
/// let x = Tensor::<1>::from_data([0.4, 1.6], &device).require_grad();
/// let y: Tensor<1> = autodiff::custom(
///     "round_through",
///     vec![x.clone().into()],
///     |mut inputs| inputs.remove(0).into_rank::<1, Float>().unwrap().round(),
///     |it| vec![Some(it.grad.into())],
/// );
/// let grads = (y * 3.0).backward();
/// assert_eq!(x.grad(&grads).unwrap().into_data(), [3.0f32, 3.0].into());
/// ```
#[track_caller]
pub fn custom<const D: usize, F, P>(
    name: &'static str,
    inputs: Vec<DynTensor>,
    forward: F,
    pullback: P,
) -> Tensor<D>
where
    F: FnOnce(Vec<DynTensor>) -> Tensor<D>,
    P: Fn(Pullback<D>) -> Vec<Option<DynTensor>> + Send + Sync + 'static,
{
    let inputs = inputs.into_iter().map(|input| input.0).collect();
    let forward = |inputs: Vec<_>| forward(inputs.into_iter().map(DynTensor).collect()).handle;
    let pullback = move |pulled: Pulled| {
        let grads = pullback(Pullback {
            inputs: pulled.operands.into_iter().map(DynTensor).collect(),
            output: Tensor::new(pulled.output),
            grad: Tensor::new(pulled.grad),
        });
        grads.into_iter().map(|grad| grad.map(|it| it.0)).collect()
    };
    Tensor::new(autodiff::custom(
        name,
        inputs,
        Box::new(forward),
        Arc::new(pullback),
    ))
}
