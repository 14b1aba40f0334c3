//! Devices: where tensors live and instructions run. Choosing among several is in [`filter`], which engines a build has
//! in [`built_in`], their settings in [`config`], measurements in [`profile`].

mod built_in;
mod config;
mod filter;
mod profile;

pub use config::DeviceConfig;
pub use filter::{DeviceFilter, DeviceIndex, DeviceKind, DeviceType, Devices};
pub use profile::{ProfileDuration, ProfileOptions, ProfileTicks, TimingMethod};

use alloc::vec::Vec;
use burn_backend::{Device as Engine, MemoryPoolUsage, SlicedPoolReport};
#[cfg(feature = "autodiff")]
use burn_dispatch::autodiff::{GradientCheckpointingStrategy, Mode};
use burn_std::{DType, DeviceError, DeviceSettings, ExecutionError, TensorData};
use core::fmt;
use core::hash::{Hash, Hasher};

/// A device: where tensors live and instructions run.
///
/// Two devices are equal if the same engine executes for them: whether a tape is recorded makes no difference.
#[derive(Clone)]
pub struct Device(pub(crate) Engine);

impl Device {
    /// The recorder: nothing runs, everything is written down; see [`Device::capture_scope`].
    #[cfg(feature = "capture")]
    pub fn capture() -> Self {
        Self(burn_dispatch::registry::capture())
    }

    /// The same device, running groups of instructions as one kernel when their result is needed. A device without
    /// fusion, or with fusion already, is returned as it is.
    #[cfg(feature = "fusion")]
    pub fn fused(self) -> Self {
        self.over(burn_dispatch::registry::fused)
    }

    /// The same device, running each instruction when it is called. A device without fusion is returned as it is.
    ///
    /// `BURN_FUSION=0` or `enabled = false` in the section `[fusion]` of a `burn.toml` does this to all devices.
    #[cfg(feature = "fusion")]
    pub fn unfused(self) -> Self {
        self.over(burn_dispatch::registry::unfused)
    }

    /// Another device below the same tape.
    #[cfg(feature = "fusion")]
    fn over(self, other: fn(Engine) -> Engine) -> Self {
        let other = Self(other(self.0.base()));
        #[cfg(feature = "autodiff")]
        if let Some(mode) = burn_dispatch::registry::mode(self.0) {
            return other.autodiff().with_mode("fused", |_| mode);
        }
        other
    }

    /// The same device with a tape, so that gradients can be taken. Does nothing if there is one already.
    #[cfg(feature = "autodiff")]
    pub fn autodiff(self) -> Self {
        match self.is_autodiff() {
            true => self,
            false => Self(burn_dispatch::registry::autodiff(self.0)),
        }
    }

    /// The same device with a tape that keeps less: values that are cheap to compute again, and some that are not, are
    /// computed again when gradients are taken ([`GradientCheckpointingStrategy::Balanced`]).
    ///
    /// # Panics
    /// On a device without a tape.
    #[cfg(feature = "autodiff")]
    #[track_caller]
    pub fn gradient_checkpointing(self) -> Self {
        self.with_strategy(
            "gradient_checkpointing",
            GradientCheckpointingStrategy::Balanced,
        )
    }

    /// What the tape keeps; `None` for a device without one.
    #[cfg(feature = "autodiff")]
    pub fn gradient_checkpointing_strategy(&self) -> Option<GradientCheckpointingStrategy> {
        Some(burn_dispatch::registry::mode(self.0)?.checkpointing)
    }

    /// The same device, reading every value that is made on it and every gradient, to stop at the first one that is not
    /// finite with the name of the operation that made it. Slow, for searching; without it nothing is read.
    ///
    /// # Panics
    /// On a device without a tape.
    #[cfg(feature = "autodiff")]
    #[track_caller]
    pub fn anomaly_detection(self) -> Self {
        self.with_mode("anomaly_detection", |mode| Mode {
            anomalies: true,
            ..mode
        })
    }

    #[cfg(feature = "autodiff")]
    #[track_caller]
    pub(crate) fn with_strategy(
        self,
        method: &str,
        checkpointing: GradientCheckpointingStrategy,
    ) -> Self {
        self.with_mode(method, |mode| Mode {
            checkpointing,
            ..mode
        })
    }

