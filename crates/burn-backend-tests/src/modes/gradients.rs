//! Gradients against finite differences, in f64.

use crate::array::Format;
use crate::check::{attempt, read};
use crate::{Array, Failures, Generator, Gradient, Layout, Num, Sample};
use burn_backend::{Build, Device, Handle};
use burn_dispatch::autodiff::{BackwardError, Gradients, backward, is_tracked, require_grad};
use burn_dispatch::{registry, run, transfer};
use burn_ir::{Described, Dims, Operation};
use burn_std::{DType, Kind};

/// The step of central differences. Truncation grows as `h²`, rounding as `ε/h`: they balance at `∛ε`
/// (Press et al. 2007, section 5.7), where both are near 1e-11 for functions of moderate derivatives.
const STEP: f64 = 6e-6;

/// What two gradients may differ by, relative to 1 or to their size: a thousand times the error of [`STEP`], for third
/// derivatives and sums of that size, and a million times less than what a wrong rule gives.
const TOLERANCE: f64 = 1e-7;

/// Gradients of every differentiable sample agree with finite differences, on every layout; those of smooth ones can be
/// differentiated again. Nothing flows through the others.
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
            let place = format!("{sample:?} {layout:?}");
            failures.note(place, attempt(|| first_order(device, &sample, layout)));
        }
        if let Some(empty) = sample.emptied(DType::F64) {
            let place = format!("{sample:?} without elements");
            failures.note(
                place,
                attempt(|| first_order(device, &empty, Layout::Contiguous)),
            );
        }
        if sample.gradient == Gradient::Smooth {
            failures.note(
                format!("{sample:?}, order 2"),
                attempt(|| second_order(device, &sample)),
            );
        }
        for dtype in sample.supported(&|dtype| device.supports_dtype(dtype)) {
            if dtype.is_float() && dtype != DType::F64 {
                let place = format!("{sample:?} on {}", dtype.name());
                failures.note(place, attempt(|| narrow(device, &sample, dtype)));
            }
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
            weights: weights("outputs", output.shape.to_vec(), output.dtype),
            inputs,
        }
    }

    fn is_float(&self, input: usize) -> bool {
        self.inputs[input].dtype.is_float()
    }

    /// The weighted sum of the output for these inputs.
    fn loss(&self, inputs: &[Array]) -> f64 {
        let operation = self.sample.operation(self.dtype);
        let operation = operation.map(&mut |at| self.device.upload(inputs[at].to_data()));
        let output = Array::from_data(&read(run(self.device, operation).one()));
        dot(&output, &self.weights)
    }

    /// The inputs as leaves, and the weighted output on their tape.
    fn record(&self, inputs: &[Array], layout: Layout) -> (Vec<Handle>, Handle) {
        let mut device = registry::autodiff(self.device);
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
        let weights = device.upload(self.weights.to_data());
        let weighted = device.mul(output, weights);
        (leaves, weighted)
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

    fn analytic(&self, inputs: &[Array], layout: Layout) -> Result<Vec<Array>, BackwardError> {
        let (leaves, weighted) = self.record(inputs, layout);
        let gradients = backward(&weighted, false)?;
        Ok(self.collect(&leaves, &gradients))
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

fn first_order(device: Device, sample: &Sample, layout: Layout) -> Option<String> {
    let problem = Problem::new(device, sample, DType::F64, layout);
    let expected = problem.differences(&|inputs| problem.loss(inputs));
    match problem.analytic(&problem.inputs, layout) {
        Ok(gradients) => compare(&gradients, &expected, TOLERANCE),
        Err(error) => Some(error.to_string()),
    }
}

/// Gradients of another element type have that type, and are those of f64 as far as its digits go.
fn narrow(device: Device, sample: &Sample, dtype: DType) -> Option<String> {
    let problem = Problem::new(device, sample, dtype, Layout::Contiguous);
    let mut wide = Problem::new(device, sample, DType::F64, Layout::Contiguous);
    let widen = |array: &Array| match array.dtype == dtype {
        true => Array {
            dtype: DType::F64,
            ..array.clone()
        },
        false => array.clone(),
    };
    wide.inputs = problem.inputs.iter().map(widen).collect();
    let gradient = |problem: &Problem<'_>| {
        problem
            .analytic(&problem.inputs, Layout::Contiguous)
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

/// The gradient of the weighted sum of the gradients, against the differences of that sum.
fn second_order(device: Device, sample: &Sample) -> Option<String> {
    let problem = Problem::new(device, sample, DType::F64, Layout::Contiguous);
    let directions: Vec<Array> = (0..problem.inputs.len())
        .filter(|at| problem.is_float(*at))
        .map(|at| {
            weights(
                &format!("direction {at}"),
                problem.inputs[at].shape.clone(),
                DType::F64,
            )
        })
        .collect();
    let along = |gradients: &[Array]| -> f64 {
        gradients
            .iter()
            .zip(&directions)
            .map(|(gradient, direction)| dot(gradient, direction))
            .sum()
    };
    let slope = |inputs: &[Array]| {
        let gradients = problem.analytic(inputs, Layout::Contiguous);
        along(&gradients.expect("the first order was checked before"))
    };
    let expected = problem.differences(&slope);
    match hessian_product(&problem, &directions) {
        Ok(product) => compare(&product, &expected, TOLERANCE),
        Err(error) => Some(error.to_string()),
    }
}

fn hessian_product(
    problem: &Problem<'_>,
    directions: &[Array],
) -> Result<Vec<Array>, BackwardError> {
    let mut device = registry::autodiff(problem.device);
    let (leaves, weighted) = problem.record(&problem.inputs, Layout::Contiguous);
    let gradients = backward(&weighted, true)?;
    let mut sum: Option<Handle> = None;
    let floats: Vec<&Handle> = (0..leaves.len())
        .filter(|at| problem.is_float(*at))
        .map(|at| &leaves[at])
        .collect();
    for (leaf, direction) in floats.iter().zip(directions) {
        let Some(gradient) = gradients.get(leaf) else {
            continue;
        };
        let direction = device.upload(direction.to_data());
        let product = device.mul(gradient.clone(), direction);
        let all = Dims::all(product.meta().rank());
        let total = device.reduce(burn_ir::ReduceOp::Sum, product, all);
        let total = device.reshape(total, [0usize; 0].into());
        sum = Some(match sum {
            Some(sum) => device.add(sum, total),
            None => total,
        });
    }
    match sum {
        // The gradient of a linear function does not depend on its inputs.
        Some(sum) if is_tracked(&sum) => Ok(problem.collect(&leaves, &backward(&sum, false)?)),
        _ => Ok(directions.iter().map(zeros).collect()),
    }
}

/// Nothing flows through an operation that the table calls not differentiable, whatever its output.
fn flat(device: Device, sample: &Sample) -> Option<String> {
    let mut layer = registry::autodiff(device);
    let inputs = sample.arrays(DType::F64, false);
    let operation: Operation<Handle> = sample.operation(DType::F64).map(&mut |at| {
        let input = layer.upload(inputs[at].to_data());
        match inputs[at].dtype.kind() {
            Kind::Float => require_grad(input).expect("the device has a tape"),
            Kind::Int | Kind::Bool => input,
        }
    });
    let output = run(layer, operation).one();
    // Casts between floats are linear; their differences do not survive the narrower type.
    if sample.name() == "cast" && output.meta().dtype.kind() == Kind::Float {
        let output = layer.cast(output, DType::F64);
        return (!is_tracked(&output)).then(|| "no gradient flows".into());
    }
    is_tracked(&output).then(|| "a gradient flows".into())
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
