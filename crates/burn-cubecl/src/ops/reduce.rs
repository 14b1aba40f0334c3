//! Reductions, alone or with the elementwise instructions around them: which kernels to launch. The kernel is in
//! [`fold`](super::fold).

use super::epilogue::Side;
use super::fold::{FoldPlan, UNITS, fold};
pub(super) use super::fold::{combine, element};
use super::group::{self, address_type, index, index_type, is_wide};
use super::guard::{fingerprint, guarded};
use super::layout::{Layout, broadcast};
use super::plan::{Access, Plan};
use super::search;
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_backend::{Group, Slot};
use burn_ir::{Described, Dims, Operation, ReduceOp, TensorMeta};
use burn_std::{BoolStore, DType, Kind, Shape, Strides};
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

/// A unit folds at most this many elements, or vectors, one after the other: that bounds the error of long sums.
const MOST: usize = 4096;

/// How long and how many parts of long groups are.
struct Parts {
    /// A unit folds at least this many elements, or vectors, where there are more.
    least: usize,
    /// More units than that have enough to do.
    units: usize,
}

/// A few times the 2,048 units that each of some hundred processors holds at once.
const ON_GPU: Parts = Parts {
    least: 16,
    units: 1 << 20,
};

/// A few times the cores of a large machine. Not the number of this one's: that is for equal results on all.
const ON_CPU: Parts = Parts {
    least: 2048,
    units: 64,
};

/// Runs a group whose anchor is a reduction.
pub(crate) fn run(
    device: &CubeDevice,
    group: &Group,
    anchor: usize,
    inputs: &[CubeTensor],
) -> Vec<CubeTensor> {
    let result = group.meta(Slot(group.inputs() + anchor));
    let outputs = group.outputs().iter().map(|slot| group.meta(*slot));
    if count(result) == 0 {
        let empty = outputs.map(|meta| CubeTensor::empty(device, meta.clone()));
        return empty.collect();
    }
    match group.steps()[anchor] {
        Operation::Reduce { op, input, dims }
            if matches!(op, ReduceOp::ArgMax { .. } | ReduceOp::ArgMin { .. }) =>
        {
            vec![search::run(device, op, &inputs[input.0], dims, result)]
        }
        _ => Reduction::new(group, anchor, inputs).run(device),
    }
}

/// A reduction to launch.
pub(super) struct Reduction {
    op: ReduceOp,
    dims: Dims,
    /// The shape of the operand.
    shape: Shape,
    /// What the mean divides by.
    divisor: usize,
    prologue: Side,
    epilogue: Side,
    /// The outputs, all of one shape.
    outputs: Vec<TensorMeta>,
}

impl Reduction {
    pub(super) fn new(group: &Group, anchor: usize, inputs: &[CubeTensor]) -> Self {
        let Operation::Reduce { op, input, dims } = group.steps()[anchor] else {
            unreachable!("`fuses` admits no other anchors");
        };
        let total = Slot(group.inputs() + anchor);
        let shape = group.meta(input).shape.clone();
        let outputs = group.outputs();
        let after = anchor + 1..group.steps().len();
        Self {
            op,
            dims,
            divisor: dims.iter().map(|dim| shape[dim]).product(),
            shape,
            prologue: Side::new(group, 0..anchor, None, &[input], inputs),
            epilogue: Side::new(group, after, Some(total), outputs, inputs),
            outputs: outputs
                .iter()
                .map(|slot| group.meta(*slot).clone())
                .collect(),
        }
    }

    pub(super) fn run(self, device: &CubeDevice) -> Vec<CubeTensor> {
        let accumulator = accumulator(device, self.op, self.prologue.written());
        let groups = Groups::new(&self.shape, self.dims, &self.prologue.inputs);
        match self.order(device, &groups, accumulator) {
            None => self.with_operand_in_memory(device),
            Some(order) if order.parts == 1 => self.launch(device, &groups, &order, accumulator),
            Some(order) => self.in_parts(device, &groups, &order, accumulator),
        }
    }

