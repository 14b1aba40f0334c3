//! Tensors of a tape that change their device: their gradients take the way back.

use crate::engine::Autodiff;
use crate::tape::{Entry, Node, Operand, Source, Step};
use crate::tensor::{AdTensor, Place};
use alloc::boxed::Box;
use alloc::vec;
use burn_backend::{Device, Handle};
use burn_ir::Described;
use burn_std::ExecutionError;

/// A tensor that came from another device, on the tape.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) operand: Operand,
    pub(crate) from: &'static Autodiff,
}

/// The tensor on another device with a tape, where gradients flow on from. `None` if it is on no tape, or is on several.
///
/// # Errors
/// If its elements cannot be read.
pub fn carry(tensor: &Handle, to: Device) -> Option<Result<Handle, ExecutionError>> {
    let to = to.get::<Autodiff>()?;
    let tensor = tensor.get::<AdTensor>()?;
    let plain = |layer: &Autodiff| layer.level() == 1;
    let carries = tensor.is_tracked() && plain(tensor.engine) && plain(to);
    carries.then(|| over(tensor, to))
}

fn over(tensor: &AdTensor, to: &'static Autodiff) -> Result<Handle, ExecutionError> {
    let operand = Operand {
        meta: tensor.meta().clone(),
        saved: None,
        source: tensor.place.source().cloned(),
    };
    let entry = Entry::Carried(Box::new(Carried {
        operand,
        from: tensor.engine,
    }));
    let node = Node::new(Step::Open(entry));
    Ok(Handle::new(AdTensor {
        place: Place::On(Source { node, output: 0 }),
        ..AdTensor::constant(moved(&tensor.inner, to.below())?, to)
    }))
}

fn moved(tensor: &Handle, to: Device) -> Result<Handle, ExecutionError> {
    let reading = tensor.device().download(vec![tensor.clone()]);
    let data = burn_std::read_sync(reading)?.pop();
    let data = data.ok_or_else(|| ExecutionError::generic("a device returned no data"))?;
    Ok(to.upload(data))
}

impl Carried {
    /// A gradient on the way back, recorded if it is on a tape itself.
    pub(crate) fn back(&self, grad: &Handle) -> Result<Handle, ExecutionError> {
        match grad.get::<AdTensor>() {
            Some(grad) if grad.is_tracked() => over(grad, self.from),
            Some(grad) => {
                let inner = moved(&grad.inner, self.from.below())?;
                Ok(Handle::new(AdTensor::constant(inner, self.from)))
            }
            None => moved(grad, self.from.below()),
        }
    }
}
