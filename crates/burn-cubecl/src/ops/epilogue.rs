//! What is on the sides of an anchor: elementwise steps with their operands, and how the kernel of the anchor runs those of
//! its epilogue. What leads to a reduction is part of the kernel in [`fold`](super::fold).

use super::cast::{convert, from_storage};
use super::group::{index, scalar};
use super::kernel::{Argument, Buffer, arguments, compute, load, place, store_all};
use super::plan::{Access, Plan, Read, fits, iteration};
use crate::CubeTensor;
use crate::device::storage;
use burn_backend::{Group, Slot};
use burn_ir::Described;
use burn_std::{DType, Scalar};
use core::ops::Range;
use cubecl::prelude::*;

/// What is on one side of the anchor, with its operands and scalars.
#[derive(Clone)]
pub(super) struct Side {
    pub(super) plan: Plan,
    pub(super) scalars: Vec<Scalar>,
    pub(super) inputs: Vec<CubeTensor>,
}

impl Side {
    /// Some steps of a group, which write `outputs`. `total` is what they read first that is not in memory; inputs
    /// without a tensor are positions.
    pub(super) fn new(
        group: &Group,
        steps: Range<usize>,
        total: Option<Slot>,
        outputs: &[Slot],
        tensors: &[CubeTensor],
    ) -> Self {
        let mut used = vec![false; group.inputs()];
        let mut uses = |slot: &Slot| {
            if let Some(used) = used.get_mut(slot.0) {
                *used = true;
            }
        };
        group.steps()[steps.clone()]
            .iter()
            .for_each(|step| step.each(&mut uses));
        outputs.iter().for_each(&mut uses);
        let inputs = (0..group.inputs()).filter(|input| used[*input]).map(Slot);
        let reads: Vec<Slot> = total.into_iter().chain(inputs).collect();
        let (mut plan, scalars) = Plan::part(group, steps, &reads, outputs);
        let mut inputs = Vec::new();
        for (slot, read) in reads.iter().zip(&mut plan.reads).skip(total.iter().count()) {
            match tensors.get(slot.0) {
                Some(tensor) => inputs.push(tensor.clone()),
                None => read.access = Access::Position,
            }
        }
        Self {
            plan,
            scalars,
            inputs,
        }
    }

    /// A tensor as it is.
    pub(super) fn plain(tensor: CubeTensor) -> Self {
        Self {
            plan: Plan::copy(tensor.meta().dtype),
            scalars: Vec::new(),
            inputs: vec![tensor],
        }
    }

    /// What is folded, as it is.
    pub(super) fn through(dtype: DType) -> Self {
        Self {
            plan: Plan::copy(dtype),
            scalars: Vec::new(),
            inputs: Vec::new(),
        }
    }

    /// The operands that are in memory, as arguments. `first` is the first read of the plan that is.
    pub(super) fn reads(&self, first: usize) -> SequenceArg<Buffer> {
        let reads = self.inputs.iter().zip(&self.plan.reads[first..]);
        let argument = |(input, read): (&CubeTensor, &Read)| {
            Argument::read(input, read.access, self.plan.lanes)
        };
        reads.map(argument).collect()
    }

    /// The scalars as arguments.
    pub(super) fn values(&self) -> SequenceArg<InputScalar> {
        let values = self.scalars.iter().zip(&self.plan.scalars);
        values
            .map(|(value, dtype)| scalar(*value, *dtype))
            .collect()
    }

    /// Whether `lanes` elements of an output of `shape` can be computed at once.
    pub(super) fn fits(&self, shape: &[usize], lanes: usize) -> bool {
        fits(&iteration(shape, &self.inputs), &self.inputs, lanes)
    }

    /// This as an argument of a kernel that gives `lanes` elements at once, for the first read of the plan, and the plan
    /// as that kernel has it.
    pub(super) fn launched(
        mut self,
        outputs: &[CubeTensor],
        lanes: usize,
        wide: bool,
    ) -> (EpilogueLaunch, Plan) {
        let layout = iteration(&outputs[0].meta().shape, &self.inputs);
        self.plan.lanes = lanes;
        let layout = self.plan.arguments(&layout, &self.inputs);
        let writes = outputs.iter();
        let epilogue = EpilogueLaunch::new(
            self.reads(1),
            writes.map(|it| Argument::write(it, lanes)).collect(),
            self.values(),
            layout.into_iter().map(|it| index(it, wide)).collect(),
            self.plan.clone(),
        );
        (epilogue, self.plan)
    }

    pub(super) fn written(&self) -> DType {
        self.plan.dtype(self.plan.writes[0])
    }
}

/// What becomes of the elements that an anchor gives, as an argument of its kernel: the elements are the first read of the
/// plan, the other operands are in memory, and what the plan writes is stored.
#[derive(CubeType, CubeLaunch)]
// Read in kernels, through its expansion.
#[allow(dead_code)]
pub(crate) struct Epilogue {
    inputs: Sequence<Buffer>,
    outputs: Sequence<Buffer>,
    scalars: Sequence<InputScalar>,
    /// The size of each dim, then for each operand in memory its offset and its stride in each dim.
    layout: Sequence<InputScalar>,
    #[cube(comptime)]
    plan: Plan,
}

/// Runs an epilogue for `total`, an element or several beside each other, which is at `position` of the output.
#[expect(
    clippy::extra_unused_type_parameters,
    reason = "its expansion has the same parameters"
)]
pub(crate) fn write<T: Numeric, N: Size, I: Int>(
    _epilogue: &mut Epilogue,
    _total: Vector<T, N>,
    _position: usize,
) {
    unreachable!("kernels are built from its expansion")
}

pub(crate) mod write {
    use super::*;

    pub(crate) fn expand<T: Numeric, N: Size, I: Int>(
        scope: &Scope,
        epilogue: &mut EpilogueExpand,
        total: NativeExpand<Vector<T, N>>,
        position: NativeExpand<usize>,
    ) {
        let plan = &epilogue.plan;
        let (dtype, lanes, rank) = (plan.reads[0].dtype, plan.lanes, plan.rank);
        let total = convert(scope, total.read_value(scope), storage(dtype), lanes);
        let mut reads = vec![from_storage(scope, total, dtype, lanes)];
        for (at, read) in plan.reads[1..].iter().enumerate() {
            let arguments = rank + at * (rank + 1);
            let linear = read.access == Access::Linear;
            let layout = &epilogue.layout;
            let index = place::expand::<I>(scope, position, layout, 0, rank, arguments, linear);
            let buffer = epilogue.inputs.__expand_index_method(scope, at.into());
            reads.push(load(scope, buffer, index, *read, lanes));
        }
        let scalars = arguments(scope, &epilogue.scalars, 0, plan);
        let writes = compute(scope, plan, reads, scalars);
        store_all(scope, &mut epilogue.outputs, position, plan, writes);
    }
}
