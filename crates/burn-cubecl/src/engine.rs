//! The engines of this backend: one for each device, made when it is first named, for the whole program.

use crate::{Cube, CubeDevice};
use burn_backend::Device;
use cubecl::device::{WgpuBackend, WgpuDeviceKind};
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, PoisonError};

/// One of CubeCL's runtimes, or a graphics interface to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// The CPU, whose kernels LLVM compiles.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
    /// AMD GPUs.
    Rocm,
    /// GPUs through whichever graphics interface the machine offers.
    Wgpu,
    /// GPUs through Vulkan.
    Vulkan,
    /// Apple's GPUs, through Metal.
    Metal,
    /// The GPUs that a browser shows; elsewhere as [`Runtime::Wgpu`].
    WebGpu,
}

impl Runtime {
    /// All of them, those that compute fastest first.
    pub const ALL: [Self; 7] = [
        Self::Cuda,
        Self::Rocm,
        Self::Metal,
        Self::Vulkan,
        Self::Wgpu,
        Self::WebGpu,
        Self::Cpu,
    ];

    /// The feature that builds it in.
    pub fn feature(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
            Self::Wgpu => "wgpu",
            Self::Vulkan => "vulkan",
            Self::Metal => "metal",
            Self::WebGpu => "webgpu",
        }
    }

    /// Whether this build has it.
    pub fn is_built_in(self) -> bool {
        match self {
            Self::Cpu => cfg!(feature = "cpu"),
            Self::Cuda => cfg!(feature = "cuda"),
            Self::Rocm => cfg!(feature = "rocm"),
            Self::Wgpu => cfg!(feature = "wgpu"),
            Self::Vulkan => cfg!(feature = "vulkan"),
            Self::Metal => cfg!(feature = "metal"),
            Self::WebGpu => cfg!(feature = "webgpu"),
        }
    }

    /// What a machine needs besides the device itself.
    fn needs(self) -> &'static str {
        match self {
            Self::Cpu => "nothing else",
            Self::Cuda => "NVIDIA's driver (libcuda)",
            Self::Rocm => "AMD's ROCm with its HIP libraries",
            Self::Wgpu | Self::WebGpu => "a driver for Vulkan, Metal or DirectX 12",
            Self::Vulkan => "the Vulkan loader (libvulkan) and the device's Vulkan driver",
            Self::Metal => "macOS or iOS",
        }
    }

    /// The graphics interface to ask, for a runtime that is one.
    fn graphics(self) -> WgpuBackend {
        match self {
            Self::Vulkan => WgpuBackend::Vulkan,
            Self::Metal => WgpuBackend::Metal,
            Self::WebGpu if cfg!(target_family = "wasm") => WgpuBackend::WebGpu,
            _ => WgpuBackend::Auto,
        }
    }
}

/// Why there is no such device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceUnavailable {
    /// Where it was looked for.
    pub runtime: Runtime,
    /// What is missing.
    pub reason: Missing,
}

/// What a device lacks to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The feature of the build.
    Feature,
    /// The device: the machine shows this many of the kind.
    Device {
        /// The number of devices of the kind.
        available: usize,
    },
    /// Something that the runtime needs to start, in its own words.
    Start(String),
}

impl std::error::Error for DeviceUnavailable {}

impl fmt::Display for DeviceUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, needs) = (self.runtime.feature(), self.runtime.needs());
        match &self.reason {
            Missing::Feature => write!(
                f,
                "`{name}`: this build has no such devices\n  legal: a build with the feature `{name}`"
            ),
            Missing::Device { available } => write!(
                f,
                "`{name}`: this machine has no such device; it has {available} of the kind\n  needs: {needs}"
            ),
            Missing::Start(reason) => {
                write!(
                    f,
                    "`{name}`: the device does not start: {reason}\n  needs: {needs}"
                )
            }
        }
    }
}

/// A device, or why there is none.
pub type Opened = Result<Device, DeviceUnavailable>;

