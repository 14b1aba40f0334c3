//! Reductions. Groups of elements are folded by one unit or by a cube of them, long groups in parts that a second
//! kernel folds again; positions are searched by one unit.

use super::binary;
use super::cast::{converted, work};
use super::group::{address_type, index, index_type, is_wide};
use super::guard::{fingerprint, guarded};
use super::kernel::place;
use super::layout::Layout;
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_ir::{BinaryOp, Described, Dims, ReduceOp, TensorMeta};
use burn_std::{BoolStore, DType, Kind};
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

/// A unit or a cube folds at most this many vectors at a time: that bounds the error of long sums, and gives all cores
/// something to do.
const PART: usize = 4096;

/// The units that fold a group together, where units share memory cheaply.
const UNITS: usize = 256;

/// Runs a reduction.
pub(crate) fn run(
    device: &CubeDevice,
    op: ReduceOp,
    input: CubeTensor,
    dims: Dims,
    output: TensorMeta,
) -> CubeTensor {
    if count(&output) == 0 {
        return CubeTensor::empty(device, output);
    }
    let groups = Groups::new(&input, dims);
    match op {
        ReduceOp::ArgMax { .. } | ReduceOp::ArgMin { .. } => {
            search(device, op, input, groups, output)
        }
        ReduceOp::Sum
        | ReduceOp::Mean
        | ReduceOp::Prod
        | ReduceOp::Max
        | ReduceOp::Min
        | ReduceOp::Any
        | ReduceOp::All => {
            let divisor = groups.len;
            fold_in_parts(device, op, divisor, input, groups, output)
        }
    }
}

/// Where the elements of each group are.
struct Groups {
    /// The first elements of the groups.
    kept: Layout,
    /// The elements of a group relative to its first.
    reduced: Layout,
    /// The number of elements of a group.
    len: usize,
}

impl Groups {
    fn new(input: &CubeTensor, dims: Dims) -> Self {
        let part = |reduced: bool| {
            let dims = (0..input.meta().rank()).filter(|dim| dims.contains(*dim) == reduced);
            let sizes = dims.map(|dim| (input.meta().shape[dim], input.strides()[dim]));
            let (sizes, strides): (Vec<usize>, Vec<isize>) = sizes.unzip();
            (sizes.iter().product(), Layout::new(&sizes, &[strides]))
        };
        let (len, reduced) = part(true);
        Self {
            kept: part(false).1,
            reduced,
            len,
        }
    }

    /// The most elements of a group that can be read at once.
    fn lanes(&self, device: &CubeDevice, input: &CubeTensor) -> usize {
        if self.reduced.sizes.len() != 1 || self.reduced.inner_stride(0) != 1 {
            return 1;
        }
        let size = input.meta().dtype.size();
        let fits = |lanes: &usize| {
            let aligned = |value: isize| value % *lanes as isize == 0;
            aligned(self.len as isize)
                && aligned(input.offset() as isize)
                && self.kept.strides[0].iter().all(|stride| aligned(*stride))
        };
        let widths = device.client().io_optimized_vector_sizes(size);
        widths.filter(fits).max().unwrap_or(1)
    }

    /// The arguments that say where the elements are, in units of `lanes`.
    fn arguments(&self, input: &CubeTensor, lanes: usize) -> Vec<isize> {
        let lanes = lanes as isize;
        let kept = self.kept.sizes.iter().map(|size| *size as isize);
        let reduced = self.reduced.sizes.iter();
        let mut arguments: Vec<isize> =
            kept.chain(reduced.map(|it| *it as isize / lanes)).collect();
        arguments.push(input.offset() as isize / lanes);
        arguments.extend(self.kept.strides[0].iter().map(|stride| stride / lanes));
        arguments.push(0);
        // With several lanes there is one stride, of 1 element or, as well, 1 vector.
        arguments.extend(&self.reduced.strides[0]);
        arguments
    }

    fn ranks(&self) -> [usize; 2] {
        [self.kept.rank(), self.reduced.rank()]
    }
}

