//! The device that the tests of this crate run on: of those built in, the one that is least like the others.

use burn_cubecl::CubeDevice;

/// The first NVIDIA GPU, what Vulkan shows first, or the CPU.
#[track_caller]
pub fn device() -> CubeDevice {
    let opened = if cfg!(feature = "cuda") {
        burn_cubecl::cuda(0)
    } else if cfg!(feature = "vulkan") {
        burn_cubecl::vulkan(Default::default())
    } else {
        burn_cubecl::cpu()
    };
    let engine = opened.unwrap_or_else(|error| panic!("{error}"));
    CubeDevice::of(engine)
        .expect("the engine is of Cube")
        .clone()
}
