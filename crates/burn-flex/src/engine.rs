//! The engine of the CPU: one for the whole program.

use crate::FlexDevice;
use burn_backend::Device;
use burn_std::sync::LazyLock;

/// Tensors of fewer elements fit into the first-level cache, where a pass costs less than to plan for it.
#[cfg(feature = "fusion")]
const SMALLEST_FUSED: usize = 8192;

/// The CPU: kernels run when they are called, on the calling thread and on its pool.
///
/// With the feature `fusion` it names the engine that runs chains of elementwise instructions on large tensors as one
/// pass over memory.
pub fn device() -> Device {
    #[cfg(feature = "fusion")]
    static ENGINE: LazyLock<Device> =
        LazyLock::new(|| burn_fusion::engine::<crate::Flex>(FlexDevice, SMALLEST_FUSED));
    #[cfg(not(feature = "fusion"))]
    static ENGINE: LazyLock<Device> = LazyLock::new(|| {
        let engine = burn_backend::Local::<crate::Flex>::new(FlexDevice);
        Device::new(alloc::boxed::Box::leak(alloc::boxed::Box::new(engine)))
    });
    *ENGINE
}
