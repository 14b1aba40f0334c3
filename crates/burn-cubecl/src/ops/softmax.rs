//! Activations over a dim: the lowering's steps as two reductions and a kernel that computes again what they computed on
//! the way; half types in f32 throughout.

use super::group;
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
    let over = Over { device, dim, wide };
    let max = over.reduced(ReduceOp::Max, None, &[&input], |_, slots| slots[0]);
    let exp = |steps: &mut Steps, slots: &[Slot]| {
        let shifted = steps.binary(BinaryOp::Sub, slots[0], slots[1]);
        steps.unary(UnaryOp::Exp, shifted)
    };
    let after = logarithm.then_some(UnaryOp::Log);
    let sum = over.reduced(ReduceOp::Sum, after, &[&input, &max], exp);

    let mut steps = Steps::new(&over.wide, &[&input, &max, &sum]);
    let slots = steps.widened();
    let result = match logarithm {
        true => {
            let shifted = steps.binary(BinaryOp::Sub, slots[0], slots[1]);
            steps.binary(BinaryOp::Sub, shifted, slots[2])
        }
        false => {
            let exp = exp(&mut steps, &slots);
            steps.binary(BinaryOp::Div, exp, slots[2])
        }
    };
    steps.cast(result, output.dtype);
    steps.run(device)
}

/// What all groups are about.
struct Over<'d> {
    device: &'d CubeDevice,
    dim: usize,
    /// The output, in the type to compute in.
    wide: TensorMeta,
}

impl Over<'_> {
    /// `after` of the reduction of what `before` makes of tensors.
    fn reduced(
        &self,
        op: ReduceOp,
        after: Option<UnaryOp>,
        inputs: &[&CubeTensor],
        before: impl Fn(&mut Steps, &[Slot]) -> Slot,
    ) -> CubeTensor {
        let mut steps = Steps::new(&self.wide, inputs);
        let slots = steps.widened();
        let input = before(&mut steps, &slots);
        steps.meta.shape[self.dim] = 1;
        let dims = Dims::one(self.dim);
        let reduced = steps.step(Operation::Reduce { op, input, dims });
        if let Some(op) = after {
            steps.unary(op, reduced);
        }
        steps.run(self.device)
    }
}

/// A group whose steps all have the same description, and whose last is its output.
struct Steps {
    group: Group,
    meta: TensorMeta,
    inputs: Vec<CubeTensor>,
}

impl Steps {
    fn new(meta: &TensorMeta, inputs: &[&CubeTensor]) -> Self {
        Self {
            group: Group::new(inputs.iter().map(|input| input.meta().clone()).collect()),
            meta: meta.clone(),
            inputs: inputs.iter().map(|input| (*input).clone()).collect(),
        }
    }

    fn step(&mut self, operation: Operation<Slot>) -> Slot {
        self.group.step(operation, self.meta.clone())
    }

    fn unary(&mut self, op: UnaryOp, input: Slot) -> Slot {
        self.step(Operation::Unary { op, input })
    }

    fn binary(&mut self, op: BinaryOp, lhs: Slot, rhs: Slot) -> Slot {
        let rhs = Operand::Tensor(rhs);
        self.step(Operation::Binary { op, lhs, rhs })
    }

    /// The inputs in the type to compute in; only the first may have another.
    fn widened(&mut self) -> Vec<Slot> {
        let mut slots: Vec<Slot> = (0..self.inputs.len()).map(Slot).collect();
        slots[0] = self.cast(slots[0], self.meta.dtype);
        slots
    }

    fn cast(&mut self, input: Slot, dtype: DType) -> Slot {
        if self.group.meta(input).dtype == dtype {
            return input;
        }
        self.meta.dtype = dtype;
        self.step(Operation::Cast { input, dtype })
    }

    fn run(mut self, device: &CubeDevice) -> CubeTensor {
        let last = self.group.inputs() + self.group.steps().len() - 1;
        self.group.output(Slot(last));
        let mut outputs = group::run(device, &self.group, self.inputs);
        outputs.pop().expect("the group has one output")
    }
}