/// The type that elements of `dtype` are folded in.
fn accumulator(device: &CubeDevice, op: ReduceOp, dtype: DType) -> DType {
    let widened = match dtype.is_uint() {
        true => DType::U64,
        false => DType::I64,
    };
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::Bool(BoolStore::Native | BoolStore::U8) => DType::U8,
        DType::Bool(BoolStore::U32) => DType::U32,
        _ if op == ReduceOp::Mean && dtype.kind() == Kind::Int && device.computes(widened) => {
            widened
        }
        other => other,
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
            unreachable!("a position is found by comparing")
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

/// A launch of [`fold`].
struct Fold {
    op: ReduceOp,
    /// What the mean divides by.
    divisor: usize,
    /// The type to fold in.
    accumulator: DType,
    /// The number of elements that are read at once.
    lanes: usize,
    /// The number of parts that each group is folded in.
    parts: usize,
}

fn fold_in_parts(
    device: &CubeDevice,
    op: ReduceOp,
    divisor: usize,
    input: CubeTensor,
    groups: Groups,
    output: TensorMeta,
) -> CubeTensor {
    let accumulator = accumulator(device, op, input.meta().dtype);
    let lanes = groups.lanes(device, &input);
    let vectors = groups.len / lanes;
    let parts = match vectors > 2 * PART {
        true => vectors.div_ceil(PART),
        false => 1,
    };
    let mut launch = Fold {
        op,
        divisor,
        accumulator,
        lanes,
        parts,
    };
    if parts == 1 {
        let output = CubeTensor::empty(device, output);
        return launch.run(device, &input, &groups, output);
    }
    // The mean divides once, at the end.
    if op == ReduceOp::Mean {
        launch.op = ReduceOp::Sum;
    }
    let partial = TensorMeta::new([parts, count(&output)], accumulator);
    let partial = launch.run(device, &input, &groups, CubeTensor::empty(device, partial));
    let groups = Groups::new(&partial, Dims::one(0));
    fold_in_parts(device, op, divisor, partial, groups, output)
}

impl Fold {
    /// Folds the parts of each group; those of one group are as far apart in the output as there are groups.
    fn run(
        self,
        device: &CubeDevice,
        input: &CubeTensor,
        groups: &Groups,
        output: CubeTensor,
    ) -> CubeTensor {
        let client = device.client();
        let elem = storage(input.meta().dtype);
        let vectors = groups.len / self.lanes;
        let jobs = count(output.meta());
        let part = vectors.div_ceil(self.parts);
        let units = units(device, groups, part, jobs);
        let cube_dim = match units {
            1 => CubeDim::new(client, jobs),
            units => CubeDim::new_1d(units as u32),
        };
        let wide = is_wide(core::slice::from_ref(input), core::slice::from_ref(&output));
        let arguments = groups.arguments(input, self.lanes).into_iter();
        let input_len = input.handle().size() as usize / (elem.size() * self.lanes);
        let types = [input.meta().dtype, self.accumulator, output.meta().dtype];
        let shape = (groups.ranks(), self.lanes, units, wide);
        let kernel = fingerprint(("fold", self.op, types, shape));
        let written = core::slice::from_ref(&output);
        // SAFETY: the layout lies in the input's buffer, the kernel writes below `jobs`, which is the number of elements
        // of the output's, and its loops end at `part` and `units`.
        guarded(device, kernel, cube_dim, written, || unsafe {
            fold::launch_unchecked(
                client,
                calculate_cube_count_elemwise(client, jobs * units, cube_dim),
                cube_dim,
                address_type(wide),
                self.lanes,
                BufferArg::from_raw_parts(input.handle().clone(), input_len),
                BufferArg::from_raw_parts(output.handle().clone(), jobs),
                arguments.map(|it| index(it, wide)).collect(),
                jobs,
                jobs / self.parts,
                vectors,
                part,
                self.divisor,
                self.op,
                self.accumulator,
                groups.ranks(),
                units,
                elem,
                storage(self.accumulator),
                storage(output.meta().dtype),
                index_type(wide),
            );
        });
        output
    }
}

/// How many units fold a part together: one where there are no many units, where parts are short, and where units
/// beside each other read elements beside each other if each has a part of its own.
fn units(device: &CubeDevice, groups: &Groups, part: usize, jobs: usize) -> usize {
    let hardware = &device.client().properties().hardware;
    let along = groups.reduced.inner_stride(0).abs() <= 1;
    let worthwhile = part >= 64 && (along || jobs < 4 * UNITS);
    match hardware.num_cpu_cores.is_none() && worthwhile {
        true => UNITS.min(hardware.max_units_per_cube as usize),
        false => 1,
    }
}

/// Finds the position of an element in each group.
fn search(
    device: &CubeDevice,
    op: ReduceOp,
    input: CubeTensor,
    groups: Groups,
    output: TensorMeta,
) -> CubeTensor {
    let client = device.client();
    let output = CubeTensor::empty(device, output);
    let len = count(output.meta());
    let elem = storage(input.meta().dtype);
    let wide = is_wide(
        core::slice::from_ref(&input),
        core::slice::from_ref(&output),
    );
    let arguments = groups.arguments(&input, 1).into_iter();
    let input_len = input.handle().size() as usize / elem.size();
    let cube_dim = CubeDim::new(client, len);
    let types = [input.meta().dtype, output.meta().dtype];
    let kernel = fingerprint(("find", op, types, groups.ranks(), wide));
    let written = core::slice::from_ref(&output);
    // SAFETY: the layout lies in the input's buffer, the kernel writes below `len`, which is the number of elements of
    // the output's, and its loop ends at the size of a group.
    guarded(device, kernel, cube_dim, written, || unsafe {
        find::launch_unchecked(
            client,
            calculate_cube_count_elemwise(client, len, cube_dim),
            cube_dim,
            address_type(wide),
            BufferArg::from_raw_parts(input.handle().clone(), input_len),
            BufferArg::from_raw_parts(output.handle().clone(), len),
            arguments.map(|it| index(it, wide)).collect(),
            len,
            groups.len,
            matches!(op, ReduceOp::ArgMax { .. }),
            groups.ranks(),
            elem,
            storage(accumulator(device, op, input.meta().dtype)),
            storage(output.meta().dtype),
            index_type(wide),
        );
    });
    output
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

/// An element in the type that it is folded in.
#[cube]
pub(super) fn element<E: Numeric, N: Size, A: Numeric, I: Int>(
    input: &[Vector<E, N>],
    at: I,
) -> Vector<A, N> {
    converted::<E, A, N>(input[usize::cast_from(at)])
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn fold<E: Numeric, N: Size, A: Numeric, O: Numeric, I: Int>(
    input: &[Vector<E, N>],
    output: &mut [O],
    layout: &Sequence<InputScalar>,
    jobs: usize,
    groups: usize,
    vectors: usize,
    part: usize,
    divisor: usize,
    #[comptime] op: ReduceOp,
    #[comptime] dtype: DType,
    #[comptime] ranks: [usize; 2],
    #[comptime] units: usize,
    #[define(E)] _elem: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(O)] _result: ElemType,
    #[define(I)] _index: ElemType,
) {
    let kept = comptime!(ranks[0]);
    let reduced = comptime!(ranks[1]);
    let kept_at = comptime!(kept + reduced);
    let reduced_at = comptime!(kept_at + 1 + kept);
    let combination = comptime!(combination(op));
    let neutral = comptime!(neutral(op));
    let job = ABSOLUTE_POS / units;
    if job < jobs {
        let start = I::cast_from(place::<I>(
            job % groups,
            layout,
            0usize,
            kept,
            kept_at,
            false,
        ));
        let first = job / groups * part + ABSOLUTE_POS % units;
        let end = min((job / groups + 1) * part, vectors);
        let mut result = if comptime!(neutral.is_some()) {
            Vector::<A, N>::new(A::from_int(comptime!(neutral.unwrap_or(0))))
        } else {
            // The last element once more is as good as nothing.
            let at = min(first, vectors - 1);
            let at = place::<I>(at, layout, kept, reduced, reduced_at, false);
            element::<E, N, A, I>(input, start + I::cast_from(at))
        };
        for at in range_stepped(first, end, units) {
            let at = place::<I>(at, layout, kept, reduced, reduced_at, false);
            let value = element::<E, N, A, I>(input, start + I::cast_from(at));
            result = combine::<A, N>(result, value, combination, dtype);
        }
        let mut total = across_lanes::<A, N>(result, combination, dtype);
        if comptime!(units > 1) {
            total = across_units::<A>(total, combination, dtype, units);
        }
        if ABSOLUTE_POS % units == 0 {
            if comptime!(op == ReduceOp::Mean) {
                let divisor = Vector::<A, Const<1>>::cast_from(divisor);
                total = combine::<A, Const<1>>(total, divisor, BinaryOp::Div, dtype);
            }
            output[job] = converted::<A, O, Const<1>>(total).extract(0usize);
        }
    }
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

/// Folds the values of the units of a cube, all of which come here.
#[cube]
fn across_units<A: Numeric>(
    value: Vector<A, Const<1>>,
    #[comptime] op: BinaryOp,
    #[comptime] dtype: DType,
    #[comptime] units: usize,
) -> Vector<A, Const<1>> {
    let mut shared = Shared::<[Vector<A, Const<1>>]>::new_slice(units);
    let unit = UNIT_POS as usize;
    shared[unit] = value;
    sync_cube();
    let steps = comptime!(units.ilog2());
    #[unroll]
    for step in 0..steps {
        let half = comptime!(units >> (step + 1));
        if unit < half {
            let sum = combine::<A, Const<1>>(shared[unit], shared[unit + half], op, dtype);
            shared[unit] = sum;
        }
        sync_cube();
    }
    shared[0]
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn find<E: Numeric, A: Numeric, O: Numeric, I: Int>(
    input: &[Vector<E, Const<1>>],
    output: &mut [O],
    layout: &Sequence<InputScalar>,
    len: usize,
    reduced_len: usize,
    #[comptime] largest: bool,
    #[comptime] ranks: [usize; 2],
    #[define(E)] _elem: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(O)] _result: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < len {
        let kept = comptime!(ranks[0]);
        let reduced = comptime!(ranks[1]);
        let kept_at = comptime!(kept + reduced);
        let reduced_at = comptime!(kept_at + 1 + kept);
        let start = I::cast_from(place::<I>(
            ABSOLUTE_POS,
            layout,
            0usize,
            kept,
            kept_at,
            false,
        ));
        let mut best = element::<E, Const<1>, A, I>(input, start).extract(0usize);
        let mut position = 0usize;
        for candidate in 1..reduced_len {
            let at = place::<I>(candidate, layout, kept, reduced, reduced_at, false);
            let value = element::<E, Const<1>, A, I>(input, start + I::cast_from(at));
            let value = value.extract(0usize);
            let no_better = if comptime!(largest) {
                value <= best
            } else {
                value >= best
            };
            // A NaN is better than any number, and the first one stays.
            if !no_better && best == best {
                best = value;
                position = candidate;
            }
        }
        output[ABSOLUTE_POS] = O::cast_from(I::cast_from(position));
    }
}
