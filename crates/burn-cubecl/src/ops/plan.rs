//! What a kernel does to each element, without sizes and without the values of scalars: a key of compiled kernels.

use super::layout::{Layout, broadcast};
use crate::CubeTensor;
use crate::device::storage;
use burn_backend::{Group, Slot};
use burn_ir::{Described, Operand, Operation};
use burn_std::{DType, Scalar};
use core::hash::Hash;
use core::ops::Range;

/// Instructions over numbered values, the element types of all of them, and how operands are read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    /// The operands.
    pub(crate) reads: Vec<Read>,
    /// The element types of scalars that come as arguments.
    pub(crate) scalars: Vec<DType>,
    /// The instructions.
    pub(crate) steps: Vec<Step>,
    /// What is stored.
    pub(crate) writes: Vec<Value>,
    /// The number of dims of the iteration.
    pub(crate) rank: usize,
    /// The number of elements that a unit computes together.
    pub(crate) lanes: usize,
    /// How many times, where that many are sure to be there.
    pub(crate) repeats: usize,
}

/// An instruction of a plan. Its scalars are values like all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) operation: Operation<Value>,
    pub(crate) output: DType,
}

/// A value in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// An operand.
    Read(usize),
    /// A scalar argument.
    Scalar(usize),
    /// The output of an instruction.
    Step(usize),
}

/// How an operand is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Read {
    pub(crate) dtype: DType,
    pub(crate) access: Access,
}

/// Where the elements of an operand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Access {
    /// One after the other.
    Linear,
    /// Along the strides of each dim; those that a unit computes together are one after the other.
    Strided,
    /// Along the strides of each dim; one element serves all that a unit computes together.
    Splat,
    /// Nowhere: an element is its own position in a group of a reduction.
    Position,
}

impl Plan {
    /// The plan of a group without an anchor, and the values of its scalars.
    pub(crate) fn new(group: &Group) -> (Self, Vec<Scalar>) {
        let inputs: Vec<Slot> = (0..group.inputs()).map(Slot).collect();
        Self::part(group, 0..group.steps().len(), &inputs, group.outputs())
    }

    /// The plan of some neighbouring steps of a group, which read `inputs` and each other, and the values of their
    /// scalars.
    pub(crate) fn part(
        group: &Group,
        steps: Range<usize>,
        inputs: &[Slot],
        outputs: &[Slot],
    ) -> (Self, Vec<Scalar>) {
        let mut plan = Self::of(inputs.iter().map(|slot| group.meta(*slot).dtype));
        let mut values = Vec::new();
        let value = |slot: &Slot| match inputs.iter().position(|input| input == slot) {
            Some(read) => Value::Read(read),
            None => Value::Step(slot.0 - group.inputs() - steps.start),
        };
        for at in steps.clone() {
            let operation = &group.steps()[at];
            let dtype = scalar_type(operation, group);
            let mut scalar = |scalar: Scalar| {
                plan.scalars.push(dtype);
                values.push(scalar);
                Operand::Tensor(Value::Scalar(values.len() - 1))
            };
            plan.steps.push(Step {
                operation: without_scalars(operation.map_ref(&mut |slot| value(slot)), &mut scalar),
                output: group.meta(Slot(group.inputs() + at)).dtype,
            });
        }
        plan.writes = outputs.iter().map(value).collect();
        (plan, values)
    }

    /// A plan that reads operands and does nothing with them.
    fn of(reads: impl Iterator<Item = DType>) -> Self {
        let access = Access::Strided;
        Self {
            reads: reads.map(|dtype| Read { dtype, access }).collect(),
            scalars: Vec::new(),
            steps: Vec::new(),
            writes: Vec::new(),
            rank: 0,
            lanes: 1,
            repeats: 1,
        }
    }

    /// The plan that copies its one operand.
    pub(crate) fn copy(dtype: DType) -> Self {
        Self {
            writes: vec![Value::Read(0)],
            ..Self::of([dtype].into_iter())
        }
    }

