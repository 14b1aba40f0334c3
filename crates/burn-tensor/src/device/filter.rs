//! Choosing devices: by type, by index, by what they are made of.

use super::DeviceConfig;
use crate::Device;
use alloc::vec;
use alloc::vec::Vec;
use burn_std::DeviceError;
use core::ops::{BitOr, Deref};

/// Which of several devices of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceIndex {
    /// The one that the driver prefers.
    #[default]
    Default,
    /// The one of this number.
    Specified(usize),
}

impl DeviceIndex {
    /// The device of this number.
    pub fn new(index: impl Into<usize>) -> Self {
        Self::Specified(index.into())
    }
}

impl From<usize> for DeviceIndex {
    fn from(index: usize) -> Self {
        Self::Specified(index)
    }
}

/// Indices of other integer types; a negative one panics.
macro_rules! from_index {
    ($($int:ty),+) => {
        $(impl From<$int> for DeviceIndex {
            #[track_caller]
            fn from(index: $int) -> Self {
                match usize::try_from(index) {
                    Ok(index) => Self::Specified(index),
                    Err(_) => panic!("there is no device of number {index}"),
                }
            }
        })+
    };
}

from_index!(i32, i64, u32, u64);

/// Which of the devices that a graphics interface names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// The processor, as a software renderer.
    Cpu,
    /// The one that the driver prefers.
    #[default]
    DefaultDevice,
    /// A card of its own, by number.
    DiscreteGpu(usize),
    /// One that the program set up before, by id.
    Existing(u32),
    /// A GPU that shares the processor's memory, by number.
    IntegratedGpu(usize),
    /// A GPU of a virtual machine, by number.
    VirtualGpu(usize),
}

/// The engines that a build can have; those of a build are chosen by features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceType {
    /// The CPU.
    Flex,
    /// The CPU, through kernels that are compiled when they first run.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
    /// AMD GPUs.
    Rocm,
    /// GPUs through whichever graphics interface the machine offers.
    Wgpu,
    /// GPUs through Vulkan.
    Vulkan,
    /// GPUs through Metal.
    Metal,
    /// The GPUs that a browser shows.
    WebGpu,
}

impl BitOr for DeviceType {
    type Output = DeviceFilter;

    fn bitor(self, other: Self) -> DeviceFilter {
        DeviceFilter::new().with(self).with(other)
    }
}

impl BitOr<DeviceType> for DeviceFilter {
    type Output = Self;

    fn bitor(self, other: DeviceType) -> Self {
        self.with(other)
    }
}

/// A set of device types, in the order they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceFilter(Vec<DeviceType>);

impl DeviceFilter {
    /// No type.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same and one more type.
    pub fn with(mut self, device_type: DeviceType) -> Self {
        if !self.0.contains(&device_type) {
            self.0.push(device_type);
        }
        self
    }
}

impl From<DeviceType> for DeviceFilter {
    fn from(device_type: DeviceType) -> Self {
        Self::new().with(device_type)
    }
}

impl From<Vec<DeviceType>> for DeviceFilter {
    fn from(types: Vec<DeviceType>) -> Self {
        types.into_iter().fold(Self::new(), Self::with)
    }
}

impl IntoIterator for DeviceFilter {
    type Item = DeviceType;
    type IntoIter = vec::IntoIter<DeviceType>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Several devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Devices(Vec<Device>);

impl Devices {
    /// The same devices with tapes; see [`Device::autodiff`].
    #[cfg(feature = "autodiff")]
    pub fn autodiff(self) -> Self {
        self.into_iter().map(Device::autodiff).collect()
    }

    /// The same devices without tapes.
    pub fn without_autodiff(self) -> Self {
        self.into_iter().map(Device::without_autodiff).collect()
    }

    /// Chooses the element types of new tensors on each device; see [`Device::configure`].
    ///
    /// # Errors
    /// The first that a device gives; those before it are configured then.
    pub fn configure(&mut self, config: impl Into<DeviceConfig>) -> Result<(), DeviceError> {
        let config = config.into();
        self.0
            .iter_mut()
            .try_for_each(|device| device.configure(config))
    }

    /// The devices as a list.
    pub fn into_vec(self) -> Vec<Device> {
        self.0
    }
}

impl FromIterator<Device> for Devices {
    fn from_iter<I: IntoIterator<Item = Device>>(devices: I) -> Self {
        Self(devices.into_iter().collect())
    }
}

impl IntoIterator for Devices {
    type Item = Device;
    type IntoIter = vec::IntoIter<Device>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Deref for Devices {
    type Target = [Device];

    fn deref(&self) -> &[Device] {
        &self.0
    }
}