    /// The order to fold in, if the operands of the prologue can be read in it. What is computed on the way is folded as
    /// it would be if it were in memory.
    fn order(&self, device: &CubeDevice, groups: &Groups, accumulator: DType) -> Option<Order> {
        let stored = Groups::row_major(&self.shape, self.dims, accumulator);
        let like = match self.prologue.plan.steps.is_empty() {
            true => groups,
            false => &stored,
        };
        let across = like.across();
        // Only the results of floats depend on the order, and that on the lanes within a group.
        let strict = !across && self.prologue.written().is_float();
        let size = match (across, strict) {
            (true, _) => self.epilogue.plan.widest(),
            (false, true) => 1,
            (false, false) => self.prologue.plan.widest(),
        };
        let size = size.max(storage(accumulator).size());
        let shape = &self.outputs[0].shape;
        let fit = |groups: &Groups, lanes: usize| {
            groups.fit(device, across, lanes) && (!across || self.epilogue.fits(shape, lanes))
        };
        let chosen = if strict { like } else { groups };
        let widths = device.client().io_optimized_vector_sizes(size);
        let lanes = widths.filter(|lanes| fit(chosen, *lanes)).max();
        let lanes = lanes.unwrap_or(1);
        fit(groups, lanes).then(|| Order::new(device, groups, across, lanes))
    }

    /// Folds parts of the groups, then what that gives.
    fn in_parts(
        mut self,
        device: &CubeDevice,
        groups: &Groups,
        order: &Order,
        accumulator: DType,
    ) -> Vec<CubeTensor> {
        let partial = TensorMeta::new([order.parts, count(&self.outputs[0])], accumulator);
        let through = Side::through(accumulator);
        let (op, shape) = (self.op, partial.shape.clone());
        let outputs = core::mem::replace(&mut self.outputs, vec![partial]);
        let epilogue = core::mem::replace(&mut self.epilogue, through);
        // The mean divides once, at the end.
        if op == ReduceOp::Mean {
            self.op = ReduceOp::Sum;
        }
        let divisor = self.divisor;
        let mut partial = self.launch(device, groups, order, accumulator);
        let rest = Self {
            op,
            dims: Dims::one(0),
            shape,
            divisor,
            prologue: Side::plain(partial.pop().expect("there is one output")),
            epilogue,
            outputs,
        };
        rest.run(device)
    }

    /// Runs the prologue on its own.
    fn with_operand_in_memory(self, device: &CubeDevice) -> Vec<CubeTensor> {
        let Side {
            plan,
            scalars,
            inputs,
        } = &self.prologue;
        let meta = TensorMeta::new(self.shape.clone(), self.prologue.written());
        let mut operand = group::launch(device, plan.clone(), scalars, inputs, vec![meta]);
        let prologue = Side::plain(operand.pop().expect("a prologue has one output"));
        Self { prologue, ..self }.run(device)
    }

    fn launch(
        self,
        device: &CubeDevice,
        groups: &Groups,
        order: &Order,
        accumulator: DType,
    ) -> Vec<CubeTensor> {
        let client = device.client();
        let mut prologue = self.prologue;
        prologue.plan.lanes = order.lanes;
        let arguments = groups.arguments(&mut prologue.plan, order);
        let outputs: Vec<CubeTensor> = self
            .outputs
            .into_iter()
            .map(|meta| CubeTensor::empty(device, meta))
            .collect();
        let all = [&prologue.inputs[..], &self.epilogue.inputs[..]].concat();
        let wide = is_wide(&all, &outputs);
        let lanes = if order.across { order.lanes } else { 1 };
        let (epilogue, after) = self.epilogue.launched(&outputs, lanes, wide);
        let jobs = order.groups * order.parts;
        let units = jobs * order.units;
        let cube_dim = match order.units {
            1 => CubeDim::new(client, units),
            _ => CubeDim::new_1d(UNITS as u32),
        };
        let plan = FoldPlan {
            prologue: prologue.plan.clone(),
            op: self.op,
            accumulator,
            across: order.across,
            units: order.units,
            ranks: groups.ranks(),
        };
        let kernel = fingerprint(("fold", &plan, &after, order.lanes, wide));
        // SAFETY: the kernel reads where the layouts of the operands say, all of which lie in their buffers, and writes
        // below `jobs`, which is the size of the outputs. Its loops end at the sizes of groups and cubes.
        guarded(device, kernel, cube_dim, &outputs, || unsafe {
            fold::launch_unchecked(
                client,
                calculate_cube_count_elemwise(client, units, cube_dim),
                cube_dim,
                address_type(wide),
                prologue.reads(0),
                prologue.values(),
                arguments.into_iter().map(|it| index(it, wide)).collect(),
                epilogue,
                jobs,
                order.groups,
                order.len,
                order.part,
                self.divisor,
                plan,
                storage(accumulator),
                order.lanes,
                index_type(wide),
            );
        });
        outputs
    }
}

