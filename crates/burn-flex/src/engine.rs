//! The engine of the CPU: one for the whole program.

use crate::{Flex, FlexDevice};
use burn_backend::{Device, Local};
use burn_std::sync::LazyLock;

/// The CPU: kernels run when they are called, on the calling thread and on its pool.
///
/// With the feature `fusion` it names the engine that runs chains of elementwise instructions as one pass over memory.
pub fn device() -> Device {
    static ENGINE: LazyLock<Local<Flex>> = LazyLock::new(|| {
        let engine = Local::new(FlexDevice);
        #[cfg(feature = "fusion")]
        let engine = engine.with_fusing(burn_fusion::engine::<Flex>(FlexDevice));
        engine
    });
    Device::new(&*ENGINE)
}
