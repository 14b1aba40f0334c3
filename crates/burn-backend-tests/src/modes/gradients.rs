//! Gradients against finite differences, in f64.

use crate::array::Format;
use crate::check::{attempt, read};
use crate::{Array, Failures, Generator, Gradient, Layout, Num, Sample};
use burn_backend::{Build, Device, Handle};
use burn_dispatch::autodiff::{BackwardError, Gradients, backward, is_tracked, require_grad};
use burn_dispatch::{registry, run, transfer};
use burn_ir::{Described, Dims};
use burn_std::{DType, Kind};

/// The step of central differences. Truncation grows as `h²`, rounding as `ε/h`: they balance at `∛ε`
/// (Press et al. 2007, section 5.7), where both are near 1e-11 for functions of moderate derivatives.
const STEP: f64 = 6e-6;

/// What two gradients may differ by, relative to 1 or to their size: a thousand times the error of [`STEP`], for third
/// derivatives and sums of that size, and a million times less than what a wrong rule gives.
const TOLERANCE: f64 = 1e-7;

/// Gradients of every differentiable sample agree with finite differences to its order, on every layout; those of other
/// floats with those of f64. Nothing but zeros flows through the others.
///
/// # Panics
/// With the samples for which that is not so.
#[track_caller]
pub fn gradients(device: Device) {
    let mut failures = Failures::default();
    let differentiable = |sample: &Sample| {
        let supported = sample.supported(&|dtype| device.supports_dtype(dtype));
        supported.contains(&DType::F64) && !sample.inputs.is_empty()
    };
    for sample in crate::samples::all().into_iter().filter(differentiable) {
        let sample = sample.small(DType::F64);
        if sample.gradient == Gradient::None {
            failures.note(format!("{sample:?}"), attempt(|| flat(device, &sample)));
            continue;
        }
        for layout in Layout::ALL {
            // Repeated rows are ties, where there is a kink.
            if layout == Layout::Broadcast && sample.gradient == Gradient::Kinked {
                continue;
            }
            for order in 1..=sample.order {
                let place = format!("{sample:?} {layout:?}, order {order}");
                failures.note(place, attempt(|| agrees(device, &sample, layout, order)));
            }
            for dtype in sample.supported(&|dtype| device.supports_dtype(dtype)) {
                if dtype.is_float() && dtype != DType::F64 {
                    let place = format!("{sample:?} {layout:?} on {}", dtype.name());
                    failures.note(place, attempt(|| narrow(device, &sample, dtype, layout)));
                }
            }
        }
        if let Some(empty) = sample.emptied(DType::F64) {
            let place = format!("{sample:?} without elements");
            let outcome = attempt(|| agrees(device, &empty, Layout::Contiguous, 1));
            failures.note(place, outcome);
        }
    }
    failures.report();
}

/// A sample with a weight for each output element, which make one number of its output.
struct Problem<'a> {
    device: Device,
    sample: &'a Sample,
    dtype: DType,
    inputs: Vec<Array>,
    weights: Array,
}

impl<'a> Problem<'a> {
    fn new(device: Device, sample: &'a Sample, dtype: DType, layout: Layout) -> Self {
        let arrays = sample.arrays(dtype, false);
        let inputs: Vec<Array> = arrays.iter().map(|array| layout.logical(array)).collect();
        let output = sample
            .described(dtype)
            .infer()
            .expect("samples are legal")
            .one();
        Self {
            device,
            sample,
            dtype,
            weights: match output.dtype.kind() {
                Kind::Float => weights("outputs", output.shape.to_vec(), output.dtype),
                // Never used: nothing flows.
                Kind::Int | Kind::Bool => Array::floats([0], []),
            },
            inputs,
        }
    }

    fn is_float(&self, input: usize) -> bool {
        self.inputs[input].dtype.is_float()
    }

    /// The weighted sum of the output for these inputs.
    fn value(&self, inputs: &[Array]) -> f64 {
        let operation = self.sample.operation(self.dtype);
        let operation = operation.map(&mut |at| self.device.upload(inputs[at].to_data()));
        let output = Array::from_data(&read(run(self.device, operation).one()));
        dot(&output, &self.weights)
    }

