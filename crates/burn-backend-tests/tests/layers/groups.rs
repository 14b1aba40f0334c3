//! What is planned as one group, on a backend that fuses all it can and notes the groups.

use burn_backend::{Backend, Build, Device, Emit, FuseBackend, Group, Local, On, Slot};
use burn_flex::{Flex, FlexDevice, FlexTensor};
use burn_fusion::{Fusion, FusionDevice, FusionTensor};
use burn_ir::{
    ActivationOp, BinaryOp, Checked, Class, Described, Dims, Operation, Outputs, ReduceOp, UnaryOp,
};
use burn_std::{DType, DeviceSettings, DynFut, ExecutionError, TensorData, read_sync};
use std::sync::{Arc, Mutex, MutexGuard};

/// The CPU backend, with groups noted and run step by step.
#[derive(Debug)]
struct Noting;

/// A device with its notes.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<Vec<Group>>>);

impl Notes {
    fn groups(&self) -> MutexGuard<'_, Vec<Group>> {
        self.0.lock().expect("no thread panics while it notes")
    }
}

impl Backend for Noting {
    type Device = Notes;
    type Tensor = FlexTensor;

    fn name(_: &Notes) -> String {
        "noting".into()
    }

    fn settings(_: &Notes) -> DeviceSettings {
        Flex::settings(&FlexDevice)
    }

    fn supports_dtype(_: &Notes, dtype: DType) -> bool {
        Flex::supports_dtype(&FlexDevice, dtype)
    }

    fn supports<T: Described>(_: &Notes, operation: &Operation<T>) -> bool {
        Flex::supports(&FlexDevice, operation)
    }

    fn execute(_: &Notes, operation: Checked<FlexTensor>) -> Outputs<FlexTensor> {
        Flex::execute(&FlexDevice, operation)
    }

    fn upload(_: &Notes, data: TensorData) -> FlexTensor {
        Flex::upload(&FlexDevice, data)
    }

    fn download(
        _: &Notes,
        tensors: Vec<FlexTensor>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
        Flex::download(&FlexDevice, tensors)
    }

    fn sync(_: &Notes) -> Result<(), ExecutionError> {
        Flex::sync(&FlexDevice)
    }

    fn seed(_: &Notes, seed: u64) {
        Flex::seed(&FlexDevice, seed);
    }
}

impl FuseBackend for Noting {
    fn fuses<T: Described>(_: &Notes, operation: &Operation<T>) -> bool {
        let fits = match operation {
            Operation::Reduce { .. } | Operation::Matmul { .. } => true,
            other => other.class() == Class::Elementwise,
        };
        fits && Flex::supports(&FlexDevice, operation)
    }

    fn execute_group(notes: &Notes, group: &Group, inputs: Vec<FlexTensor>) -> Vec<FlexTensor> {
        notes.groups().push(group.clone());
        let mut values = inputs;
        for step in group.steps() {
            let operation = step.map_ref(&mut |slot| values[slot.0].clone());
            values.push(
                On::<Flex>(&FlexDevice)
                    .emit(operation.check().expect("groups are of legal instructions"))
                    .one(),
            );
        }
        let outputs = group.outputs().iter();
        outputs.map(|slot| values[slot.0].clone()).collect()
    }
}

/// A fusing device of the backend, for programs over handles.
pub(crate) fn device() -> Device {
    let device = FusionDevice::new(Notes::default(), 0);
    Device::new(Box::leak(Box::new(Local::<Fusion<Noting>>::new(device))))
}

type Tensor = FusionTensor<Noting>;

/// A fusing device with its notes.
struct Fusing(FusionDevice<Noting>, Notes);

impl Fusing {
    fn new() -> Self {
        let notes = Notes::default();
        Self(FusionDevice::new(notes.clone(), 0), notes)
    }

    fn emit(&self) -> On<'_, Fusion<Noting>> {
        On(&self.0)
    }

    fn floats<const D: usize>(&self, shape: [usize; D]) -> Tensor {
        let len = shape.iter().product();
        let elements: Vec<f32> = (0..len).map(|at: usize| (at % 7) as f32 / 4.0).collect();
        Fusion::<Noting>::upload(&self.0, TensorData::new(elements, shape.to_vec()))
    }

    fn read(&self, tensor: &Tensor) -> TensorData {
        let read = Fusion::<Noting>::download(&self.0, vec![tensor.clone()]);
        read_sync(read).expect("the CPU does not fail").remove(0)
    }

    /// The groups so far: the names of their steps, those of outputs with a star.
    fn groups(&self) -> Vec<String> {
        let notes = self.1.groups();
        notes.iter().map(names).collect()
    }
}

fn names(group: &Group) -> String {
    let name = |(at, step): (usize, &Operation<Slot>)| {
        let is_output = group.outputs().contains(&Slot(group.inputs() + at));
        format!("{}{}", step.name(), if is_output { "*" } else { "" })
    };
    let names: Vec<String> = group.steps().iter().enumerate().map(name).collect();
    names.join(" ")
}

/// The lowering: the CPU backend has a kernel for the whole, which does not fuse.
fn softmax<E: Emit>(e: &mut E, x: E::Tensor) -> E::Tensor {
    let max = e.reduce(ReduceOp::Max, x.clone(), Dims::one(1));
    let shifted = e.sub(x, max);
    let exp = e.unary(UnaryOp::Exp, shifted);
    let sum = e.reduce(ReduceOp::Sum, exp.clone(), Dims::one(1));
    e.div(exp, sum)
}

