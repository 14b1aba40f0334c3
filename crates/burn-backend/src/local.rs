//! Any backend as an engine: unwraps on the way in, wraps on the way out.

use crate::{AnyTensor, Backend, Device, Engine, Handle, MemoryPoolUsage, SlicedPoolReport};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use burn_ir::{Checked, Described, Outputs, TensorMeta};
use burn_std::sync::Once;
use burn_std::{DType, DeviceError, DeviceSettings, DynFut, ExecutionError, TensorData};

/// A backend on one of its devices.
#[derive(Debug)]
pub struct Local<B: Backend> {
    device: B::Device,
    name: String,
    fusing: Once<Device>,
    unfused: Once<Device>,
    /// What new tensors are made of; fixed when it is first asked for.
    settings: Once<DeviceSettings>,
}

impl<B: Backend> Local<B> {
    /// The engine of a backend on a device. Whoever registers it keeps it one of a kind.
    pub fn new(device: B::Device) -> Self {
        Self {
            name: B::name(&device),
            device,
            fusing: Once::new(),
            unfused: Once::new(),
            settings: Once::new(),
        }
    }

    /// This engine, for the whole program. It and the one that fuses on its device name each other.
    pub fn paired<F: Backend>(mut self, fusing: Local<F>) -> Device {
        self.name.push_str(":unfused");
        let (unfused, fusing): (&'static Self, &'static Local<F>) =
            (Box::leak(Box::new(self)), Box::leak(Box::new(fusing)));
        let device = Device::new(unfused);
        unfused.fusing.call_once(|| Device::new(fusing));
        fusing.unfused.call_once(|| device);
        device
    }

    /// The backend's own tensor as one of this engine.
    pub fn wrap(&'static self, tensor: B::Tensor) -> Handle {
        Handle::new(Held::<B> {
            tensor,
            engine: self,
        })
    }
}

/// A backend's tensor with the engine that made it.
#[derive(Debug)]
struct Held<B: Backend> {
    tensor: B::Tensor,
    engine: &'static Local<B>,
}

impl<B: Backend> Clone for Held<B> {
    fn clone(&self) -> Self {
        Self {
            tensor: self.tensor.clone(),
            engine: self.engine,
        }
    }
}

impl<B: Backend> AnyTensor for Held<B> {
    fn meta(&self) -> &TensorMeta {
        self.tensor.meta()
    }

    fn device(&self) -> Device {
        Device::new(self.engine)
    }

    fn can_mut(&self) -> bool {
        B::can_mut(&self.tensor)
    }
}

impl<B: Backend> Engine for Local<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn fusing(&self) -> Option<Device> {
        self.fusing.get().copied()
    }

    fn unfused(&self) -> Option<Device> {
        self.unfused.get().copied()
    }

    fn settings(&self) -> DeviceSettings {
        *self.settings.call_once(|| B::settings(&self.device))
    }

    fn default_settings(&self) -> DeviceSettings {
        self.settings
            .get()
            .copied()
            .unwrap_or_else(|| B::settings(&self.device))
    }

    fn configure(&self, settings: DeviceSettings) -> Result<(), DeviceError> {
        let asked: [DType; 3] = [
            settings.float_dtype.into(),
            settings.int_dtype.into(),
            settings.bool_dtype.into(),
        ];
        for dtype in asked {
            if !B::supports_dtype(&self.device, dtype) {
                return Err(DeviceError::unsupported_dtype(&self.name, dtype));
            }
        }
        match *self.settings.call_once(|| settings) == settings {
            true => Ok(()),
            false => Err(DeviceError::already_initialized(&self.name)),
        }
    }

    fn supports_dtype(&self, dtype: DType) -> bool {
        B::supports_dtype(&self.device, dtype)
    }

    fn run(&'static self, operation: Checked<Handle>) -> Outputs<Handle> {
        let outputs = B::receive(&self.device, operation, &mut |tensor| {
            tensor.expect::<Held<B>>().tensor
        });
        outputs.map(|tensor| self.wrap(tensor))
    }

    fn upload(&'static self, data: TensorData) -> Handle {
        self.wrap(B::upload(&self.device, data))
    }

    fn download(
        &'static self,
        tensors: Vec<Handle>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
        let tensors = tensors
            .into_iter()
            .map(|tensor| tensor.expect::<Held<B>>().tensor)
            .collect();
        B::download(&self.device, tensors)
    }

    fn sync(&self) -> Result<(), ExecutionError> {
        B::sync(&self.device)
    }

    fn flush(&self) -> Result<(), ExecutionError> {
        B::flush(&self.device)
    }

    fn seed(&self, seed: u64) {
        B::seed(&self.device, seed);
    }

    fn memory_usage(&self) -> Option<MemoryPoolUsage> {
        B::memory_usage(&self.device)
    }

    fn memory_report(&self) -> Option<Vec<SlicedPoolReport>> {
        B::memory_report(&self.device)
    }

    fn memory_cleanup(&self) {
        B::memory_cleanup(&self.device);
    }
}

impl<B: Backend> Local<B> {
    /// The backend's own device.
    pub fn device(&self) -> &B::Device {
        &self.device
    }

    /// The backend's own tensor behind a handle, if this engine made it.
    pub fn tensor(handle: &Handle) -> Option<&B::Tensor> {
        handle.get::<Held<B>>().map(|held| &held.tensor)
    }
}