    /// The inputs as leaves, and the output on their tape.
    fn output(&self, inputs: &[Array], layout: Layout) -> (Vec<Handle>, Handle) {
        let device = registry::autodiff(self.device);
        let leaves: Vec<Handle> = (0..inputs.len())
            .map(|at| {
                let placed = layout.place(self.device, &inputs[at]);
                let lifted = transfer(placed, device).expect("layers of one device");
                match self.is_float(at) {
                    true => require_grad(lifted).expect("the device has a tape"),
                    false => lifted,
                }
            })
            .collect();
        let operation = self.sample.operation(self.dtype);
        let output = run(device, operation.map(&mut |at| leaves[at].clone())).one();
        (leaves, output)
    }

    /// The inputs as leaves, and the weighted output on their tape.
    fn record(&self, inputs: &[Array], layout: Layout) -> (Vec<Handle>, Handle) {
        let (leaves, output) = self.output(inputs, layout);
        let mut device = registry::autodiff(self.device);
        let weights = device.upload(self.weights.to_data());
        (leaves, device.mul(output, weights))
    }

    /// The gradient for each float input, zeros where none arrived.
    fn collect(&self, leaves: &[Handle], gradients: &Gradients) -> Vec<Array> {
        let floats = (0..leaves.len()).filter(|at| self.is_float(*at));
        floats
            .map(|at| match gradients.get(&leaves[at]) {
                Some(gradient) => Array::from_data(&read(gradient.clone())),
                None => zeros(&self.inputs[at]),
            })
            .collect()
    }

    /// The gradients for `leaves` of a tensor on their tape; zeros where it does not depend on them.
    fn gradients(&self, leaves: &[Handle], of: &Handle) -> Result<Vec<Array>, BackwardError> {
        match is_tracked(of) {
            true => Ok(self.collect(leaves, &backward(of, false)?)),
            false => Ok(self.collect(leaves, &Gradients::default())),
        }
    }

    /// The inputs as leaves, and on their tape the derivative of the weighted sum in the direction of the first `order` of
    /// `directions`.
    fn along(
        &self,
        inputs: &[Array],
        layout: Layout,
        order: usize,
    ) -> Result<(Vec<Handle>, Handle), BackwardError> {
        let (leaves, mut value) = self.record(inputs, layout);
        for order in 0..order {
            let gradients = match is_tracked(&value) {
                true => backward(&value, true)?,
                false => Gradients::default(),
            };
            value = self.directed(&leaves, &gradients, order);
        }
        Ok((leaves, value))
    }

    /// The products of gradients and directions, summed.
    fn directed(&self, leaves: &[Handle], gradients: &Gradients, order: usize) -> Handle {
        let mut device = registry::autodiff(self.device);
        let mut sum = device.upload(burn_std::TensorData::new(vec![0.0f64], [1]));
        for at in (0..leaves.len()).filter(|at| self.is_float(*at)) {
            let Some(gradient) = gradients.get(&leaves[at]) else {
                continue;
            };
            let name = format!("direction {at} of order {order}");
            let direction = weights(&name, self.inputs[at].shape.clone(), self.dtype);
            let direction = device.upload(direction.to_data());
            let product = device.mul(gradient.clone(), direction);
            let all = Dims::all(product.meta().rank());
            let total = device.reduce(burn_ir::ReduceOp::Sum, product, all);
            let total = device.reshape(total, [1].into());
            sum = device.add(sum, total);
        }
        sum
    }

