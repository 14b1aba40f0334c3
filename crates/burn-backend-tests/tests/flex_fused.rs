//! The sample table on the fusing CPU device, against the same device without fusion.

use burn_backend::Device;
use burn_backend_tests::modes;
use burn_flex::{Flex, FlexDevice, device as flex};
use std::sync::LazyLock;

/// The CPU, fusing the smallest tensors too.
fn fusing() -> Device {
    static ENGINE: LazyLock<Device> = LazyLock::new(|| burn_fusion::engine::<Flex>(FlexDevice, 0));
    ENGINE.fusing().expect("the engine names its pair")
}

#[test]
fn fused_and_unfused_give_the_same_bits() {
    modes::fused(flex(), fusing());
}

#[test]
fn gradients_agree_with_finite_differences() {
    modes::gradients(fusing());
}
