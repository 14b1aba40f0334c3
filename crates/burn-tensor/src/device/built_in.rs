//! The engines of this build: features choose them, here and nowhere else.
//!
//! A device that is not built in, or that the machine lacks, panics where it is named, with a report of what is missing;
//! [`Device::enumerate`] asks without panicking.

use super::{Device, DeviceIndex, DeviceKind, DeviceType};
use alloc::vec::Vec;
#[cfg(feature = "compiled")]
use burn_cubecl::{Opened, Runtime, WgpuDeviceKind};

/// The features of engines that this build has.
const BUILT_IN: &[&str] = &[
    #[cfg(feature = "flex")]
    "flex",
    #[cfg(feature = "cpu")]
    "cpu",
    #[cfg(feature = "cuda")]
    "cuda",
    #[cfg(feature = "rocm")]
    "rocm",
    #[cfg(feature = "wgpu")]
    "wgpu",
    #[cfg(feature = "vulkan")]
    "vulkan",
    #[cfg(feature = "metal")]
    "metal",
    #[cfg(feature = "webgpu")]
    "webgpu",
];

/// What a constructor gives: the device, or its report as a panic. Without any compiled engine there is nothing to ask.
#[cfg(feature = "compiled")]
macro_rules! opened {
    ($name:ident($($which:ident)?)) => {
        found(burn_cubecl::$name($($which.resolve())?))
    };
}

#[cfg(not(feature = "compiled"))]
macro_rules! opened {
    ($name:ident($($which:ident)?)) => {{
        $(let _ = $which;)?
        let name = stringify!($name);
        panic!(
            "`{name}`: this build has no such devices\n  legal: a build with the feature `{name}`\n  built in: {}",
            BUILT_IN.join(", ")
        )
    }};
}

impl Device {
    /// The CPU, with kernels in Rust.
    ///
    /// With the feature `fusion`, chains of elementwise instructions on large tensors run as one pass over memory when
    /// their result is needed, as on every device below.
    #[cfg(feature = "flex")]
    pub fn flex() -> Self {
        automatic(burn_flex::device())
    }

    /// The CPU, through kernels that are compiled when they first run.
    ///
    /// # Panics
    /// Without the feature `cpu`.
    #[track_caller]
    pub fn cpu() -> Self {
        opened!(cpu())
    }

    /// The NVIDIA GPU with this index.
    ///
    /// # Panics
    /// Without the feature `cuda`, or if the GPU, its driver or its libraries are missing.
    #[track_caller]
    pub fn cuda(index: impl Into<DeviceIndex>) -> Self {
        let index: DeviceIndex = index.into();
        opened!(cuda(index))
    }

    /// The AMD GPU with this index.
    ///
    /// # Panics
    /// Without the feature `rocm`, or if the GPU, its driver or its libraries are missing.
    #[track_caller]
    pub fn rocm(index: impl Into<DeviceIndex>) -> Self {
        let index: DeviceIndex = index.into();
        opened!(rocm(index))
    }

    /// A GPU through whichever graphics interface the machine offers.
    ///
    /// # Panics
    /// Without the feature `wgpu`, or if there is no such GPU.
    #[track_caller]
    pub fn wgpu(kind: DeviceKind) -> Self {
        opened!(wgpu(kind))
    }

    /// A GPU through Vulkan.
    ///
    /// # Panics
    /// Without the feature `vulkan`, or if there is no such GPU.
    #[track_caller]
    pub fn vulkan(kind: DeviceKind) -> Self {
        opened!(vulkan(kind))
    }

    /// A GPU through Metal.
    ///
    /// # Panics
    /// Without the feature `metal`, or if there is no such GPU.
    #[track_caller]
    pub fn metal(kind: DeviceKind) -> Self {
        opened!(metal(kind))
    }

    /// A GPU that a browser shows; elsewhere as [`Device::wgpu`].
    ///
    /// # Panics
    /// Without the feature `webgpu`, or if there is no such GPU.
    #[track_caller]
    pub fn webgpu(kind: DeviceKind) -> Self {
        opened!(webgpu(kind))
    }
}

/// The fastest device that this build and this machine have: a GPU, or else the CPU, or else the recorder.
impl Default for Device {
    #[track_caller]
    fn default() -> Self {
        #[cfg(feature = "compiled")]
        if let Some(gpu) = burn_cubecl::gpu() {
            return automatic(gpu);
        }
        #[cfg(feature = "flex")]
        return Self::flex();
        #[cfg(all(feature = "cpu", not(feature = "flex")))]
        return Self::cpu();
        #[cfg(all(feature = "capture", not(any(feature = "flex", feature = "cpu"))))]
        return Self::capture();
        #[cfg(not(any(feature = "flex", feature = "cpu", feature = "capture")))]
        panic!(
            "this build and this machine have no device\n  legal: a build with the feature `flex`\n  built in: {}",
            BUILT_IN.join(", ")
        );
    }
}

impl DeviceType {
    /// The devices of this type that this build and this machine have.
    pub(super) fn devices(self) -> Vec<Device> {
        #[cfg(feature = "flex")]
        if self == Self::Flex {
            return alloc::vec![Device::flex()];
        }
        #[cfg(feature = "compiled")]
        if let Some(runtime) = self.runtime() {
            let devices = burn_cubecl::enumerate(runtime);
            return devices.into_iter().map(automatic).collect();
        }
        Vec::new()
    }

    #[cfg(feature = "compiled")]
    fn runtime(self) -> Option<Runtime> {
        Some(match self {
            Self::Flex => return None,
            Self::Cpu => Runtime::Cpu,
            Self::Cuda => Runtime::Cuda,
            Self::Rocm => Runtime::Rocm,
            Self::Wgpu => Runtime::Wgpu,
            Self::Vulkan => Runtime::Vulkan,
            Self::Metal => Runtime::Metal,
            Self::WebGpu => Runtime::WebGpu,
        })
    }
}

/// The device, or a panic with what is missing and what is built in.
#[cfg(feature = "compiled")]
#[track_caller]
fn found(opened: Opened) -> Device {
    match opened {
        Ok(device) => automatic(device),
        Err(error) => panic!("{error}\n  built in: {}", BUILT_IN.join(", ")),
    }
}

/// A device that fuses by itself, unless the user switched that off.
#[cfg(any(feature = "flex", feature = "compiled"))]
fn automatic(device: burn_backend::Device) -> Device {
    match cfg!(feature = "fusion") && burn_std::config::switches().fusion {
        true => Device(burn_dispatch::registry::fused(device)),
        false => Device(device),
    }
}

#[cfg(feature = "compiled")]
impl DeviceIndex {
    fn resolve(self) -> usize {
        match self {
            Self::Default => 0,
            Self::Specified(index) => index,
        }
    }
}

#[cfg(feature = "compiled")]
impl DeviceKind {
    fn resolve(self) -> WgpuDeviceKind {
        match self {
            Self::Cpu => WgpuDeviceKind::Cpu,
            Self::DefaultDevice => WgpuDeviceKind::DefaultDevice,
            Self::DiscreteGpu(index) => WgpuDeviceKind::DiscreteGpu(index),
            Self::Existing(id) => WgpuDeviceKind::Existing(id),
            Self::IntegratedGpu(index) => WgpuDeviceKind::IntegratedGpu(index),
            Self::VirtualGpu(index) => WgpuDeviceKind::VirtualGpu(index),
        }
    }
}