/// The CPU, through kernels that LLVM compiles.
///
/// # Errors
/// If it is not built in.
pub fn cpu() -> Opened {
    find(Runtime::Cpu, cubecl::Device::cpu)
}

/// The NVIDIA GPU with this index.
///
/// # Errors
/// If it is not built in, there is no such GPU, or its driver or libraries are missing.
pub fn cuda(index: usize) -> Opened {
    find(Runtime::Cuda, || cubecl::Device::cuda(index))
}

/// The AMD GPU with this index.
///
/// # Errors
/// If it is not built in, there is no such GPU, or its driver or libraries are missing.
pub fn rocm(index: usize) -> Opened {
    find(Runtime::Rocm, || cubecl::Device::rocm(index))
}

/// A GPU through whichever graphics interface the machine offers.
///
/// # Errors
/// If it is not built in or there is no such GPU.
pub fn wgpu(kind: WgpuDeviceKind) -> Opened {
    graphics(Runtime::Wgpu, kind)
}

/// A GPU through Vulkan.
///
/// # Errors
/// If it is not built in or there is no such GPU.
pub fn vulkan(kind: WgpuDeviceKind) -> Opened {
    graphics(Runtime::Vulkan, kind)
}

/// A GPU through Metal.
///
/// # Errors
/// If it is not built in or there is no such GPU.
pub fn metal(kind: WgpuDeviceKind) -> Opened {
    graphics(Runtime::Metal, kind)
}

/// A GPU that a browser shows; elsewhere as [`wgpu()`].
///
/// # Errors
/// If it is not built in or there is no such GPU.
pub fn webgpu(kind: WgpuDeviceKind) -> Opened {
    graphics(Runtime::WebGpu, kind)
}

fn graphics(runtime: Runtime, kind: WgpuDeviceKind) -> Opened {
    find(runtime, || {
        cubecl::Device::wgpu(kind)?.on(runtime.graphics())
    })
}

/// The GPU that a program gets which names none: the first one of the runtime that computes fastest, if there is any.
///
/// A software renderer is no GPU here: the CPU has better engines.
pub fn gpu() -> Option<Device> {
    static GPU: LazyLock<Option<Device>> = LazyLock::new(|| {
        let card = |device: &cubecl::Device| match device {
            cubecl::Device::Wgpu(device) => device.kind != WgpuDeviceKind::Cpu,
            _ => false,
        };
        let cards = || {
            guarded(Runtime::Wgpu, || {
                cubecl::Device::enumerate_all().iter().any(card)
            })
        };
        Runtime::ALL
            .into_iter()
            .filter(|it| it.is_built_in())
            .find_map(|runtime| match runtime {
                Runtime::Cpu => None,
                Runtime::Cuda => cuda(0).ok(),
                Runtime::Rocm => rocm(0).ok(),
                _ if cards() == Ok(true) => graphics(runtime, WgpuDeviceKind::DefaultDevice).ok(),
                _ => None,
            })
    });
    *GPU
}

/// The devices of a runtime that this build and this machine have, and that start.
pub fn enumerate(runtime: Runtime) -> Vec<Device> {
    if !runtime.is_built_in() {
        return Vec::new();
    }
    let devices = guarded(runtime, cubecl::Device::enumerate_all).unwrap_or_default();
    let mine = devices
        .into_iter()
        .filter_map(|device| match (&device, runtime) {
            (cubecl::Device::Cpu(_), Runtime::Cpu)
            | (cubecl::Device::Cuda(_), Runtime::Cuda)
            | (cubecl::Device::Hip(_), Runtime::Rocm) => Some(device),
            (
                cubecl::Device::Wgpu(_),
                Runtime::Wgpu | Runtime::Vulkan | Runtime::Metal | Runtime::WebGpu,
            ) => device.on(runtime.graphics()).ok(),
            _ => None,
        });
    mine.filter_map(|device| open(runtime, device).ok())
        .collect()
}

