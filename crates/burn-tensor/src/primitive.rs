//! A backend's own tensor out of a [`Tensor`] and back, for kernels that are written for one backend.

use crate::kind::Basic;
use crate::{Device, DynTensor, Tensor};
use alloc::format;
use alloc::string::String;
use burn_backend::{Backend, Local};
use core::any::type_name;
use core::fmt;

/// Why a tensor is none of a backend's, or a backend's tensor is not of the type asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrimitiveConversionError {
    /// The device of the tensor belongs to another backend.
    BackendMismatch(String),
    /// The tensor is of another kind or rank.
    KindMismatch(String),
}

impl core::error::Error for PrimitiveConversionError {}

impl fmt::Display for PrimitiveConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::BackendMismatch(reason) | Self::KindMismatch(reason)) = self;
        f.write_str(reason)
    }
}

/// The device under fusion, whose tensors have been computed.
fn executing(device: Device) -> Device {
    device.0.unfused().map_or(device, Device)
}

fn other_backend<B: Backend>(device: Device) -> PrimitiveConversionError {
    let advice = match device.is_autodiff() {
        true => "\n  legal: what `inner` gives, on the device under the tape",
        false => "",
    };
    PrimitiveConversionError::BackendMismatch(format!(
        "{device:?} does not run on {}{advice}",
        type_name::<B>()
    ))
}

impl DynTensor {
    /// The backend's own tensor. On a device that fuses, what leads to it is computed.
    ///
    /// # Errors
    /// If the device of the tensor is none of `B`; a device with a tape is none.
    pub fn try_into_primitive<B: Backend>(self) -> Result<B::Tensor, PrimitiveConversionError> {
        let device = executing(self.device());
        if device.0.get::<Local<B>>().is_none() {
            return Err(other_backend::<B>(self.device()));
        }
        let moved = burn_dispatch::transfer(self.0, device.0)
            .map_err(|error| PrimitiveConversionError::BackendMismatch(format!("{error}")))?;
        let tensor = Local::<B>::tensor(&moved).cloned();
        tensor.ok_or_else(|| other_backend::<B>(device))
    }

    /// The tensor of a backend as one of a device.
    ///
    /// # Errors
    /// If `device` is none of `B`; a device with a tape is none.
    pub fn try_from_primitive<B: Backend>(
        tensor: B::Tensor,
        device: &Device,
    ) -> Result<Self, PrimitiveConversionError> {
        match executing(device.clone()).0.get::<Local<B>>() {
            Some(engine) => burn_dispatch::transfer(engine.wrap(tensor), device.0)
                .map(Self)
                .map_err(|error| PrimitiveConversionError::BackendMismatch(format!("{error}"))),
            None => Err(other_backend::<B>(device.clone())),
        }
    }
}

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// The backend's own tensor, as [`DynTensor::try_into_primitive`].
    ///
    /// # Errors
    /// If the device of the tensor is none of `B`; a device with a tape is none.
    pub fn try_into_primitive<B: Backend>(self) -> Result<B::Tensor, PrimitiveConversionError> {
        self.into_dyn().try_into_primitive::<B>()
    }

    /// The tensor of a backend as one of a device, as [`DynTensor::try_from_primitive`].
    ///
    /// # Errors
    /// If `device` is none of `B`, or the tensor is of another kind or rank than the type says.
    pub fn try_from_primitive<B: Backend>(
        tensor: B::Tensor,
        device: &Device,
    ) -> Result<Self, PrimitiveConversionError> {
        let tensor = DynTensor::try_from_primitive::<B>(tensor, device)?;
        tensor
            .into_rank()
            .map_err(|error| PrimitiveConversionError::KindMismatch(format!("{error}")))
    }
}