    /// Central differences of `f` in each element of each float input.
    fn differences(&self, f: &dyn Fn(&[Array]) -> f64) -> Vec<Array> {
        let floats = (0..self.inputs.len()).filter(|at| self.is_float(*at));
        floats
            .map(|at| {
                let slope = |element: usize| {
                    let moved = |by: f64| {
                        let mut inputs = self.inputs.clone();
                        let value = inputs[at].data[element].float() + by;
                        inputs[at].data[element] = Num::Float(value);
                        f(&inputs)
                    };
                    (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
                };
                let shape = self.inputs[at].shape.clone();
                Array::floats(shape, (0..self.inputs[at].data.len()).map(slope))
            })
            .collect()
    }
}

fn weights(name: &str, shape: Vec<usize>, dtype: DType) -> Array {
    let mut generator = Generator::new(name);
    let count: usize = shape.iter().product();
    let data = (0..count).map(|_| Num::Float(generator.uniform(0.5, 1.5)));
    Array::new(shape, dtype, data.collect())
}

fn zeros(like: &Array) -> Array {
    let data = like.data.iter().map(|_| Num::Float(0.0));
    Array::new(like.shape.clone(), like.dtype, data.collect())
}

fn dot(lhs: &Array, rhs: &Array) -> f64 {
    lhs.data
        .iter()
        .zip(&rhs.data)
        .map(|(x, y)| x.float() * y.float())
        .sum()
}

/// The gradients of the derivative of one order less, against its differences.
fn agrees(device: Device, sample: &Sample, layout: Layout, order: usize) -> Option<String> {
    let problem = Problem::new(device, sample, DType::F64, layout);
    let value = |inputs: &[Array]| match order {
        1 => problem.value(inputs),
        _ => {
            let along = problem.along(inputs, Layout::Contiguous, order - 1);
            let (_, value) = along.expect("lower orders were checked before");
            Array::from_data(&read(value)).data[0].float()
        }
    };
    let expected = problem.differences(&value);
    let found = problem
        .along(&problem.inputs, layout, order - 1)
        .and_then(|(leaves, value)| problem.gradients(&leaves, &value));
    match found {
        Ok(found) => compare(&found, &expected, TOLERANCE),
        Err(error) => Some(error.to_string()),
    }
}

/// Gradients of another element type have that type, and are those of f64 as far as its digits go.
fn narrow(device: Device, sample: &Sample, dtype: DType, layout: Layout) -> Option<String> {
    let problem = Problem::new(device, sample, dtype, layout);
    let mut wide = Problem::new(device, sample, DType::F64, layout);
    let widen = |array: &Array| match array.dtype == dtype {
        true => Array {
            dtype: DType::F64,
            ..array.clone()
        },
        false => array.clone(),
    };
    wide.inputs = problem.inputs.iter().map(widen).collect();
    let gradient = |problem: &Problem<'_>| {
        let (leaves, value) = problem.record(&problem.inputs, layout);
        problem
            .gradients(&leaves, &value)
            .map_err(|error| error.to_string())
    };
    let (found, expected) = match (gradient(&problem), gradient(&wide)) {
        (Ok(found), Ok(expected)) => (found, expected),
        (Err(error), _) | (_, Err(error)) => return Some(error),
    };
    if let Some(other) = found.iter().find(|gradient| gradient.dtype != dtype) {
        return Some(format!("a gradient is of {}", other.dtype.name()));
    }
    // Rules take some roundings each, of numbers somewhat larger than their difference.
    compare(&found, &expected, 32.0 * Format::of(dtype).unit())
}

/// Nothing but zeros flows through an operation that the table calls not differentiable.
fn flat(device: Device, sample: &Sample) -> Option<String> {
    let problem = Problem::new(device, sample, DType::F64, Layout::Contiguous);
    let output = problem.output(&problem.inputs, Layout::Contiguous).1;
    // Casts between floats are linear; their differences do not survive the narrower type.
    if sample.name() == "cast" && output.meta().dtype.kind() == Kind::Float {
        return (!is_tracked(&output)).then(|| "no gradient flows".into());
    }
    if !is_tracked(&output) {
        return None;
    }
    let (leaves, value) = problem.record(&problem.inputs, Layout::Contiguous);
    match problem.gradients(&leaves, &value) {
        Ok(found) => {
            let zeros: Vec<Array> = found.iter().map(zeros).collect();
            compare(&found, &zeros, 0.0)
        }
        Err(error) => Some(error.to_string()),
    }
}

fn compare(found: &[Array], expected: &[Array], tolerance: f64) -> Option<String> {
    if found.len() != expected.len() {
        return Some(format!(
            "{} gradients instead of {}",
            found.len(),
            expected.len()
        ));
    }
    found
        .iter()
        .zip(expected)
        .enumerate()
        .find_map(|(input, (found, expected))| {
            if found.shape != expected.shape {
                return Some(format!(
                    "gradient {input} is {:?} instead of {:?}",
                    found.shape, expected.shape
                ));
            }
            let at = (0..found.data.len()).find(|at| {
                let (found, expected) = (found.data[*at].float(), expected.data[*at].float());
                let close = (found - expected).abs() <= tolerance * (1.0 + expected.abs());
                // NaN is not close.
                !close
            })?;
            Some(format!(
                "gradient {input} at {at} is {:?} instead of {:?}",
                found.data[at], expected.data[at]
            ))
        })
}
