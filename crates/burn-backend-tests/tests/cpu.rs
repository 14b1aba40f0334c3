//! The sample table on the CPU through compiled kernels: one test for each mode.

use burn_backend_tests::modes;
use burn_cubecl::{Cube, CubeDevice};
use burn_dispatch::registry;

#[test]
fn values_agree_with_the_reference() {
    modes::values(registry::cpu());
}

#[test]
fn what_is_supported_executes() {
    modes::support::<Cube>(&CubeDevice::cpu().unwrap());
}

#[test]
fn composites_agree_with_their_lowering() {
    modes::lowering(registry::cpu());
}

#[test]
fn fused_and_unfused_give_the_same_bits() {
    modes::fused(registry::cpu(), registry::fused(registry::cpu()));
}
