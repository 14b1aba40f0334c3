//! The devices that are built in. Each is one engine for the whole program, made when it is first named.

use burn_backend::Device;
#[cfg(any(feature = "flex", feature = "capture"))]
use burn_backend::Local;
#[cfg(any(feature = "flex", feature = "capture"))]
use burn_std::sync::LazyLock;

#[cfg(any(feature = "cpu", feature = "cuda", feature = "wgpu"))]
pub use crate::compiled::*;

/// The CPU: kernels run when they are called, on the calling thread and on its pool.
#[cfg(feature = "flex")]
pub fn flex() -> Device {
    static ENGINE: LazyLock<Local<burn_flex::Flex>> =
        LazyLock::new(|| Local::new(burn_flex::FlexDevice));
    Device::new(&*ENGINE)
}

/// The CPU, with chains of elementwise instructions run as one pass over memory when their result is needed.
#[cfg(all(feature = "flex", feature = "fusion"))]
pub fn flex_fused() -> Device {
    static ENGINE: LazyLock<Local<burn_fusion::Fusion<burn_flex::Flex>>> =
        LazyLock::new(|| Local::new(burn_fusion::FusionDevice::new(burn_flex::FlexDevice)));
    Device::new(&*ENGINE)
}

/// The recorder: nothing runs, everything is written down.
#[cfg(feature = "capture")]
pub fn capture() -> Device {
    static ENGINE: LazyLock<Local<burn_capture::Capture>> =
        LazyLock::new(|| Local::new(burn_capture::CaptureDevice::default()));
    Device::new(&*ENGINE)
}

/// The state of the capture device behind `device`, if it is one.
#[cfg(feature = "capture")]
pub fn as_capture(device: Device) -> Option<&'static burn_capture::CaptureDevice> {
    Some(device.get::<Local<burn_capture::Capture>>()?.device())
}

/// The device that records a tape of what runs on `device`; a tape over a tape gives gradients of gradients.
#[cfg(feature = "autodiff")]
pub fn autodiff(device: Device) -> Device {
    use alloc::boxed::Box;
    use burn_autodiff::Autodiff;
    use hashbrown::HashMap;

    static LAYERS: LazyLock<burn_std::sync::Mutex<HashMap<Device, Device>>> =
        LazyLock::new(Default::default);
    // A layer per device lives as long as the program, like the device.
    let layer = || Device::new(Box::leak(Box::new(Autodiff::new(device))));
    *LAYERS.lock().entry(device).or_insert_with(layer)
}

/// The executing devices that are built in, the default first.
pub fn devices() -> alloc::vec::Vec<Device> {
    alloc::vec![
        #[cfg(feature = "flex")]
        flex(),
        #[cfg(feature = "cpu")]
        cpu(),
    ]
}

/// The engine that runs chains of elementwise instructions as one pass, for the executing device `base`; `base` itself
/// if there is none.
#[cfg(feature = "fusion")]
pub fn fused(base: Device) -> Device {
    #[cfg(feature = "flex")]
    if base == flex() {
        return flex_fused();
    }
    #[cfg(any(feature = "cpu", feature = "cuda", feature = "wgpu"))]
    if let Some(fused) = crate::compiled::fused_compiled(base) {
        return fused;
    }
    base
}

/// The name in captured programs of a tensor that lives on the capture device, under any layers.
#[cfg(feature = "capture")]
pub fn capture_id(tensor: &burn_backend::Handle) -> Option<burn_capture::TensorId> {
    let tensor = crate::transfer::lower(tensor.clone(), 0);
    Some(Local::<burn_capture::Capture>::tensor(&tensor)?.id())
}
