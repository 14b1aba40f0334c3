//! The kernel of reductions: folds groups of elements, with a plan between memory and the fold, and one between the fold
//! and memory. What to launch is decided in [`reduce`](super::reduce).

use super::binary;
use super::cast::{convert, converted, to_storage, work};
use super::epilogue::{Epilogue, write};
use super::kernel::{Buffer, Element, Lanes, arguments, compute, load, place};
use super::plan::{Access, Plan};
use crate::device::storage;
use burn_ir::{BinaryOp, ReduceOp};
use burn_std::DType;
use cubecl::ir::{ElemType, pliron::value::Value};
use cubecl::prelude::*;

/// The units of a cube whose units share memory.
pub(super) const UNITS: usize = 256;

/// What a kernel knows of a reduction before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FoldPlan {
    /// From memory to what is folded, its only output.
    pub(crate) prologue: Plan,
    pub(crate) op: ReduceOp,
    /// The type to fold in.
    pub(crate) accumulator: DType,
    /// Whether neighbouring elements are of neighbouring groups rather than of the same one.
    pub(crate) across: bool,
    /// The number of units that fold a group, or a part of it, together: 1, or a power of two that divides [`UNITS`].
    pub(crate) units: usize,
    /// The number of dims of the groups and of the elements in each.
    pub(crate) ranks: [usize; 2],
}

impl FoldPlan {
    /// The number of operands that are in memory. They come first.
    fn operands(&self) -> usize {
        let reads = self.prologue.reads.iter();
        reads.filter(|read| read.access != Access::Position).count()
    }

    /// Where the arguments begin that say where the operand is in memory.
    fn operand(&self, read: usize) -> usize {
        let [kept, reduced] = self.ranks;
        kept + reduced + read * (kept + reduced + 2)
    }
}

/// What folds two elements to one. Bools are 0 and 1 here.
fn combination(op: ReduceOp) -> BinaryOp {
    match op {
        ReduceOp::Sum | ReduceOp::Mean => BinaryOp::Add,
        ReduceOp::Prod => BinaryOp::Mul,
        ReduceOp::Max | ReduceOp::Any => BinaryOp::Max,
        ReduceOp::Min | ReduceOp::All => BinaryOp::Min,
        ReduceOp::ArgMax { .. } | ReduceOp::ArgMin { .. } => {
            unreachable!("a position is found by folding positions")
        }
    }
}

/// What folding nothing gives, or `None` where there is always an element.
fn neutral(op: ReduceOp) -> Option<i64> {
    match op {
        ReduceOp::Sum | ReduceOp::Mean | ReduceOp::Any => Some(0),
        ReduceOp::Prod | ReduceOp::All => Some(1),
        ReduceOp::Max | ReduceOp::Min | ReduceOp::ArgMax { .. } | ReduceOp::ArgMin { .. } => None,
    }
}

/// Folds the parts of each group; those of one group are as far apart in the output as there are groups.
///
/// `layout` holds the sizes of the dims of groups and of their elements, and for each operand of the prologue its offset and
/// strides over the groups, 0 and its strides over the elements.
#[cube(launch_unchecked, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)]
pub(super) fn fold<A: Numeric, N: Size, I: Int>(
    inputs: &Sequence<Buffer>,
    scalars: &Sequence<InputScalar>,
    layout: &Sequence<InputScalar>,
    epilogue: &mut Epilogue,
    jobs: usize,
    groups: usize,
    len: usize,
    part: usize,
    divisor: usize,
    #[comptime] fold: FoldPlan,
    #[define(A)] _accumulator: ElemType,
    #[define(N)] _lanes: usize,
    #[define(I)] _index: ElemType,
) {
    let units = comptime!(fold.units);
    let dtype = comptime!(fold.accumulator);
    let op = comptime!(combination(fold.op));
    let unit = UNIT_POS as usize;
    // The jobs of a cube. Units beside each other read elements beside each other.
    let beside = CUBE_DIM as usize / units;
    let member = if comptime!(fold.across) {
        unit / beside
    } else {
        unit % units
    };
    let job_of_cube = if comptime!(fold.across) {
        unit % beside
    } else {
        unit / units
    };
    let first = CUBE_POS * beside;
    if first < jobs {
        // Units without a job do one twice: all of a cube meet when they share memory.
        let job = min(first + job_of_cube, jobs - 1);
        let group = job % groups;
        let begin = job / groups * part;
        let end = min(begin + part, len);

        let plan = comptime!(fold.clone());
        let starts = starts::<I>(layout, group, plan);
        let plan = comptime!(fold.clone());
        let total = of_unit::<A, N, I>(
            inputs, scalars, layout, &starts, begin, end, len, member, plan,
        );

        let writes = member == 0 && first + job_of_cube < jobs;
        if comptime!(fold.across) {
            let total = across_units::<A, N>(total, member, beside, op, dtype, units);
            if writes {
                finish::<A, N, I>(epilogue, total, job, divisor, fold.op, dtype);
            }
        } else {
            let total = across_lanes::<A, N>(total, op, dtype);
            let total = across_units::<A, Const<1>>(total, member, 1usize, op, dtype, units);
            if writes {
                finish::<A, Const<1>, I>(epilogue, total, job, divisor, fold.op, dtype);
            }
        }
    }
}

