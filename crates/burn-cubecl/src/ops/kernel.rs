//! The elementwise kernel: built from a plan, one unit computes a few neighbouring elements of every output, a few times.
//! Plans are parts of the kernel of reductions too, which is in [`fold`](super::fold).

use super::plan::{Access, Plan, Read, Step, Value as PlanValue};
use super::{activation, binary, cast, compare, unary};
use crate::CubeTensor;
use crate::device::storage;
use burn_ir::{Operand, Operation};
use burn_std::DType;
use cubecl::ir::{ElemType, ExpandValue, pliron::value::Value};
use cubecl::prelude::*;

define_scalar!(pub(crate) Element);
define_size!(pub(crate) Lanes);

/// A buffer whose element type is data, so that one list holds buffers of several.
#[derive(Debug)]
pub(crate) struct Buffer;

/// The buffer inside a kernel that is being built: a slice.
#[derive(Clone)]
pub(crate) struct BufferExpand(ExpandValue);

/// A buffer as an argument of a launch.
pub(crate) struct Argument {
    buffer: BufferArg,
    key: BufferKey,
}

/// What a kernel knows of a buffer before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BufferKey {
    elem: ElemType,
    lanes: usize,
}

impl Argument {
    /// An operand.
    pub(crate) fn read(tensor: &CubeTensor, access: Access, lanes: usize) -> Self {
        Self::new(tensor, width(access, lanes))
    }

    /// An output.
    pub(crate) fn write(tensor: &CubeTensor, lanes: usize) -> Self {
        Self::new(tensor, lanes)
    }

    fn new(tensor: &CubeTensor, lanes: usize) -> Self {
        let elem = storage(burn_ir::Described::meta(tensor).dtype);
        let handle = tensor.handle().clone();
        let len = handle.size() as usize / (elem.size() * lanes);
        Self {
            // SAFETY: the length is that of the buffer.
            buffer: unsafe { BufferArg::from_raw_parts(handle, len) },
            key: BufferKey { elem, lanes },
        }
    }
}

/// The number of elements that are read at once.
fn width(access: Access, lanes: usize) -> usize {
    match access {
        Access::Linear | Access::Strided | Access::Position => lanes,
        Access::Splat => 1,
    }
}

impl CubeType for Buffer {
    type ExpandType = BufferExpand;
}

impl LaunchArg for Buffer {
    type RuntimeArg = Argument;
    type CompilationArg = BufferKey;

    fn register(argument: Argument, launcher: &mut KernelLauncher) -> BufferKey {
        let Argument { buffer, key } = argument;
        launcher.register_buffer(buffer, key.elem.size() * key.lanes);
        key
    }

    fn expand(key: &BufferKey, builder: &mut KernelBuilder) -> BufferExpand {
        builder.scope.register_type::<Element>(key.elem);
        builder.scope.register_size::<Lanes>(key.lanes);
        let whole = BufferCompilationArg { inplace: None };
        BufferExpand(<[Vector<Element, Lanes>]>::expand(&whole, builder).expand)
    }
}

impl ExpandTypeClone for BufferExpand {
    fn clone_unchecked(&self) -> Self {
        self.clone()
    }
}

impl IntoExpand for BufferExpand {
    type Expand = Self;

    fn into_expand(self, _: &Scope) -> Self {
        self
    }
}

impl IntoMut for BufferExpand {
    fn into_mut(self, _: &Scope) -> Self {
        self
    }
}

impl CubeDebug for BufferExpand {}

impl AsRefExpand for BufferExpand {
    fn __expand_ref_method(&self, _: &Scope) -> &Self {
        self
    }
}

impl AsMutExpand for BufferExpand {
    fn __expand_ref_mut_method(&mut self, _: &Scope) -> &mut Self {
        self
    }
}

/// Runs a plan. `layout` holds the arguments that the plan was placed with.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn elementwise<I: Int>(
    inputs: &Sequence<Buffer>,
    outputs: &mut Sequence<Buffer>,
    scalars: &Sequence<InputScalar>,
    layout: &Sequence<InputScalar>,
    len: usize,
    #[comptime] plan: Plan,
    #[define(I)] _index: ElemType,
) {
    let repeats = comptime!(plan.repeats);
    if comptime!(repeats == 1) {
        if ABSOLUTE_POS < len {
            steps::<I>(
                inputs,
                outputs,
                scalars,
                layout,
                ABSOLUTE_POS,
                0usize,
                1usize,
                plan,
            );
        }
    } else {
        // Units beside each other work beside each other, and load all that they will need before they compute.
        let apart = CUBE_DIM as usize;
        let first = CUBE_POS * apart * repeats + UNIT_POS as usize;
        if first + apart * comptime!(repeats - 1) < len {
            let plan = comptime!(plan.clone());
            steps::<I>(
                inputs, outputs, scalars, layout, first, apart, repeats, plan,
            );
        } else {
            for at in range_stepped(first, len, apart) {
                let plan = comptime!(plan.clone());
                steps::<I>(inputs, outputs, scalars, layout, at, apart, 1usize, plan);
            }
        }
    }
}

