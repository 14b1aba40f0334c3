//! Tensors from device to device.

use burn_backend::{Device, Handle};
use burn_std::{DynFut, ExecutionError};
use core::fmt;

/// Brings a tensor to a device.
///
/// Between layers of one device this costs nothing: layers are taken off or put on. Between devices the data goes
/// through the host; gradients of a tensor of a tape flow back the same way if the target has a tape.
///
/// # Errors
/// If the tensor cannot be read, or if it is part of a tape and the target is another device without one.
pub fn transfer(tensor: Handle, device: Device) -> Result<Handle, TransferError> {
    let source = tensor.device();
    if source == device {
        return Ok(tensor);
    }
    if source.base() == device.base() {
        return Ok(lift(lower(tensor, device.level()), device));
    }
    if source.is_tracked(&tensor) {
        #[cfg(feature = "autodiff")]
        if let Some(carried) = burn_autodiff::carry(&tensor, device) {
            return carried.map_err(TransferError::Read);
        }
        return Err(TransferError::Tracked {
            source,
            target: device,
        });
    }
    let data = read(lower(tensor, 0)).map_err(TransferError::Read)?;
    let dtype = data.dtype();
    // What quantized elements stand for can be had everywhere.
    let data = match dtype.is_quantized() && !device.supports_dtype(dtype) {
        true => data.convert_dtype(device.settings().float_dtype.into()),
        false => data,
    };
    Ok(device.upload(data))
}

/// Takes layers off down to a level.
pub(crate) fn lower(mut tensor: Handle, level: u32) -> Handle {
    while tensor.device().level() > level {
        let device = tensor.device();
        tensor = device.inner(tensor);
    }
    tensor
}

/// Puts layers on up to those of `device`.
fn lift(tensor: Handle, device: Device) -> Handle {
    match device.below() {
        Some(below) if tensor.device() != device => device.lift(lift(tensor, below)),
        _ => tensor,
    }
}

/// Reads one tensor, waiting for it.
fn read(tensor: Handle) -> Result<burn_std::TensorData, ExecutionError> {
    let reading: DynFut<_> = tensor.device().download(alloc::vec![tensor]);
    let mut data = burn_std::read_sync(reading)?;
    data.pop()
        .ok_or_else(|| ExecutionError::generic("a device returned no data for a tensor"))
}

/// Why a tensor did not reach a device.
#[derive(Debug)]
pub enum TransferError {
    /// It could not be read.
    Read(ExecutionError),
    /// It is part of a tape, and the target has none, or there are tapes over tapes.
    Tracked {
        /// Where it is.
        source: Device,
        /// Where it should go.
        target: Device,
    },
}

impl core::error::Error for TransferError {}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "`to_device`: the tensor cannot be read: {error}"),
            Self::Tracked { source, target } => write!(
                f,
                "`to_device`: gradients do not flow from {source} to {target}\n  legal: a target with a tape, as `device.autodiff()` is; `detach` or `inner` first; or a move before `require_grad`"
            ),
        }
    }
}
