//! The sample table on the fusing CPU device, against the same device without fusion.

use burn_backend_tests::modes;
use burn_dispatch::registry;
use burn_flex::device as flex;

#[test]
fn fused_and_unfused_give_the_same_bits() {
    modes::fused(flex(), registry::fused(flex()));
}

#[test]
fn gradients_agree_with_finite_differences() {
    modes::gradients(registry::fused(flex()));
}