/// Runs the steps of a plan at `repeats` places, `apart` from each other.
// Generated calls pass what the kernel takes.
#[allow(clippy::too_many_arguments)]
fn steps<I: Int>(
    _inputs: &Sequence<Buffer>,
    _outputs: &mut Sequence<Buffer>,
    _scalars: &Sequence<InputScalar>,
    _layout: &Sequence<InputScalar>,
    _first: usize,
    _apart: usize,
    _repeats: usize,
    _plan: Plan,
) {
}

mod steps {
    use super::*;

    // Generated calls pass what the kernel takes.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn expand<I: Int>(
        scope: &Scope,
        inputs: &SequenceExpand<Buffer>,
        outputs: &mut SequenceExpand<Buffer>,
        scalars: &SequenceExpand<InputScalar>,
        layout: &SequenceExpand<InputScalar>,
        first: NativeExpand<usize>,
        apart: NativeExpand<usize>,
        repeats: usize,
        plan: Plan,
    ) {
        let places: Vec<_> = (0..repeats)
            .map(|at| beside::expand(scope, first, apart, at))
            .collect();
        let reads: Vec<Vec<Value>> = places
            .iter()
            .map(|place| reads::<I>(scope, inputs, layout, *place, &plan))
            .collect();
        let scalars = arguments(scope, scalars, 0, &plan);
        for (place, reads) in places.into_iter().zip(reads) {
            let writes = compute(scope, &plan, reads, scalars.clone());
            store_all(scope, outputs, place, &plan, writes);
        }
    }

    /// The operands at a place.
    fn reads<I: Int>(
        scope: &Scope,
        inputs: &SequenceExpand<Buffer>,
        layout: &SequenceExpand<InputScalar>,
        position: NativeExpand<usize>,
        plan: &Plan,
    ) -> Vec<Value> {
        let read = |(at, read): (usize, &Read)| {
            let arguments = plan.rank + at * (plan.rank + 1);
            let linear = read.access == Access::Linear;
            let index =
                place::expand::<I>(scope, position, layout, 0, plan.rank, arguments, linear);
            let buffer = inputs.__expand_index_method(scope, at.into());
            load(scope, buffer, index, *read, plan.lanes)
        };
        plan.reads.iter().enumerate().map(read).collect()
    }
}

#[cube]
fn beside(first: usize, apart: usize, #[comptime] times: usize) -> usize {
    if comptime!(times == 0) {
        first
    } else {
        first + apart * times
    }
}

/// The scalars of a plan, which are arguments from `first` on.
pub(super) fn arguments(
    scope: &Scope,
    scalars: &SequenceExpand<InputScalar>,
    first: usize,
    plan: &Plan,
) -> Vec<Value> {
    let argument = |(at, dtype): (usize, &DType)| {
        let argument = scalars.__expand_index_method(scope, (first + at).into());
        let value = splat(scope, argument.expand, plan.lanes);
        cast::from_storage(scope, value, *dtype, plan.lanes)
    };
    plan.scalars.iter().enumerate().map(argument).collect()
}

/// What a plan writes, in registers.
pub(super) fn compute(
    scope: &Scope,
    plan: &Plan,
    reads: Vec<Value>,
    scalars: Vec<Value>,
) -> Vec<Value> {
    let mut values = Values {
        scope,
        lanes: plan.lanes,
        reads,
        scalars,
        steps: Vec::new(),
    };
    for step in &plan.steps {
        let value = values.run(step, plan);
        values.steps.push(value);
    }
    plan.writes.iter().map(|value| values.get(*value)).collect()
}

/// Stores what a plan writes, each in an output.
pub(super) fn store_all(
    scope: &Scope,
    outputs: &mut SequenceExpand<Buffer>,
    position: NativeExpand<usize>,
    plan: &Plan,
    values: Vec<Value>,
) {
    for (at, (value, write)) in values.into_iter().zip(&plan.writes).enumerate() {
        let dtype = plan.dtype(*write);
        let value = cast::to_storage(scope, value, dtype, plan.lanes);
        let buffer = outputs.__expand_index_mut_method(scope, at.into());
        store(scope, buffer, position, value, dtype, plan.lanes);
    }
}