/// The places of the first element of a group, for each operand.
#[cube]
fn starts<I: Int>(
    layout: &Sequence<InputScalar>,
    group: usize,
    #[comptime] fold: FoldPlan,
) -> Sequence<I> {
    let reads = comptime!(fold.operands());
    let kept = comptime!(fold.ranks[0]);
    let mut starts = Sequence::<I>::new();
    #[unroll]
    for read in 0..reads {
        let at = comptime!(fold.operand(read));
        let start = place::<I>(group, layout, 0usize, kept, at, false);
        starts.push(I::cast_from(start));
    }
    starts
}

/// Folds the elements of a unit, four at a time, so that their loads do not wait for each other.
#[cube]
#[allow(clippy::too_many_arguments)]
fn of_unit<A: Numeric, N: Size, I: Int>(
    inputs: &Sequence<Buffer>,
    scalars: &Sequence<InputScalar>,
    layout: &Sequence<InputScalar>,
    starts: &Sequence<I>,
    begin: usize,
    end: usize,
    len: usize,
    member: usize,
    #[comptime] fold: FoldPlan,
) -> Vector<A, N> {
    let units = comptime!(fold.units);
    let dtype = comptime!(fold.accumulator);
    let op = comptime!(combination(fold.op));
    let none = comptime!(neutral(fold.op));
    let initial = if comptime!(none.is_some()) {
        Vector::<A, N>::new(A::from_int(comptime!(none.unwrap_or(0))))
    } else {
        // The last element once more is as good as nothing.
        let plan = comptime!(fold.clone());
        let at = min(begin + member, len - 1);
        folded::<A, N, I>(inputs, scalars, layout, starts, at, plan)
    };
    let mut sum0 = initial;
    let mut sum1 = initial;
    let mut sum2 = initial;
    let mut sum3 = initial;
    let four = comptime!(4 * units);
    let whole = begin + (end - begin) / four * four;
    for block in range_stepped(begin, whole, four) {
        let at = block + member;
        let plan = comptime!(fold.clone());
        let value0 = folded::<A, N, I>(inputs, scalars, layout, starts, at, plan);
        let plan = comptime!(fold.clone());
        let at1 = at + units;
        let value1 = folded::<A, N, I>(inputs, scalars, layout, starts, at1, plan);
        let plan = comptime!(fold.clone());
        let at2 = at + comptime!(2 * units);
        let value2 = folded::<A, N, I>(inputs, scalars, layout, starts, at2, plan);
        let plan = comptime!(fold.clone());
        let at3 = at + comptime!(3 * units);
        let value3 = folded::<A, N, I>(inputs, scalars, layout, starts, at3, plan);
        sum0 = combine::<A, N>(sum0, value0, op, dtype);
        sum1 = combine::<A, N>(sum1, value1, op, dtype);
        sum2 = combine::<A, N>(sum2, value2, op, dtype);
        sum3 = combine::<A, N>(sum3, value3, op, dtype);
    }
    for at in range_stepped(whole + member, end, units) {
        let plan = comptime!(fold.clone());
        let value = folded::<A, N, I>(inputs, scalars, layout, starts, at, plan);
        sum0 = combine::<A, N>(sum0, value, op, dtype);
    }
    let low = combine::<A, N>(sum0, sum1, op, dtype);
    let high = combine::<A, N>(sum2, sum3, op, dtype);
    combine::<A, N>(low, high, op, dtype)
}

/// One instruction on values of `dtype`.
#[cube]
#[allow(unused_variables)]
pub(super) fn combine<A: Numeric, N: Size>(
    lhs: Vector<A, N>,
    rhs: Vector<A, N>,
    #[comptime] op: BinaryOp,
    #[comptime] dtype: DType,
) -> Vector<A, N> {
    intrinsic!(|scope| {
        assert_eq!(
            work(dtype),
            storage(dtype),
            "accumulators are computed in as they are"
        );
        let (lhs, rhs) = (lhs.read_value(scope), rhs.read_value(scope));
        binary::build(scope, op, lhs, rhs, dtype, N::__expand_value(scope)).into()
    })
}

/// Folds the elements that a unit folded beside each other.
#[cube]
fn across_lanes<A: Numeric, N: Size>(
    values: Vector<A, N>,
    #[comptime] op: BinaryOp,
    #[comptime] dtype: DType,
) -> Vector<A, Const<1>> {
    let lanes = N::value().comptime();
    let mut total = Vector::<A, Const<1>>::cast_from(values.extract(0usize));
    #[unroll]
    for lane in 1..lanes {
        let value = Vector::<A, Const<1>>::cast_from(values.extract(lane));
        total = combine::<A, Const<1>>(total, value, op, dtype);
    }
    total
}