/// Where the elements of each group are, for each operand.
struct Groups {
    /// The first elements of the groups.
    kept: Layout,
    /// The elements of a group relative to its first.
    reduced: Layout,
    /// The offset of each operand, and the size of its elements in bytes.
    operands: Vec<(isize, usize)>,
}

impl Groups {
    fn new(shape: &Shape, dims: Dims, inputs: &[CubeTensor]) -> Self {
        let strides: Vec<Vec<isize>> = inputs
            .iter()
            .map(|input| broadcast(&input.meta().shape, input.strides(), shape))
            .collect();
        let size = |input: &CubeTensor| storage(input.meta().dtype).size();
        let operands = inputs
            .iter()
            .map(|input| (input.offset() as isize, size(input)));
        Self::over(shape, dims, &strides, operands.collect())
    }

    /// One operand of elements one after the other.
    fn row_major(shape: &Shape, dims: Dims, dtype: DType) -> Self {
        let strides = Strides::contiguous(shape).to_vec();
        Self::over(shape, dims, &[strides], vec![(0, storage(dtype).size())])
    }

    fn over(
        shape: &Shape,
        dims: Dims,
        strides: &[Vec<isize>],
        operands: Vec<(isize, usize)>,
    ) -> Self {
        let part = |reduced: bool| {
            let dims = (0..shape.len()).filter(|dim| dims.contains(*dim) == reduced);
            let dims: Vec<usize> = dims.collect();
            let sizes: Vec<usize> = dims.iter().map(|dim| shape[*dim]).collect();
            let pick = |all: &Vec<isize>| dims.iter().map(|dim| all[*dim]).collect();
            Layout::new(&sizes, &strides.iter().map(pick).collect::<Vec<_>>())
        };
        Self {
            kept: part(false),
            reduced: part(true),
            operands,
        }
    }

    /// Whether elements beside each other in memory are of different groups, for the first operand.
    fn across(&self) -> bool {
        let inner = |layout: &Layout| match layout.rank() {
            0 => isize::MAX,
            _ => layout.inner_stride(0).abs(),
        };
        inner(&self.kept) < inner(&self.reduced)
    }

    /// The layout with the dim of elements beside each other, and the other.
    fn layouts(&self, across: bool) -> [&Layout; 2] {
        match across {
            true => [&self.kept, &self.reduced],
            false => [&self.reduced, &self.kept],
        }
    }

    /// Whether every operand can be read `lanes` elements at once, or with one element for all of them.
    fn fit(&self, device: &CubeDevice, across: bool, lanes: usize) -> bool {
        let [beside, other] = self.layouts(across);
        let Some((inner, _)) = beside.sizes.split_last() else {
            return lanes == 1;
        };
        let aligned = |value: &isize| value % lanes as isize == 0;
        let fits = |(at, (offset, size)): (usize, &(isize, usize))| {
            let outer = &beside.strides[at][..beside.rank() - 1];
            let mut widths = device.client().io_optimized_vector_sizes(*size);
            match beside.inner_stride(at) {
                0 => true,
                1 => {
                    aligned(offset)
                        && outer.iter().chain(&other.strides[at]).all(aligned)
                        && (lanes == 1 || widths.any(|width| width == lanes))
                }
                _ => lanes == 1,
            }
        };
        inner % lanes == 0 && self.operands.iter().enumerate().all(fits)
    }

