//! The ways to check an engine against the table, each one function.

mod fused;
mod gradients;
mod lowering;
mod round_trip;
mod support;
mod values;

pub use fused::fused;
pub use gradients::gradients;
pub use lowering::lowering;
pub use round_trip::round_trip;
pub use support::{support, table};
pub use values::values;

use crate::{Array, Layout, Sample};
use burn_backend::{Device, Handle};
use burn_ir::Operation;
use burn_std::DType;

/// A sample with inputs, each in its layout.
struct Case {
    sample: Sample,
    dtype: DType,
    layouts: Vec<Layout>,
    inputs: Vec<Array>,
}

impl Case {
    /// The samples that a device has kernels for, on its element types, in all layouts: first alike for all inputs, then
    /// different ones, last without elements. The variable `BURN_SAMPLES` leaves a part of them: `exp,matmul` by name, `1/7`
    /// every seventh.
    fn all(device: Device) -> Vec<Self> {
        let mut cases = Vec::new();
        let pending = support::pending(device.name());
        let there = |sample: &Sample| !pending.contains(&sample.name());
        for sample in crate::samples::all().into_iter().filter(there) {
            for dtype in sample.supported(&|dtype| device.supports_dtype(dtype)) {
                let layouts = if sample.inputs.is_empty() {
                    1
                } else {
                    Layout::ALL.len()
                };
                for shift in 0..sample.inputs.len().clamp(1, 2) {
                    cases.extend((0..layouts).map(|first| Self::new(&sample, dtype, first, shift)));
                }
                cases.extend(
                    sample
                        .emptied(dtype)
                        .map(|empty| Self::new(&empty, dtype, 0, 0)),
                );
            }
        }
        match std::env::var("BURN_SAMPLES") {
            Ok(part) => Self::part(cases, &part),
            Err(_) => cases,
        }
    }

    /// The cases that the value of `BURN_SAMPLES` leaves.
    fn part(mut cases: Vec<Self>, part: &str) -> Vec<Self> {
        if let Some(every) = part.strip_prefix("1/") {
            let every = every.parse().expect("`BURN_SAMPLES=1/n` has a number n");
            return cases.into_iter().step_by(every).collect();
        }
        cases.retain(|case| part.split(',').any(|name| name == case.sample.name()));
        assert!(!cases.is_empty(), "`BURN_SAMPLES={part}` names no sample");
        cases
    }

    /// Input `i` has the layout `first + i · shift`.
    fn new(sample: &Sample, dtype: DType, first: usize, shift: usize) -> Self {
        let layouts: Vec<Layout> = (0..sample.inputs.len())
            .map(|input| Layout::ALL[(first + input * shift) % Layout::ALL.len()])
            .collect();
        let inputs = sample.arrays(dtype, true);
        let inputs = inputs
            .iter()
            .zip(&layouts)
            .map(|(array, layout)| layout.logical(array))
            .collect();
        Self {
            sample: sample.clone(),
            dtype,
            layouts,
            inputs,
        }
    }

    /// The instruction over tensors of a device.
    fn on(&self, device: Device) -> Operation<Handle> {
        let placed = &mut |at: usize| self.layouts[at].place(device, &self.inputs[at]);
        self.sample.operation(self.dtype).map(placed)
    }

    fn is_random(&self) -> bool {
        self.sample.name() == "random"
    }
}

impl core::fmt::Display for Case {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let shapes: Vec<_> = self.inputs.iter().map(|input| &input.shape).collect();
        write!(
            f,
            "{:?} on {} {shapes:?} {:?}",
            self.sample,
            self.dtype.name(),
            self.layouts
        )
    }
}
