//! Values against the reference.

use super::Case;
use crate::Array;
use crate::Failures;
use crate::check::{attempt, read, seeded};
use crate::sample::compute_type;
use burn_backend::Device;
use burn_dispatch::run;

/// Every sample gives what the reference gives, on every element type and layout.
///
/// # Panics
/// With the samples that do not.
#[track_caller]
pub fn values(device: Device) {
    let mut failures = Failures::default();
    for case in Case::all(device) {
        failures.note(&case, attempt(|| check(device, &case)));
    }
    failures.report();
}

fn check(device: Device, case: &Case) -> Option<String> {
    let output = || read(run(device, case.on(device)).one());
    match case.sample.expected(case.dtype, &case.inputs) {
        Ok(expected) => {
            let dtype = expected.array.dtype;
            expected.mismatch(&output(), case.sample.tolerance(dtype), compute_type(dtype))
        }
        Err(property) => property(&Array::from_data(&seeded(device, 7, output))),
    }
}
