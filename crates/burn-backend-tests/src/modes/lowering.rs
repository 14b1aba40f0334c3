//! Composites against their lowering.

use super::Case;
use crate::Failures;
use crate::check::{attempt, read};
use burn_backend::{Build, Device, Recorder, lower};
use burn_ir::Tier;

/// The lowering of every composite gives what the reference gives, and consists of primitives.
///
/// [`values`](super::values) compares the kernel that a backend may have with the same reference.
///
/// # Panics
/// With the composites for which that is not so.
#[track_caller]
pub fn lowering(device: Device) {
    let mut failures = Failures::default();
    let composites = Case::all(device)
        .into_iter()
        .filter(|case| case.sample.operation(case.dtype).tier() == Tier::Composite);
    let mut count = 0;
    for case in composites {
        count += 1;
        failures.note(&case, attempt(|| check(device, &case)));
        failures.note(&case, attempt(|| recorded(&case)));
    }
    assert!(count > 0, "the table has composites");
    failures.report();
}

fn check(device: Device, case: &Case) -> Option<String> {
    let lowered = lower(&mut { device }, case.on(device)).one();
    let expected = case.sample.expected(case.dtype, &case.inputs).ok()?;
    // Each step rounds to the element type, where a kernel would compute in a wider one.
    expected.mismatch(&read(lowered), case.sample.ulps, case.dtype)
}

fn recorded(case: &Case) -> Option<String> {
    let mut recorder = Recorder::of_primitives();
    let described = case.sample.described(case.dtype);
    let expected = described.infer().expect("samples are legal").one();
    let output = {
        let operation = described.map(&mut |meta| recorder.input(meta));
        recorder.one(operation)
    };
    let composite = recorder
        .graph
        .nodes()
        .iter()
        .find(|node| node.operation.tier() != Tier::Primitive);
    match composite {
        Some(node) => Some(format!("`{}` is left over", node.operation.name())),
        None => (output.meta != expected).then(|| format!("{} instead of {expected}", output.meta)),
    }
}