/// Folds the values of the units that share a job, which are `apart` from each other; the first gets the result. All
/// units of the cube come here.
#[cube]
fn across_units<A: Numeric, N: Size>(
    value: Vector<A, N>,
    member: usize,
    apart: usize,
    #[comptime] op: BinaryOp,
    #[comptime] dtype: DType,
    #[comptime] units: usize,
) -> Vector<A, N> {
    if comptime!(units == 1) {
        value
    } else {
        let mut shared = Shared::<[Vector<A, N>]>::new_slice(comptime!(UNITS));
        let unit = UNIT_POS as usize;
        shared[unit] = value;
        sync_cube();
        let steps = comptime!(units.ilog2());
        #[unroll]
        for step in 0..steps {
            let half = comptime!(units >> (step + 1));
            if member < half {
                let other = shared[unit + apart * half];
                let total = combine::<A, N>(shared[unit], other, op, dtype);
                shared[unit] = total;
            }
            sync_cube();
        }
        shared[unit]
    }
}

/// Runs the epilogue for what the elements of one group, or of several beside each other, were folded to.
#[cube]
fn finish<A: Numeric, N: Size, I: Int>(
    epilogue: &mut Epilogue,
    total: Vector<A, N>,
    job: usize,
    divisor: usize,
    #[comptime] op: ReduceOp,
    #[comptime] dtype: DType,
) {
    if comptime!(op == ReduceOp::Mean) {
        let divisor = Vector::<A, N>::cast_from(divisor);
        let mean = combine::<A, N>(total, divisor, BinaryOp::Div, dtype);
        write::<A, N, I>(epilogue, mean, job);
    } else {
        write::<A, N, I>(epilogue, total, job);
    }
}

/// An element, or several beside each other, through the prologue.
fn folded<A: Numeric, N: Size, I: Int>(
    _inputs: &Sequence<Buffer>,
    _scalars: &Sequence<InputScalar>,
    _layout: &Sequence<InputScalar>,
    _starts: &Sequence<I>,
    _at: usize,
    _fold: FoldPlan,
) -> Vector<A, N> {
    unreachable!("kernels are built from its expansion")
}

mod folded {
    use super::*;

    pub(super) fn expand<A: Numeric, N: Size, I: Int>(
        scope: &Scope,
        inputs: &SequenceExpand<Buffer>,
        scalars: &SequenceExpand<InputScalar>,
        layout: &SequenceExpand<InputScalar>,
        starts: &SequenceExpand<I>,
        at: NativeExpand<usize>,
        fold: FoldPlan,
    ) -> NativeExpand<Vector<A, N>> {
        let ([kept, reduced], plan) = (fold.ranks, &fold.prologue);
        let mut reads = Vec::new();
        for (read, how) in plan.reads.iter().enumerate() {
            if how.access == Access::Position {
                scope.register_type::<Element>(storage(how.dtype));
                scope.register_size::<Lanes>(plan.lanes);
                let positions = positions::expand::<Element, Lanes>(scope, at, fold.across);
                reads.push(positions.read_value(scope));
                continue;
            }
            let start = *starts.__expand_index_method(scope, read.into());
            let arguments = fold.operand(read) + 1 + kept;
            let index = inner::expand::<I>(scope, start, at, layout, kept, reduced, arguments);
            let buffer = inputs.__expand_index_method(scope, read.into());
            reads.push(load(scope, buffer, index, *how, plan.lanes));
        }
        let scalars = arguments(scope, scalars, 0, plan);
        let value: Value = compute(scope, plan, reads, scalars)[0];
        let stored = to_storage(scope, value, plan.dtype(plan.writes[0]), plan.lanes);
        convert(scope, stored, storage(fold.accumulator), plan.lanes).into()
    }
}

/// The place of the element, or elements, at a position of the group that starts at a place.
#[cube]
fn inner<I: Int>(
    start: I,
    at: usize,
    layout: &Sequence<InputScalar>,
    #[comptime] sizes: usize,
    #[comptime] rank: usize,
    #[comptime] arguments: usize,
) -> usize {
    let distance = place::<I>(at, layout, sizes, rank, arguments, false);
    usize::cast_from(start + I::cast_from(distance))
}

/// The positions of elements in their groups.
#[cube]
fn positions<P: Numeric, N: Size>(at: usize, #[comptime] across: bool) -> Vector<P, N> {
    let lanes = N::value().comptime();
    if comptime!(across) {
        Vector::new(P::cast_from(at))
    } else {
        let mut positions = Vector::<P, N>::new(P::cast_from(at * lanes));
        #[unroll]
        for lane in 1..lanes {
            positions.insert(lane, P::cast_from(at * lanes + lane));
        }
        positions
    }
}

/// An element in the type that it is folded in.
#[cube]
pub(super) fn element<E: Numeric, N: Size, A: Numeric, I: Int>(
    input: &[Vector<E, N>],
    at: I,
) -> Vector<A, N> {
    converted::<E, A, N>(input[usize::cast_from(at)])
}