    /// Settles how the operands of a prologue are read, and gives the arguments that say where they are.
    fn arguments(&self, plan: &mut Plan, order: &Order) -> Vec<isize> {
        let lanes = order.lanes;
        let scaled = |layout: &Layout, beside: bool| {
            let mut sizes: Vec<isize> = layout.sizes.iter().map(|size| *size as isize).collect();
            if let Some(inner) = sizes.last_mut().filter(|_| beside) {
                *inner /= lanes as isize;
            }
            sizes
        };
        let mut arguments = scaled(&self.kept, order.across);
        arguments.extend(scaled(&self.reduced, !order.across));
        let [beside, _] = self.layouts(order.across);
        let reads = plan
            .reads
            .iter_mut()
            .filter(|read| read.access != Access::Position);
        for (at, (read, (offset, _))) in reads.zip(&self.operands).enumerate() {
            let splat = beside.inner_stride(at) == 0;
            read.access = if splat {
                Access::Splat
            } else {
                Access::Strided
            };
            let unit = if splat { 1 } else { lanes as isize };
            let strides = |layout: &Layout, beside: bool| {
                let mut strides: Vec<isize> = layout.strides[at]
                    .iter()
                    .map(|stride| stride / unit)
                    .collect();
                // Neighbours of a unit are neighbours in memory.
                if let (Some(inner), true) = (strides.last_mut(), beside) {
                    *inner = layout.inner_stride(at);
                }
                strides
            };
            arguments.push(offset / unit);
            arguments.extend(strides(&self.kept, order.across));
            arguments.push(0);
            arguments.extend(strides(&self.reduced, !order.across));
        }
        arguments
    }

    fn ranks(&self) -> [usize; 2] {
        [self.kept.rank(), self.reduced.rank()]
    }
}

/// In which order, and by how many units, groups are folded.
struct Order {
    across: bool,
    lanes: usize,
    /// The number of groups, or of vectors of groups.
    groups: usize,
    /// The number of elements of a group, or of vectors of elements.
    len: usize,
    /// The number of units that fold a part together.
    units: usize,
    /// The number of parts of a group, and the most elements, or vectors, of each.
    parts: usize,
    part: usize,
}

impl Order {
    /// Groups that are folded beside each other are folded in the same order whatever the number of lanes.
    fn new(device: &CubeDevice, groups: &Groups, across: bool, lanes: usize) -> Self {
        let kept: usize = groups.kept.sizes.iter().product();
        let reduced: usize = groups.reduced.sizes.iter().product();
        let (vectors, len) = match across {
            true => (kept / lanes, reduced),
            false => (kept, reduced / lanes),
        };
        let hardware = &device.client().properties().hardware;
        let shares = device.shares() && hardware.max_units_per_cube as usize >= UNITS;
        // Few kinds of kernel: a row to a cube, to a plane, to a unit; columns to eighths of a cube, or to a unit.
        let units = match (shares, across) {
            (false, _) => 1,
            (true, true) if len >= 32 => 8,
            (true, true) => 1,
            (true, false) if len >= 512 => UNITS,
            (true, false) if len >= 16 => 32,
            (true, false) => 1,
        };
        let Parts { least, units: most } = match hardware.num_cpu_cores {
            Some(_) => ON_CPU,
            None => ON_GPU,
        };
        // Vectors of groups are taken for four groups, as most are.
        let busy = if across {
            (kept * units).div_ceil(4)
        } else {
            kept * units
        };
        let parts = (most / busy).min(len / (units * least));
        let parts = parts.max(len.div_ceil(units * MOST)).max(1);
        let part = len.div_ceil(parts).max(1);
        Self {
            across,
            lanes,
            groups: vectors,
            len,
            units,
            // No part is without elements.
            parts: len.div_ceil(part).max(1),
            part,
        }
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
