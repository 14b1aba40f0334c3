//! Devices over and beside the executing ones: tapes, fusion, the recorder. Each is one engine for the whole program,
//! made when it is first named. The executing devices come from their crates.

use burn_backend::Device;
#[cfg(feature = "capture")]
use burn_backend::Local;
#[cfg(any(feature = "autodiff", feature = "capture"))]
use burn_std::sync::LazyLock;

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
    use burn_autodiff::Autodiff;
    use hashbrown::HashMap;

    static LAYERS: LazyLock<burn_std::sync::Mutex<HashMap<Device, Device>>> =
        LazyLock::new(Default::default);
    // A layer per device lives as long as the program, like the device.
    let layer = || Device::new(Autodiff::over(device));
    *LAYERS.lock().entry(device).or_insert_with(layer)
}

/// How the tape of a device keeps and watches values; `None` without a tape.
#[cfg(feature = "autodiff")]
pub fn mode(device: Device) -> Option<burn_autodiff::Mode> {
    Some(device.get::<burn_autodiff::Autodiff>()?.mode())
}

/// The device with its tape in another mode; `None` without a tape.
#[cfg(feature = "autodiff")]
pub fn with_mode(device: Device, mode: burn_autodiff::Mode) -> Option<Device> {
    let layer = device.get::<burn_autodiff::Autodiff>()?;
    Some(Device::new(layer.with_mode(mode)))
}

/// The engine that runs groups of instructions as one kernel, for the executing device `base`; `base` itself if it has
/// none, or is that engine.
pub fn fused(base: Device) -> Device {
    base.fusing().unwrap_or(base)
}

/// The engine that runs each instruction when it is called, for the executing device `base`; `base` itself if it is that
/// engine.
pub fn unfused(base: Device) -> Device {
    base.unfused().unwrap_or(base)
}

/// The name in captured programs of a tensor that lives on the capture device, under any layers.
#[cfg(feature = "capture")]
pub fn capture_id(tensor: &burn_backend::Handle) -> Option<burn_capture::TensorId> {
    let tensor = crate::transfer::lower(tensor.clone(), 0);
    Some(Local::<burn_capture::Capture>::tensor(&tensor)?.id())
}
