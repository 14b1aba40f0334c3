//! A device with its interpreter, their types forgotten.

use crate::{Emit, Handle, MemoryPoolUsage, SlicedPoolReport};
use alloc::vec::Vec;
use burn_ir::{Checked, Outputs};
use burn_std::{DType, DeviceError, DeviceSettings, DynFut, ExecutionError, TensorData};
use core::any::Any;
use core::fmt::{self, Debug};
use core::hash::{Hash, Hasher};

/// An interpreter of instructions over [`Handle`]s: level 0 executes, level `n` transforms and sends on.
///
/// Engines live as long as the program, so that a [`Device`] is a copyable address and no thread ever touches a
/// shared count to name one.
pub trait Engine: Any + Debug + Send + Sync {
    /// The device's name in errors and prints.
    fn name(&self) -> &str;

    /// The engine that this one sends to, for a layer.
    fn below(&self) -> Option<Device> {
        None
    }

    /// The engine that executes on the same device and runs groups of instructions as one kernel, if there is one.
    fn fusing(&self) -> Option<Device> {
        None
    }

    /// The engine that executes on the same device and runs each instruction when it is called, for one that fuses.
    fn unfused(&self) -> Option<Device> {
        None
    }

    /// The element types of new tensors, fixed from now on.
    fn settings(&self) -> DeviceSettings;

    /// The element types of new tensors, which may still change.
    fn default_settings(&self) -> DeviceSettings {
        match self.below() {
            Some(below) => below.default_settings(),
            None => self.settings(),
        }
    }

    /// Chooses the element types of new tensors, before the first one is made.
    ///
    /// # Errors
    /// If the device lacks one of them, or has made a tensor of others.
    fn configure(&self, settings: DeviceSettings) -> Result<(), DeviceError> {
        match self.below() {
            Some(below) => below.configure(settings),
            None if self.settings() == settings => Ok(()),
            None => Err(DeviceError::already_initialized(self.name())),
        }
    }

    /// Whether the device computes with elements of `dtype`.
    fn supports_dtype(&self, dtype: DType) -> bool;

    /// Runs an instruction. Its operands are of this engine, or of one below it.
    fn run(&'static self, operation: Checked<Handle>) -> Outputs<Handle>;

    /// Brings data to the device.
    fn upload(&'static self, data: TensorData) -> Handle;

    /// Takes in a tensor of the engine below, for a layer; as it is for an engine that executes.
    fn lift(&'static self, tensor: Handle) -> Handle {
        tensor
    }

    /// Gives out the tensor of the engine below, for a layer; as it is for an engine that executes.
    fn inner(&'static self, tensor: Handle) -> Handle {
        tensor
    }

    /// Whether gradients flow to the tensor, on some layer.
    fn is_tracked(&self, _tensor: &Handle) -> bool {
        false
    }

    /// Brings tensors of this engine back, in order.
    fn download(
        &'static self,
        tensors: Vec<Handle>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>>;

    /// Waits for all instructions.
    ///
    /// # Errors
    /// What went wrong on the device since the last wait.
    fn sync(&self) -> Result<(), ExecutionError>;

    /// Starts all instructions that wait, and returns before they are done.
    ///
    /// # Errors
    /// What the device refused.
    fn flush(&self) -> Result<(), ExecutionError> {
        self.below().map_or(Ok(()), |below| below.flush())
    }

    /// Restarts the generator of random numbers.
    fn seed(&self, seed: u64);

    /// What the device's memory holds, if it manages memory of its own.
    fn memory_usage(&self) -> Option<MemoryPoolUsage> {
        self.below()?.memory_usage()
    }

    /// The pools that cut buffers from pages, if the device manages memory of its own.
    fn memory_report(&self) -> Option<Vec<SlicedPoolReport>> {
        self.below()?.memory_report()
    }

    /// Gives memory that is kept for later back, where that is possible.
    fn memory_cleanup(&self) {
        if let Some(below) = self.below() {
            below.memory_cleanup();
        }
    }
}

/// A device. Two are equal if they are the same engine.
#[derive(Clone, Copy)]
pub struct Device(&'static dyn Engine);

impl Device {
    /// The device of an engine.
    pub fn new(engine: &'static dyn Engine) -> Self {
        Self(engine)
    }

    /// The number of layers between this device and the one that executes.
    pub fn level(self) -> u32 {
        self.below().map_or(0, |below| below.level() + 1)
    }

    /// The device that executes, under all layers.
    pub fn base(self) -> Self {
        self.below().map_or(self, Self::base)
    }

    /// The engine, if it is a `T`.
    pub fn get<T: Engine>(self) -> Option<&'static T> {
        let any: &'static dyn Any = self.0;
        any.downcast_ref()
    }
}

impl core::ops::Deref for Device {
    type Target = &'static dyn Engine;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Emit for Device {
    type Tensor = Handle;

    #[inline]
    fn emit(&mut self, operation: Checked<Handle>) -> Outputs<Handle> {
        self.run(operation)
    }
}

impl PartialEq for Device {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        core::ptr::addr_eq(self.0, other.0)
    }
}

impl Eq for Device {}

impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        core::ptr::from_ref(self.0).cast::<()>().hash(state);
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