/// The place in a buffer of the element, or elements, at `position` of an iteration.
///
/// `layout` holds the sizes of `rank` dims from `sizes` on, and from `arguments` on the offset and the stride in each.
#[cube]
pub(super) fn place<I: Int>(
    position: usize,
    layout: &Sequence<InputScalar>,
    #[comptime] sizes: usize,
    #[comptime] rank: usize,
    #[comptime] arguments: usize,
    #[comptime] linear: bool,
) -> usize {
    let offset = layout[arguments].get::<I>();
    if comptime!(linear) {
        usize::cast_from(offset) + position
    } else {
        let mut rest = I::cast_from(position);
        let mut index = offset;
        #[unroll]
        for at in 0..rank {
            let dim = comptime!(rank - at - 1);
            let stride = layout[comptime!(arguments + 1 + dim)].get::<I>();
            if comptime!(dim == 0) {
                index += rest * stride;
            } else {
                let size = layout[comptime!(sizes + dim)].get::<I>();
                index += rest % size * stride;
                rest = rest / size;
            }
        }
        usize::cast_from(index)
    }
}

#[cube]
fn get<T: Scalar, N: Size>(buffer: &[Vector<T, N>], index: usize) -> Vector<T, N> {
    buffer[index]
}

#[cube]
fn set<T: Scalar, N: Size>(buffer: &mut [Vector<T, N>], index: usize, value: Vector<T, N>) {
    buffer[index] = value;
}

/// What an operand holds at an index, as a register.
pub(super) fn load(
    scope: &Scope,
    buffer: &BufferExpand,
    index: NativeExpand<usize>,
    read: Read,
    lanes: usize,
) -> Value {
    scope.register_type::<Element>(storage(read.dtype));
    scope.register_size::<Lanes>(width(read.access, lanes));
    let value = get::expand::<Element, Lanes>(scope, &buffer.0.into(), index).read_value(scope);
    cast::from_storage(scope, splat(scope, value, lanes), read.dtype, lanes)
}

fn store(
    scope: &Scope,
    buffer: &mut BufferExpand,
    index: NativeExpand<usize>,
    value: Value,
    dtype: DType,
    lanes: usize,
) {
    scope.register_type::<Element>(storage(dtype));
    scope.register_size::<Lanes>(lanes);
    set::expand::<Element, Lanes>(scope, &mut buffer.0.into(), index, value.into());
}

/// One value for all lanes, if it is one.
fn splat(scope: &Scope, value: Value, lanes: usize) -> Value {
    use cubecl::ir::interfaces::TypedExt;
    match value.vector_size(scope.ctx()) {
        1 => broadcast_value(scope, value, lanes),
        _ => value,
    }
}

/// The values of a kernel that is being built. Bools are bools here, whatever stores them.
struct Values<'s> {
    scope: &'s Scope,
    lanes: usize,
    reads: Vec<Value>,
    scalars: Vec<Value>,
    steps: Vec<Value>,
}

impl Values<'_> {
    fn get(&self, value: PlanValue) -> Value {
        match value {
            PlanValue::Read(at) => self.reads[at],
            PlanValue::Scalar(at) => self.scalars[at],
            PlanValue::Step(at) => self.steps[at],
        }
    }

    fn operand(&self, operand: &Operand<PlanValue>) -> Value {
        match operand {
            Operand::Tensor(value) => self.get(*value),
            Operand::Scalar(_) => unreachable!("plans take scalars as values"),
        }
    }

    fn run(&self, step: &Step, plan: &Plan) -> Value {
        let Self { scope, lanes, .. } = *self;
        match &step.operation {
            Operation::Cast { input, dtype } => {
                cast::cast(scope, self.get(*input), plan.dtype(*input), *dtype, lanes)
            }
            Operation::Unary { op, input } => {
                unary::build(scope, *op, self.get(*input), step.output, lanes)
            }
            Operation::Activation { op, input } => {
                activation::build(scope, *op, self.get(*input), step.output, lanes)
            }
            Operation::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.get(*lhs), self.operand(rhs));
                binary::build(scope, *op, lhs, rhs, step.output, lanes)
            }
            Operation::Compare { op, lhs, rhs, .. } => {
                let dtype = plan.dtype(*lhs);
                let (lhs, rhs) = (self.get(*lhs), self.operand(rhs));
                compare::build(scope, *op, lhs, rhs, dtype, lanes)
            }
            Operation::Where {
                mask,
                on_true,
                on_false,
            } => {
                let (yes, no) = (self.operand(on_true), self.operand(on_false));
                cast::choose(scope, self.get(*mask), yes, no, step.output, lanes)
            }
            Operation::Create { .. }
            | Operation::Reduce { .. }
            | Operation::Movement { .. }
            | Operation::Matmul { .. }
            | Operation::Module(_)
            | Operation::Cat { .. }
            | Operation::SliceAssign { .. }
            | Operation::Gather { .. }
            | Operation::Scatter { .. }
            | Operation::Scan { .. }
            | Operation::Sort { .. }
            | Operation::Argwhere { .. } => {
                unreachable!("`{}` is no step of a plan", step.operation.name())
            }
        }
    }
}
