//! Activations over a dim: the lowering's steps in two kernels and two reductions, half types in f32 throughout.

use super::{group, reduce};
use crate::device::count;
use crate::{CubeDevice, CubeTensor};
use burn_backend::{Group, Slot};
use burn_ir::{BinaryOp, Described, Dims, Operand, Operation, ReduceOp, TensorMeta, UnaryOp};
use burn_std::DType;

/// The softmax along `dim`, or its logarithm.
pub(crate) fn run(
    device: &CubeDevice,
    logarithm: bool,
    dim: usize,
    input: CubeTensor,
    output: TensorMeta,
) -> CubeTensor {
    if count(&output) == 0 {
        return CubeTensor::empty(device, output);
    }
    let mut wide = output.clone();
    if matches!(output.dtype, DType::F16 | DType::BF16) {
        wide.dtype = DType::F32;
    }
    let mut line = wide.clone();
    line.shape[dim] = 1;
    let over_dim = |op, input| reduce::run(device, op, input, Dims::one(dim), line.clone());
    let max = over_dim(ReduceOp::Max, input.clone());
    let [shifted, exps] = shift(device, input, max, &wide);
    let sum = over_dim(ReduceOp::Sum, exps.clone());
    match logarithm {
        true => {
            let op = UnaryOp::Log;
            let log = group::single(device, Operation::Unary { op, input: sum }, line.clone());
            combine(device, BinaryOp::Sub, shifted, log, &wide, output)
        }
        false => combine(device, BinaryOp::Div, exps, sum, &wide, output),
    }
}

fn binary(op: BinaryOp, lhs: Slot, rhs: Slot) -> Operation<Slot> {
    let rhs = Operand::Tensor(rhs);
    Operation::Binary { op, lhs, rhs }
}

/// `input - max` and its exponential.
fn shift(
    device: &CubeDevice,
    input: CubeTensor,
    max: CubeTensor,
    wide: &TensorMeta,
) -> [CubeTensor; 2] {
    let mut steps = Group::new(vec![input.meta().clone(), max.meta().clone()]);
    let dtype = wide.dtype;
    let widened = steps.step(
        Operation::Cast {
            input: Slot(0),
            dtype,
        },
        wide.clone(),
    );
    let shifted = steps.step(binary(BinaryOp::Sub, widened, Slot(1)), wide.clone());
    let op = UnaryOp::Exp;
    let exp = steps.step(Operation::Unary { op, input: shifted }, wide.clone());
    steps.output(shifted);
    steps.output(exp);
    let outputs = group::run(device, &steps, vec![input, max]);
    outputs.try_into().expect("the group has two outputs")
}

/// `f(lhs, rhs)` in the element type of the output.
fn combine(
    device: &CubeDevice,
    op: BinaryOp,
    lhs: CubeTensor,
    rhs: CubeTensor,
    wide: &TensorMeta,
    output: TensorMeta,
) -> CubeTensor {
    let mut steps = Group::new(vec![lhs.meta().clone(), rhs.meta().clone()]);
    let result = steps.step(binary(op, Slot(0), Slot(1)), wide.clone());
    let dtype = output.dtype;
    let narrow = Operation::Cast {
        input: result,
        dtype,
    };
    let narrow = steps.step(narrow, output);
    steps.output(narrow);
    let mut outputs = group::run(device, &steps, vec![lhs, rhs]);
    outputs.pop().expect("the group has one output")
}