#[test]
fn softmax_computes_the_exponential_again_rather_than_writing_it() {
    let fusing = Fusing::new();
    let y = softmax(&mut fusing.emit(), fusing.floats([4, 8]));
    let fused = fusing.read(&y);
    assert_eq!(fusing.groups(), ["max*", "sub exp sum*", "sub exp div*"]);

    let data = fusing.read(&fusing.floats([4, 8]));
    let x = Flex::upload(&FlexDevice, data);
    let y = softmax(&mut On::<Flex>(&FlexDevice), x);
    let plain = read_sync(Flex::download(&FlexDevice, vec![y])).unwrap();
    assert_eq!(fused, plain[0]);
}

#[test]
fn an_exponential_that_is_held_is_still_a_value() {
    let fusing = Fusing::new();
    let mut e = fusing.emit();
    let exp = e.unary(UnaryOp::Exp, fusing.floats([4, 8]));
    let sum = e.reduce(ReduceOp::Sum, exp.clone(), Dims::all(2));
    fusing.read(&sum);
    fusing.read(&exp);
    assert_eq!(fusing.groups(), ["exp sum*", "exp*"]);
}

#[test]
fn what_takes_two_inputs_of_its_size_is_written_rather_than_computed_again() {
    let fusing = Fusing::new();
    let mut e = fusing.emit();
    let difference = e.sub(fusing.floats([4, 8]), fusing.floats([4, 8]));
    let square = e.mul(difference.clone(), difference.clone());
    let sum = e.reduce(ReduceOp::Sum, square, Dims::all(2));
    fusing.read(&sum);
    assert_eq!(fusing.groups(), ["sub*", "mul sum*"]);
}

#[test]
fn what_nobody_holds_joins_the_reduction_whatever_it_takes() {
    let fusing = Fusing::new();
    let mut e = fusing.emit();
    let product = e.mul(fusing.floats([4, 8]), fusing.floats([4, 8]));
    let sum = e.reduce(ReduceOp::Sum, product, Dims::all(2));
    fusing.read(&sum);
    assert_eq!(fusing.groups(), ["mul sum*"]);
}

#[test]
fn a_normalisation_is_three_groups() {
    let fusing = Fusing::new();
    let mut e = fusing.emit();
    let x = fusing.floats([4, 8]);
    let mean = e.reduce(ReduceOp::Mean, x.clone(), Dims::one(1));
    let centred = e.sub(x, mean);
    let square = e.mul(centred.clone(), centred.clone());
    let variance = e.reduce(ReduceOp::Mean, square, Dims::one(1));
    let variance = e.add_scalar(variance, 1e-5);
    let deviation = e.unary(UnaryOp::Sqrt, variance);
    let y = e.div(centred, deviation);
    fusing.read(&y);
    assert_eq!(
        fusing.groups(),
        ["mean*", "sub mul mean add sqrt*", "sub div*"]
    );
}

#[test]
fn a_matrix_product_takes_what_follows_it_and_not_what_leads_to_it() {
    let fusing = Fusing::new();
    let mut e = fusing.emit();
    let x = e.unary(UnaryOp::Exp, fusing.floats([4, 8]));
    let product = e.matmul(x, fusing.floats([8, 2]));
    // What leads to it has begun.
    assert_eq!(fusing.groups(), ["exp*"]);
    let biased = e.add(product, fusing.floats([1, 2]));
    let y = e.activation(ActivationOp::Relu, biased);
    fusing.read(&y);
    assert_eq!(fusing.groups(), ["exp*", "matmul add relu*"]);
}

#[test]
fn of_two_anchors_the_newer_joins() {
    let fusing = Fusing::new();
    let mut e = fusing.emit();
    let product = e.matmul(fusing.floats([4, 8]), fusing.floats([8, 1]));
    let sum = e.reduce(ReduceOp::Sum, fusing.floats([4, 8]), Dims::one(1));
    let y = e.binary(BinaryOp::Max, sum, product);
    fusing.read(&y);
    assert_eq!(fusing.groups(), ["matmul*", "sum max*"]);
}

#[test]
fn a_reduction_that_keeps_the_shape_does_not_wait() {
    let fusing = Fusing::new();
    let mut e = fusing.emit();
    let exp = e.unary(UnaryOp::Exp, fusing.floats([4, 1]));
    let sum = e.reduce(ReduceOp::Sum, exp.clone(), Dims::one(1));
    let y = e.div(exp, sum);
    fusing.read(&y);
    assert_eq!(fusing.groups(), ["exp*", "div*"]);
}

#[test]
fn groups_do_not_depend_on_the_number_of_threads() {
    let program = |fusing: &Fusing| {
        for rows in 1..20 {
            let mut e = fusing.emit();
            let y = softmax(&mut e, fusing.floats([rows, 8]));
            let kept = e.mul_scalar(y.clone(), 2.0);
            let mean = e.reduce(ReduceOp::Mean, kept.clone(), Dims::one(0));
            fusing.read(&mean);
            fusing.read(&kept);
        }
    };
    let sorted = |fusing: &Fusing| {
        let notes = fusing.1.groups();
        let mut groups: Vec<String> = notes.iter().map(|it| format!("{it:?}")).collect();
        groups.sort();
        groups
    };
    let alone = Fusing::new();
    program(&alone);
    let together = Fusing::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| program(&together));
        }
    });
    let expected: Vec<String> = sorted(&alone)
        .into_iter()
        .flat_map(|group| std::iter::repeat_n(group, 8))
        .collect();
    assert_eq!(sorted(&together), expected);
}