    #[cfg(feature = "autodiff")]
    #[track_caller]
    fn with_mode(self, method: &str, change: impl Fn(Mode) -> Mode) -> Self {
        let Some(mode) = burn_dispatch::registry::mode(self.0) else {
            panic!(
                "`{method}`: {self} records no tape\n  legal: an autodiff device; make it with `device.autodiff()`"
            )
        };
        let device = burn_dispatch::registry::with_mode(self.0, change(mode));
        Self(device.expect("the device has a tape"))
    }

    /// The same device without its tape.
    pub fn inner(self) -> Self {
        Self(self.0.below().unwrap_or(self.0))
    }

    /// The same device without any tape.
    pub fn without_autodiff(self) -> Self {
        Self(self.0.base())
    }

    /// Whether the device records a tape.
    pub fn is_autodiff(&self) -> bool {
        self.0.level() > 0
    }

    /// Restarts the generator of random numbers.
    pub fn seed(&self, seed: u64) {
        self.0.seed(seed);
    }

    /// Waits until everything sent to the device has run.
    ///
    /// # Errors
    /// What went wrong on the device since the last wait.
    pub fn sync(&self) -> Result<(), ExecutionError> {
        self.0.sync()
    }

    /// Starts everything that was sent to the device, and returns before it is done.
    ///
    /// # Errors
    /// What the device refused.
    pub fn flush(&self) -> Result<(), ExecutionError> {
        self.0.flush()
    }

    /// What the device's memory holds, all pools together; `None` for a device that manages no memory of its own.
    pub fn memory_pool_usage(&self) -> Option<MemoryPoolUsage> {
        self.0.memory_usage()
    }

    /// The pools that cut buffers from pages; `None` for a device that manages no memory of its own.
    pub fn memory_pool_report(&self) -> Option<Vec<SlicedPoolReport>> {
        self.0.memory_report()
    }

    /// Gives memory that is kept for later back, where that is possible.
    pub fn memory_cleanup(&self) {
        self.0.memory_cleanup();
    }

    /// The element types of new tensors.
    pub fn settings(&self) -> DeviceSettings {
        self.0.default_settings()
    }

    /// Chooses the element types of new tensors, for everyone who uses the device with or without a tape. Only before its
    /// first tensor; choosing the same again is no error. A device that fuses is another one.
    ///
    /// # Errors
    /// If the device lacks an element type, or has made a tensor already.
    pub fn configure(&mut self, config: impl Into<DeviceConfig>) -> Result<(), DeviceError> {
        self.0.configure(config.into().over(self.settings()))
    }

    /// What `f` makes of `input`, with memory that the device keeps for it: for parameters and other tensors that live
    /// long. A device whose memory has no such part, as all built-in ones are so far, treats it as any other.
    pub fn memory_persistent_allocations<Output, Input, Func>(
        &self,
        input: Input,
        f: Func,
    ) -> Output
    where
        Output: Send,
        Input: Send,
        Func: Fn(Input) -> Output + Send,
    {
        f(input)
    }

    /// Prepares data for uploads that follow, where the device copies faster from memory of its own choice. The built-in
    /// devices copy from any memory, and leave the data as it is.
    pub fn staging<'a, Iter>(&self, data: Iter)
    where
        Iter: Iterator<Item = &'a mut TensorData>,
    {
        data.for_each(drop);
    }

    /// Whether the device computes with elements of `dtype`.
    pub fn supports_dtype(&self, dtype: impl Into<DType>) -> bool {
        self.0.supports_dtype(dtype.into())
    }

    /// The devices of the given types that this build and this machine have, and that start. A type that is not built
    /// in has none.
    pub fn enumerate(filter: impl Into<DeviceFilter>) -> Devices {
        filter
            .into()
            .into_iter()
            .flat_map(DeviceType::devices)
            .collect()
    }
}

/// The device of an engine, which may be a third party's.
impl From<Engine> for Device {
    fn from(engine: Engine) -> Self {
        Self(engine)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.0.base() == other.0.base()
    }
}

impl Eq for Device {}

impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.base().hash(state);
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
