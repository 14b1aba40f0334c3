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
    opened("cpu".into(), CubeDevice::cpu).expect("this runtime is built in")
}

/// The NVIDIA GPU with this index.
///
/// # Errors
/// If there is none.
#[cfg(feature = "cuda")]
pub fn cuda(index: usize) -> Opened<Device> {
    let name = alloc::format!("cuda:{index}");
    opened(name, || CubeDevice::cuda(index))
}

/// The default GPU, through whichever graphics API the machine offers.
///
/// # Errors
/// If there is none.
#[cfg(feature = "wgpu")]
pub fn wgpu() -> Opened<Device> {
    opened("wgpu".into(), CubeDevice::wgpu)
}

/// The default GPU through Vulkan.
///
/// # Errors
/// If there is none.
#[cfg(feature = "vulkan")]
pub fn vulkan() -> Opened<Device> {
    opened("vulkan".into(), CubeDevice::vulkan)
}

/// The device of a name, opened when it is first asked for. It lives as long as the program.
fn opened(name: String, open: impl FnOnce() -> Opened<CubeDevice>) -> Opened<Device> {
    static DEVICES: LazyLock<Mutex<HashMap<String, Device>>> = LazyLock::new(Default::default);
    let mut devices = DEVICES.lock();
    if let Some(device) = devices.get(&name) {
        return Ok(*device);
    }
    let device = Device::new(Box::leak(Box::new(Local::<Cube>::new(open()?))));
    devices.insert(name, device);
    Ok(device)
}

/// The fusing engine over one of these devices.
#[cfg(feature = "fusion")]
pub(crate) fn fused_compiled(base: Device) -> Option<Device> {
    use burn_fusion::{Fusion, FusionDevice};
    static DEVICES: LazyLock<Mutex<HashMap<Device, Device>>> = LazyLock::new(Default::default);
    let device = base.get::<Local<Cube>>()?.device();
    let fused = || {
        let device = FusionDevice::new(device.clone());
        Device::new(Box::leak(Box::new(Local::<Fusion<Cube>>::new(device))))
    };
    Some(*DEVICES.lock().entry(base).or_insert_with(fused))
}