    /// The plan that fills with its one scalar.
    pub(crate) fn fill(dtype: DType) -> Self {
        Self {
            scalars: vec![dtype],
            writes: vec![Value::Scalar(0)],
            ..Self::of([].into_iter())
        }
    }

    /// The element type of a value.
    pub(crate) fn dtype(&self, value: Value) -> DType {
        match value {
            Value::Read(at) => self.reads[at].dtype,
            Value::Scalar(at) => self.scalars[at],
            Value::Step(at) => self.steps[at].output,
        }
    }

    /// The size of the widest element that is loaded or stored, in bytes.
    pub(crate) fn widest(&self) -> usize {
        let reads = self.reads.iter().map(|read| read.dtype);
        let writes = self.writes.iter().map(|value| self.dtype(*value));
        let sizes = reads.chain(writes).map(|dtype| storage(dtype).size());
        sizes.max().unwrap_or(1)
    }

    /// Settles how the operands are read in an iteration over `shape`, and gives the arguments that say where they are.
    pub(crate) fn place(
        &mut self,
        shape: &[usize],
        inputs: &[CubeTensor],
        widths: impl Fn(usize) -> Vec<usize>,
    ) -> Places {
        let layout = iteration(shape, inputs);
        let fits = |lanes: &usize| fits(&layout, inputs, *lanes);
        let widths = widths(self.widest());
        self.lanes = widths.into_iter().filter(fits).max().unwrap_or(1);
        Places {
            len: shape.iter().product::<usize>() / self.lanes,
            arguments: self.arguments(&layout, inputs),
        }
    }

    /// Settles how the last operands are read, `inputs` in number, with the lanes of the plan, and gives the arguments
    /// that say where they are.
    pub(crate) fn arguments(&mut self, layout: &Layout, inputs: &[CubeTensor]) -> Vec<isize> {
        self.rank = layout.rank();
        let mut sizes = layout.sizes.clone();
        if let Some(inner) = sizes.last_mut() {
            *inner /= self.lanes;
        }
        let mut arguments: Vec<isize> = sizes.iter().map(|size| *size as isize).collect();
        let first = self.reads.len() - inputs.len();
        for (at, input) in inputs.iter().enumerate() {
            let (access, offset, strides) = access(layout, at, input.offset() as isize, self.lanes);
            self.reads[first + at].access = access;
            arguments.push(offset);
            arguments.extend(strides);
        }
        arguments
    }
}

/// The iteration over `shape` with operands that broadcast to it.
pub(crate) fn iteration(shape: &[usize], inputs: &[CubeTensor]) -> Layout {
    let strides: Vec<_> = inputs
        .iter()
        .map(|input| broadcast(&input.meta().shape, input.strides(), shape))
        .collect();
    Layout::new(shape, &strides)
}

/// Where the elements of a launch are.
#[derive(Debug)]
pub(crate) struct Places {
    /// The number of units with work.
    pub(crate) len: usize,
    /// The size of each dim, then for each operand its offset and its stride in each dim; in units of what a unit
    /// reads at once.
    pub(crate) arguments: Vec<isize>,
}

/// Whether every operand can be read `lanes` elements at once, or with one element for all of them.
pub(crate) fn fits(layout: &Layout, inputs: &[CubeTensor], lanes: usize) -> bool {
    let Some(inner) = layout.sizes.last() else {
        return lanes == 1;
    };
    let aligned = |value: isize| value % lanes as isize == 0;
    inner % lanes == 0
        && inputs.iter().enumerate().all(|(at, input)| {
            let outer = &layout.strides[at][..layout.rank() - 1];
            match layout.inner_stride(at) {
                0 => true,
                1 => {
                    aligned(input.offset() as isize) && outer.iter().all(|stride| aligned(*stride))
                }
                _ => lanes == 1,
            }
        })
}