/// The device that a runtime names, looked for where it is built in.
fn find(
    runtime: Runtime,
    name: impl FnOnce() -> Result<cubecl::Device, cubecl::device::DeviceUnavailable>,
) -> Opened {
    use cubecl::device::DeviceUnavailable as Unnamed;
    let missing = |reason| DeviceUnavailable { runtime, reason };
    if !runtime.is_built_in() {
        return Err(missing(Missing::Feature));
    }
    match guarded(runtime, name)? {
        Ok(device) => open(runtime, device),
        Err(Unnamed::NotLinked(_)) => Err(missing(Missing::Feature)),
        Err(Unnamed::NoSuchDevice { available, .. }) => Err(missing(Missing::Device { available })),
    }
}

/// The engine of a device, opened when it is first asked for. It lives as long as the program.
fn open(runtime: Runtime, device: cubecl::Device) -> Opened {
    static DEVICES: LazyLock<Mutex<HashMap<cubecl::Device, Device>>> =
        LazyLock::new(Mutex::default);
    // A map that a panic left is whole: entries are made before they are inserted.
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = devices.get(&device) {
        return Ok(*engine);
    }
    let cube = guarded(runtime, || {
        let cube = CubeDevice::new(device.clone());
        #[cfg(not(target_family = "wasm"))]
        crate::exit::wait_for(&cube);
        cube
    })?;
    #[cfg(feature = "fusion")]
    let engine = burn_fusion::engine::<Cube>(cube, 0);
    #[cfg(not(feature = "fusion"))]
    let engine = Device::new(Box::leak(Box::new(burn_backend::Local::<Cube>::new(cube))));
    devices.insert(device, engine);
    Ok(engine)
}

/// Runs what talks to a driver: runtimes panic where a library or a function of a driver is missing.
fn guarded<T>(runtime: Runtime, run: impl FnOnce() -> T) -> Result<T, DeviceUnavailable> {
    #[cfg(feature = "persistence")]
    crate::tune::remember();
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into()));
        let reason = Missing::Start(text.unwrap_or_else(|| "it panicked without a word".into()));
        DeviceUnavailable { runtime, reason }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_that_is_not_built_in_is_an_error_that_names_its_feature() {
        for runtime in Runtime::ALL.into_iter().filter(|it| !it.is_built_in()) {
            assert!(enumerate(runtime).is_empty());
            let error = find(runtime, || unreachable!("nothing is built in to ask")).unwrap_err();
            assert_eq!(error.reason, Missing::Feature);
            assert!(error.to_string().contains(runtime.feature()), "{error}");
        }
    }

    #[test]
    fn asking_for_devices_never_panics() {
        for runtime in Runtime::ALL {
            let found = enumerate(runtime);
            assert_eq!(found, enumerate(runtime));
        }
    }

    #[test]
    fn a_device_that_the_machine_lacks_is_an_error_that_says_what_it_needs() {
        for (runtime, opened) in [(Runtime::Cuda, cuda(4_000)), (Runtime::Rocm, rocm(4_000))] {
            let error = opened.unwrap_err();
            assert_eq!(error.runtime, runtime);
            let text = if runtime.is_built_in() {
                "needs: "
            } else {
                "legal: "
            };
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn the_first_device_opens_exactly_if_enumeration_shows_one() {
        for (runtime, opened) in [
            (Runtime::Cuda, cuda(0)),
            (Runtime::Rocm, rocm(0)),
            (Runtime::Cpu, cpu()),
        ] {
            let shown = !enumerate(runtime).is_empty();
            assert_eq!(opened.is_ok(), shown, "{opened:?}");
        }
    }

    #[test]
    fn a_runtime_that_panics_is_an_error_in_its_words() {
        let error = guarded(Runtime::Cuda, || panic!("no libnvrtc")).unwrap_err();
        assert_eq!(error.reason, Missing::Start("no libnvrtc".into()));
    }
}
