//! Devices whose kernels are compiled when they first run. Part of the [`registry`](crate::registry).

use alloc::boxed::Box;
use alloc::string::String;
use burn_backend::{Device, Local};
pub use burn_cubecl::RuntimeUnavailable;
use burn_cubecl::{Cube, CubeDevice};
use burn_std::sync::{LazyLock, Mutex};
use hashbrown::HashMap;

type Opened<T> = Result<T, RuntimeUnavailable>;

/// The CPU, through kernels that LLVM compiles.
#[cfg(feature = "cpu")]
pub fn cpu() -> Device {
    opened("cpu".into(), CubeDevice::cpu, plain).expect("this runtime is built in")
}

/// [`cpu`] with fused elementwise instructions.
#[cfg(all(feature = "cpu", feature = "fusion"))]
pub fn cpu_fused() -> Device {
    opened("cpu, fused".into(), CubeDevice::cpu, fused).expect("this runtime is built in")
}

/// The NVIDIA GPU with this index.
///
/// # Errors
/// If there is none.
#[cfg(feature = "cuda")]
pub fn cuda(index: usize) -> Opened<Device> {
    let name = alloc::format!("cuda:{index}");
    opened(name, || CubeDevice::cuda(index), plain)
}

/// [`cuda`] with fused elementwise instructions.
///
/// # Errors
/// If there is none.
#[cfg(all(feature = "cuda", feature = "fusion"))]
pub fn cuda_fused(index: usize) -> Opened<Device> {
    let name = alloc::format!("cuda:{index}, fused");
    opened(name, || CubeDevice::cuda(index), fused)
}

/// The default GPU, through whichever graphics API the machine offers.
///
/// # Errors
/// If there is none.
#[cfg(feature = "wgpu")]
pub fn wgpu() -> Opened<Device> {
    opened("wgpu".into(), CubeDevice::wgpu, plain)
}

/// [`wgpu`] with fused elementwise instructions.
///
/// # Errors
/// If there is none.
#[cfg(all(feature = "wgpu", feature = "fusion"))]
pub fn wgpu_fused() -> Opened<Device> {
    opened("wgpu, fused".into(), CubeDevice::wgpu, fused)
}

/// The default GPU through Vulkan.
///
/// # Errors
/// If there is none.
#[cfg(feature = "vulkan")]
pub fn vulkan() -> Opened<Device> {
    opened("vulkan".into(), CubeDevice::vulkan, plain)
}

/// [`vulkan`] with fused elementwise instructions.
///
/// # Errors
/// If there is none.
#[cfg(all(feature = "vulkan", feature = "fusion"))]
pub fn vulkan_fused() -> Opened<Device> {
    opened("vulkan, fused".into(), CubeDevice::vulkan, fused)
}

// Devices live as long as the program.
fn plain(device: CubeDevice) -> Device {
    Device::new(Box::leak(Box::new(Local::<Cube>::new(device))))
}

#[cfg(feature = "fusion")]
fn fused(device: CubeDevice) -> Device {
    let device = burn_fusion::FusionDevice::new(device);
    Device::new(Box::leak(Box::new(
        Local::<burn_fusion::Fusion<Cube>>::new(device),
    )))
}

/// The device of a name, opened when it is first asked for.
fn opened(
    name: String,
    open: impl FnOnce() -> Opened<CubeDevice>,
    engine: fn(CubeDevice) -> Device,
) -> Opened<Device> {
    static DEVICES: LazyLock<Mutex<HashMap<String, Device>>> = LazyLock::new(Default::default);
    let mut devices = DEVICES.lock();
    if let Some(device) = devices.get(&name) {
        return Ok(*device);
    }
    let device = engine(open()?);
    devices.insert(name, device);
    Ok(device)
}
