//! Positions in groups of elements: a fold of the elements, then a fold of the positions of those that equal the result.

use super::group;
use super::reduce::Reduction;
use crate::{CubeDevice, CubeTensor};
use burn_backend::{Group, Slot};
use burn_ir::{BinaryOp, CompareOp, Described, Dims, Operand, Operation, ReduceOp, TensorMeta};
use burn_std::{BoolStore, DType, IntDType, Scalar};

/// The positions of the first largest or smallest elements along `dims`, or of the first NaN.
pub(super) fn run(
    device: &CubeDevice,
    op: ReduceOp,
    input: &CubeTensor,
    dims: Dims,
    output: &TensorMeta,
) -> CubeTensor {
    let op = match op {
        ReduceOp::ArgMax { .. } => ReduceOp::Max,
        _ => ReduceOp::Min,
    };
    let best = TensorMeta::new(output.shape.clone(), input.meta().dtype);
    let fold = Operation::Reduce {
        op,
        input: input.clone(),
        dims,
    };
    let found = group::single(device, fold, best);
    let (group, anchor) = positions([input.meta(), found.meta()], dims, output);
    // The third input of the group is nowhere.
    let inputs = [input.clone(), found];
    let mut outputs = Reduction::new(&group, anchor, &inputs).run(device);
    outputs.pop().expect("the group has one output")
}

/// The smallest of the positions, which are the third input, where the first equals the second; and the anchor.
fn positions(inputs: [&TensorMeta; 2], dims: Dims, output: &TensorMeta) -> (Group, usize) {
    let whole = &inputs[0].shape;
    let len: usize = dims.iter().map(|dim| whole[dim]).product();
    let int = DType::from(match i32::try_from(len) {
        Ok(_) => IntDType::I32,
        Err(_) => IntDType::I64,
    });
    let position = TensorMeta::new(whole.clone(), int);
    let mut group = Group::new(vec![inputs[0].clone(), inputs[1].clone(), position.clone()]);
    let store = BoolStore::Native;
    let truth = TensorMeta::new(whole.clone(), DType::Bool(store));
    let compare = |op, lhs, rhs| Operation::Compare {
        op,
        lhs,
        rhs: Operand::Tensor(rhs),
        store,
    };
    let equal = compare(CompareOp::Equal, Slot(0), Slot(1));
    let lhs = group.step(equal, truth.clone());
    // The result is NaN if any element is, and then those are the ones to find.
    let nan = compare(CompareOp::NotEqual, Slot(0), Slot(0));
    let rhs = Operand::Tensor(group.step(nan, truth.clone()));
    let op = BinaryOp::Or;
    let mask = group.step(Operation::Binary { op, lhs, rhs }, truth);
    let candidate = Operation::Where {
        mask,
        on_true: Operand::Tensor(Slot(2)),
        on_false: Scalar::Int(len as i64).into(),
    };
    let input = group.step(candidate, position);
    let op = ReduceOp::Min;
    let anchor = group.steps().len();
    let first = TensorMeta::new(output.shape.clone(), int);
    let input = group.step(Operation::Reduce { op, input, dims }, first);
    let dtype = output.dtype;
    let cast = group.step(Operation::Cast { input, dtype }, output.clone());
    group.output(cast);
    (group, anchor)
}