/// How an operand is read, its offset and its strides in units of what is read at once.
fn access(
    layout: &Layout,
    operand: usize,
    offset: isize,
    lanes: usize,
) -> (Access, isize, Vec<isize>) {
    let strides = layout.strides[operand].clone();
    let lanes = lanes as isize;
    match layout.inner_stride(operand) {
        0 => (Access::Splat, offset, strides),
        1 if layout.rank() == 1 => (Access::Linear, offset / lanes, strides),
        _ => {
            let (inner, outer) = strides.split_last().expect("there is an inner stride");
            let mut scaled: Vec<isize> = outer.iter().map(|stride| stride / lanes).collect();
            // With several lanes this is 1: neighbours of a unit are neighbours in memory.
            scaled.push(*inner);
            (Access::Strided, offset / lanes, scaled)
        }
    }
}

/// The element type that the scalars of an instruction have.
fn scalar_type(operation: &Operation<Slot>, group: &Group) -> DType {
    let of = |slot: &Slot| group.meta(*slot).dtype;
    match operation {
        Operation::Where {
            on_true, on_false, ..
        } => on_true
            .tensor()
            .or(on_false.tensor())
            .map(of)
            .expect("the check found a tensor"),
        other => {
            let mut first = None;
            other.each(&mut |slot| {
                first.get_or_insert(of(slot));
            });
            first.expect("elementwise instructions have operands")
        }
    }
}

/// The instruction with its scalars replaced.
fn without_scalars(
    operation: Operation<Value>,
    replace: &mut dyn FnMut(Scalar) -> Operand<Value>,
) -> Operation<Value> {
    let mut operand = |operand: Operand<Value>| match operand {
        Operand::Scalar(scalar) => replace(scalar),
        tensor @ Operand::Tensor(_) => tensor,
    };
    match operation {
        Operation::Binary { op, lhs, rhs } => Operation::Binary {
            op,
            lhs,
            rhs: operand(rhs),
        },
        Operation::Compare {
            op,
            lhs,
            rhs,
            store,
        } => Operation::Compare {
            op,
            lhs,
            rhs: operand(rhs),
            store,
        },
        Operation::Where {
            mask,
            on_true,
            on_false,
        } => Operation::Where {
            mask,
            on_true: operand(on_true),
            on_false: operand(on_false),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_ir::{BinaryOp, Dims, ReduceOp, TensorMeta};

    /// `scale · sum((x · factor)²)` over rows.
    fn group(shape: [usize; 2], factor: f64) -> Group {
        let whole = TensorMeta::new(shape, DType::F32);
        let line = TensorMeta::new([shape[0], 1], DType::F32);
        let mut group = Group::new(vec![line.clone(), whole.clone()]);
        let binary = |op, lhs, rhs| Operation::Binary { op, lhs, rhs };
        let factor = Operand::Scalar(Scalar::Float(factor));
        let scaled = group.step(binary(BinaryOp::Mul, Slot(1), factor), whole.clone());
        let square = binary(BinaryOp::Mul, scaled, Operand::Tensor(scaled));
        let input = group.step(square, whole);
        let (op, dims) = (ReduceOp::Sum, Dims::one(1));
        let sum = group.step(Operation::Reduce { op, input, dims }, line.clone());
        let scaled = group.step(binary(BinaryOp::Mul, sum, Operand::Tensor(Slot(0))), line);
        group.output(scaled);
        group
    }

    #[test]
    fn new_sizes_and_scalars_are_the_same_plan() {
        let parts = |group: &Group| {
            let prologue = Plan::part(group, 0..2, &[Slot(1)], &[Slot(3)]);
            let epilogue = Plan::part(group, 3..4, &[Slot(4), Slot(0)], group.outputs());
            (prologue, epilogue)
        };
        let (prologue, epilogue) = parts(&group([2, 3], 0.5));
        let (other_prologue, other_epilogue) = parts(&group([64, 1000], -3.0));
        assert_eq!(prologue.0, other_prologue.0);
        assert_eq!(epilogue.0, other_epilogue.0);
        assert_ne!(prologue.1, other_prologue.1);
    }
}
