//! The sample table on the CPU: one test for each mode.

use burn_backend_tests::modes;
use burn_flex::device as flex;
use burn_flex::{Flex, FlexDevice};

#[test]
fn values_agree_with_the_reference() {
    modes::values(flex());
}

#[test]
fn gradients_agree_with_finite_differences() {
    modes::gradients(flex());
}

#[test]
fn what_is_supported_executes() {
    modes::support::<Flex>(&FlexDevice);
}

#[test]
fn composites_agree_with_their_lowering() {
    modes::lowering(flex());
}

#[test]
fn programs_survive_encoding() {
    modes::round_trip(flex());
}

#[test]
fn the_table_of_operations_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ops.md");
    let text = modes::table::<Flex>(&FlexDevice);
    if std::env::var_os("UPDATE_OPS_MD").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, text, "run this test with UPDATE_OPS_MD=1");
}
