//! What a backend says that it supports, against what it runs; and the table of that for readers.

use crate::check::attempt;
use crate::{Failures, Gradient, Sample};
use burn_backend::Backend;
use burn_ir::{Described, Operation, Tier};
use burn_std::{DType, Kind};
use core::fmt::Write;

/// A backend runs exactly what it says that it supports, and supports every primitive on every element type it has.
///
/// # Panics
/// With the samples for which that is not so.
#[track_caller]
pub fn support<B: Backend>(device: &B::Device) {
    let mut failures = Failures::default();
    for sample in crate::samples::all() {
        for dtype in sample.supported(&|dtype| B::supports_dtype(device, dtype)) {
            let place = format!("{sample:?} on {}", dtype.name());
            failures.note(place, attempt(|| check::<B>(device, &sample, dtype)));
        }
    }
    failures.report();
}

/// The operations that a device has no kernel for yet, by name: the known exceptions from the promise of every backend.
pub(super) fn pending(device: &str) -> &'static [&'static str] {
    match device {
        "flex" | "flex:unfused" => &[],
        _ => &[
            "gather",
            "select",
            "gather_nd",
            "scatter",
            "select_assign",
            "scatter_nd",
            "cumsum",
            "cumprod",
            "cummax",
            "cummin",
            "sort",
            "argsort",
            "argwhere",
            "conv",
            "conv_transpose",
            "conv_weight",
            "unfold",
            "fold",
            "max_pool",
            "max_pool_indices",
            "resample",
        ],
    }
}

fn check<B: Backend>(device: &B::Device, sample: &Sample, dtype: DType) -> Option<String> {
    let inputs = sample.arrays(dtype, false);
    let operation = sample
        .operation(dtype)
        .map(&mut |at| B::upload(device, inputs[at].to_data()));
    let pending = pending(&B::name(device)).contains(&sample.name());
    if !B::supports(device, &operation) {
        let due = operation.tier() == Tier::Primitive && !pending;
        return due.then(|| "primitive and not supported".into());
    }
    if pending {
        return Some("supported and on the list of what is not".into());
    }
    let checked = operation.check().expect("samples are legal");
    let described = checked.outputs().clone().one();
    let output = B::execute(device, checked).one();
    (*output.meta() != described).then(|| format!("{} instead of {described}", output.meta()))
}

/// The table of operations in Markdown: element types, orders of gradients, and what a backend has kernels for.
pub fn table<B: Backend>(device: &B::Device) -> String {
    let mut text = String::from(
        "# Operations\n\n\
        Written from the sample table: change that, then run the test of this file with `UPDATE_OPS_MD=1`.\n\n\
        *Gradient*: `any` order, `any, a.e.` where there are kinks (almost everywhere), `-` where none flows or all are 0; in\n\
        brackets the order to which gradients are checked against differences.\n\
        *Kernel*: `native` where the backend has one of its own, `lowered` where smaller instructions run instead.\n\n",
    );
    let name = B::name(device);
    let mut family = "";
    let samples = crate::samples::all();
    let mut seen: Vec<&str> = Vec::new();
    for sample in &samples {
        if seen.contains(&sample.name()) {
            continue;
        }
        seen.push(sample.name());
        let operation = sample.operation(sample.dtypes[0]);
        if family != family_of(&operation) {
            family = family_of(&operation);
            let header = format!(
                "## {family}\n\n| operation | elements | gradient | {name} |\n|---|---|---|---|\n"
            );
            let gap = if seen.len() > 1 { "\n" } else { "" };
            let _ = write!(text, "{gap}{header}");
        }
        let alike: Vec<&Sample> = samples
            .iter()
            .filter(|other| other.name() == sample.name())
            .collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            sample.name(),
            elements(&alike),
            gradient(&alike),
            kernel::<B>(device, &alike)
        );
    }
    text
}

fn family_of<T>(operation: &Operation<T>) -> &'static str {
    match operation {
        Operation::Create { .. } => "Create",
        Operation::Cast { .. } => "Cast",
        Operation::Unary { .. } => "Unary",
        Operation::Binary { .. } => "Binary",
        Operation::Compare { .. } => "Compare",
        Operation::Where { .. } => "Where",
        Operation::Reduce { .. } => "Reduce",
        Operation::Movement { .. } => "Movement",
        Operation::Matmul { .. } => "Matmul",
        Operation::Activation { .. } => "Activation",
        Operation::Cat { .. } => "Cat",
        Operation::SliceAssign { .. } => "Slice assignment",
        Operation::Gather { .. } => "Gather",
        Operation::Scatter { .. } => "Scatter",
        Operation::Scan { .. } => "Scan",
        Operation::Sort { .. } => "Sort",
        Operation::Argwhere { .. } => "Argwhere",
        Operation::Module(_) => "Module",
    }
}

fn elements(samples: &[&Sample]) -> String {
    let has = |kind: &Kind| {
        samples
            .iter()
            .any(|it| it.dtypes.iter().any(|dtype| dtype.kind() == *kind))
    };
    let kinds = [Kind::Float, Kind::Int, Kind::Bool].into_iter().filter(has);
    kinds.map(Kind::as_str).collect::<Vec<_>>().join(", ")
}

fn gradient(samples: &[&Sample]) -> String {
    let order = samples.iter().map(|sample| sample.order).max();
    let any = |gradient| samples.iter().any(|sample| sample.gradient == gradient);
    let orders = match (any(Gradient::Smooth), any(Gradient::Kinked)) {
        (_, true) => "any, a.e.",
        (true, false) => "any",
        (false, false) => return "-".into(),
    };
    format!("{orders} ({})", order.unwrap_or(0))
}

fn kernel<B: Backend>(device: &B::Device, samples: &[&Sample]) -> String {
    let mut native = Vec::new();
    let mut lowered = Vec::new();
    for sample in samples {
        for dtype in sample.supported(&|dtype| B::supports_dtype(device, dtype)) {
            let list = match B::supports(device, &sample.described(dtype)) {
                true => &mut native,
                false => &mut lowered,
            };
            if !list.contains(&dtype.name()) {
                list.push(dtype.name());
            }
        }
    }
    match (native.is_empty(), lowered.is_empty()) {
        (_, true) => "native".into(),
        (true, false) => "lowered".into(),
        (false, false) => format!(
            "native on {}; lowered on {}",
            native.join(", "),
            lowered.join(", ")
        ),
    }
}
