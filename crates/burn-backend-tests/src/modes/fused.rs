//! Fused against unfused.

use super::Case;
use crate::Failures;
use crate::check::{attempt, differing_bits, read, seeded};
use burn_backend::Device;
use burn_dispatch::run;

/// Every sample gives the same bits on a fusing device as on the device below it.
///
/// # Panics
/// With the samples that do not.
#[track_caller]
pub fn fused(plain: Device, fusing: Device) {
    let mut failures = Failures::default();
    for case in Case::all(plain) {
        let output = |device: Device| read(run(device, case.on(device)).one());
        let compare = || match case.is_random() {
            true => differing_bits(
                &seeded(fusing, 7, || output(fusing)),
                &seeded(plain, 7, || output(plain)),
            ),
            false => differing_bits(&output(fusing), &output(plain)),
        };
        failures.note(&case, attempt(compare));
    }
    failures.report();
}
