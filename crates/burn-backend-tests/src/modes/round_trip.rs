//! Programs through a file and back.

use super::Case;
use crate::check::{attempt, differing_bits, read, seeded};
use crate::{Failures, Layout};
use burn_backend::{Device, Handle, Local};
use burn_dispatch::capture::{Capture, CapturedGraph};
use burn_dispatch::{interpret, registry, run};
use burn_ir::TensorId;

/// Every sample, captured, encoded, decoded and replayed on `device`, gives the bits that it gives there directly.
///
/// # Panics
/// With the samples that do not.
#[track_caller]
pub fn round_trip(device: Device) {
    let mut failures = Failures::default();
    // A program does not know how its inputs lie in memory.
    let contiguous = |case: &Case| case.layouts.iter().all(|it| *it == Layout::Contiguous);
    for case in Case::all(device).into_iter().filter(contiguous) {
        failures.note(&case, attempt(|| check(device, &case)));
    }
    failures.report();
}

fn id(tensor: &Handle) -> TensorId {
    Local::<Capture>::tensor(tensor)
        .expect("it is captured")
        .id()
}

fn check(device: Device, case: &Case) -> Option<String> {
    let recorder = registry::capture();
    // Declared tensors must be alive when the scope ends.
    let mut alive = None;
    let captured = registry::as_capture(recorder)?.scope(|scope| {
        let mut inputs = Vec::new();
        let operation = case.sample.operation(case.dtype).map(&mut |at| {
            let input = case.layouts[at].place(recorder, &case.inputs[at]);
            inputs.push(id(&input));
            input
        });
        let output = run(recorder, operation).one();
        let completed = scope.complete(inputs, [id(&output)]);
        alive = Some(output);
        completed
    });
    drop(alive);
    let captured = match captured {
        Ok(captured) => captured,
        Err(error) => return Some(error.to_string()),
    };
    let text = serde_json::to_string(&captured).expect("programs encode");
    let decoded: CapturedGraph = match serde_json::from_str(&text) {
        Ok(decoded) => decoded,
        Err(error) => return Some(format!("{error} in {text}")),
    };
    if decoded.graph != captured.graph {
        return Some("the decoded program is another".into());
    }
    let direct = || read(run(device, case.on(device)).one());
    let replayed = || {
        let inputs = case.layouts.iter().zip(&case.inputs);
        let inputs = inputs
            .map(|(layout, input)| layout.place(device, input))
            .collect();
        let outputs = interpret(&decoded.graph, device, inputs);
        outputs.map(|mut outputs| read(outputs.pop().expect("one output was declared")))
    };
    let (replayed, direct) = match case.is_random() {
        true => (seeded(device, 7, replayed), seeded(device, 7, direct)),
        false => (replayed(), direct()),
    };
    match replayed {
        Ok(replayed) => differing_bits(&replayed, &direct),
        Err(error) => Some(error.to_string()),
    }
}
