//! Matrix products: which kernel computes one, and what all kernels are told about the operands.
//!
//! On NVIDIA's GPUs all of them are this crate's ([`mma`], [`mma3`], [`gemv`](super::gemv), [`planes`], [`dot`]); on CPUs CubeK's
//! compute large products. On other GPUs units compute one element each: CubeK's kernel that needs no tensor cores is made for
//! CPUs, and gave wrong products there. Every kernel of this crate takes every layout: operands are never copied for these. What
//! a group does with a product is part of these kernels.

mod dot;
pub(crate) mod mma;
pub(crate) mod mma3;
pub(crate) mod planes;
pub(crate) mod stage;
#[cfg(feature = "autotune")]
mod tune;

use super::epilogue::{EpilogueLaunch, Side};
use super::gemv::{self, Slices};
use super::group::{self, address_type, index, index_type, is_wide};
use super::guard::{fingerprint, guarded};
use super::layout::{Layout, broadcast};
use super::movement;
use super::plan::Plan;
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_backend::{Group, Slot};
use burn_ir::{Described, TensorMeta};
use burn_std::DType;
use core::hash::Hash;
use cubecl::calculate_cube_count_elemwise;
use cubecl::features::{MmaConfig, Plane};
use cubecl::ir::{ElemType, FloatKind};
use cubecl::prelude::*;
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek::matmul::launch::launch_ref;
use cubek::matmul::tiled;
use cubek::std::InputBinding;
use stage::{Form, Tile};

/// From this many multiplications on, tiles pay.
const LARGE: usize = 64 * 64 * 64;

/// Up to this many multiplications, reading an operand again for every row costs less than leaving most of a GPU idle.
const FEW: usize = 1 << 25;

/// Buffers may be entered at multiples of this many bytes on every runtime.
const ALIGNMENT: usize = 256;

/// Tiles for f16 and bf16, the largest first. On an H200 the first is the fastest for matrices of 8,192, at 363 TFLOP/s;
/// the smaller ones are to fill a GPU with smaller matrices, and were not measured there.
const HALF: [Tile; 3] = [
    Tile {
        rows: 128,
        columns: 256,
        depth: 64,
        plane_rows: 64,
        plane_columns: 64,
    },
    Tile {
        rows: 128,
        columns: 128,
        depth: 32,
        plane_rows: 64,
        plane_columns: 32,
    },
    Tile {
        rows: 64,
        columns: 64,
        depth: 32,
        plane_rows: 32,
        plane_columns: 32,
    },
];

/// Tiles for f32, the largest first. Measured on an H200 with matrices of 4,096: the first reaches 60 TFLOP/s.
const SINGLE: [Tile; 2] = [
    Tile {
        rows: 128,
        columns: 128,
        depth: 16,
        plane_rows: 64,
        plane_columns: 32,
    },
    Tile {
        rows: 64,
        columns: 64,
        depth: 16,
        plane_rows: 32,
        plane_columns: 32,
    },
];

/// Runs a group whose anchor is the matrix product of these operands.
pub(crate) fn run(
    device: &CubeDevice,
    group: &Group,
    operands: [Slot; 2],
    inputs: &[CubeTensor],
) -> Vec<CubeTensor> {
    let product = Slot(group.inputs());
    let meta = group.meta(product);
    let after = 1..group.steps().len();
    let epilogue = Side::new(group, after, Some(product), group.outputs(), inputs);
    let outputs = group.outputs().iter();
    let outputs = outputs.map(|slot| CubeTensor::empty(device, group.meta(*slot).clone()));
    let outputs: Vec<CubeTensor> = outputs.collect();
    if count(meta) == 0 {
        return outputs;
    }
    let operands = operands.map(|slot| inputs[slot.0].clone());
    let mut problem = Problem::new(device, operands, meta, epilogue, outputs);
    problem.tuned = problem.is_tuned();
    #[cfg(feature = "autotune")]
    if problem.tuned {
        tune::run(&problem);
        return problem.outputs;
    }
    let mut kernels = problem.kernels().into_iter();
    while !kernels.next().is_none_or(|kernel| problem.launch(kernel)) {}
    problem.outputs
}

/// A kernel that may compute a product.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kernel {
    /// Tensor cores, by f16 or bf16.
    Half(Tile),
    /// Tensor cores, by f32 in parts.
    Single(Tile),
    /// A cube for some columns of a row.
    Slices(Slices),
    /// A plane for each element.
    Planes { lanes: usize },
    /// What CubeK has for this runtime.
    Library,
    /// A unit for each element.
    Dots,
}

/// A product: `m` by `k` times `k` by `n` elements, for each of a batch.
struct Problem<'d> {
    device: &'d CubeDevice,
    inputs: [CubeTensor; 2],
    /// The product, which may not be written.
    product: TensorMeta,
    /// What becomes of the product.
    epilogue: Side,
    /// What the epilogue writes.
    outputs: Vec<CubeTensor>,
    /// The batch, with the strides of both operands.
    batch: Layout,
    /// The strides of both operands in their last two dims.
    strides: [[isize; 2]; 2],
    m: usize,
    n: usize,
    k: usize,
    /// Whether places in some buffer do not fit into 32 bits.
    wide: bool,
    /// Whether the tuner launches the kernels.
    tuned: bool,
}

impl<'d> Problem<'d> {
    fn new(
        device: &'d CubeDevice,
        inputs: [CubeTensor; 2],
        product: &TensorMeta,
        epilogue: Side,
        outputs: Vec<CubeTensor>,
    ) -> Self {
        let shape = &product.shape;
        let rank = shape.len() - 2;
        let batches = |input: &CubeTensor| {
            let sizes = &input.meta().shape[..rank];
            broadcast(sizes, &input.strides()[..rank], &shape[..rank])
        };
        let batch = Layout::new(&shape[..rank], &inputs.each_ref().map(batches));
        let strides = |input: &CubeTensor| [input.strides()[rank], input.strides()[rank + 1]];
        let others = [&outputs[..], &epilogue.inputs[..]].concat();
        let mut problem = Self {
            device,
            batch,
            strides: inputs.each_ref().map(strides),
            wide: is_wide(&inputs, &others),
            m: shape[rank],
            n: shape[rank + 1],
            k: inputs[0].meta().shape[rank + 1],
            inputs,
            product: product.clone(),
            epilogue,
            outputs,
            tuned: false,
        };
        // The CPU's kernel takes its operands as they are.
        if problem.n == 1 && problem.m > 1 && !problem.is_cpu() {
            problem.flip();
        }
        problem
    }

    /// The same elements as the product of the transposed operands, where the output is a row or a column.
    fn flip(&mut self) {
        self.inputs.swap(0, 1);
        self.batch.strides.swap(0, 1);
        let [[row, left], [right, column]] = self.strides;
        self.strides = [[column, right], [left, row]];
        core::mem::swap(&mut self.m, &mut self.n);
    }

    fn is_cpu(&self) -> bool {
        let hardware = &self.device.client().properties().hardware;
        hardware.num_cpu_cores.is_some()
    }

    fn dtype(&self) -> DType {
        self.product.dtype
    }

    /// The number of products in the batch.
    fn batches(&self) -> usize {
        self.batch.sizes.iter().product()
    }

    /// The number of multiplications.
    fn work(&self) -> usize {
        self.batches() * self.m * self.n * self.k
    }

    /// Whether several kernels may be the fastest for this, and may be tried. For one row the choice is clear, and looking
    /// up a result takes a tenth of the time that the product does.
    fn is_tuned(&self) -> bool {
        let may = cfg!(feature = "autotune") && burn_std::config::switches().autotune;
        may && self.m > 1 && self.work() >= LARGE && !self.tiles().is_empty()
    }

    /// The kernels that can compute this, the one that promises most first. The choice depends on sizes and layouts alone.
    fn kernels(&self) -> Vec<Kernel> {
        let work = self.work();
        if !self.dtype().is_float() || work < LARGE {
            return vec![Kernel::Dots];
        }
        // LLVM fails to select instructions for the library's kernel of bf16 on CPUs.
        let library = self.is_cpu() && self.dtype() != DType::BF16;
        let others = library.then_some(Kernel::Library).into_iter();
        let others = others.chain([Kernel::Dots]);
        if !self.device.shares() {
            return others.collect();
        }
        let hardware = &self.device.client().properties().hardware;
        let cores = hardware.num_streaming_multiprocessors.unwrap_or(32) as usize;
        let tiles = self.tiles();
        // The largest tile that gives every multiprocessor work, or else the smallest.
        let fitting = tiles.iter().position(|(tile, _)| self.cubes(tile) >= cores);
        let tile = fitting.or(tiles.len().checked_sub(1)).map(|at| tiles[at]);
        let idle = tile.is_none_or(|(tile, _)| self.cubes(&tile) * 4 < cores);
        let narrow = self.m == 1 || (idle && work <= FEW);
        let narrow = narrow.then(|| self.narrow(cores));
        let tile = tile.map(|(_, kernel)| kernel);
        narrow.into_iter().chain(tile).chain(others).collect()
    }

    /// The number of blocks of a tile.
    fn cubes(&self, tile: &Tile) -> usize {
        self.batches() * self.m.div_ceil(tile.rows) * self.n.div_ceil(tile.columns)
    }

    /// The tiles for tensor cores, as far as the device has those.
    fn tiles(&self) -> Vec<(Tile, Kernel)> {
        let half = |tile: &Tile| (*tile, Kernel::Half(*tile));
        let single = |tile: &Tile| (*tile, Kernel::Single(*tile));
        match self.dtype() {
            dtype @ (DType::F16 | DType::BF16) if self.multiplies(storage(dtype), 16) => {
                let memory = self
                    .device
                    .client()
                    .properties()
                    .hardware
                    .max_shared_memory_size;
                // Two stages of both operands.
                let fits = |tile: &&Tile| {
                    2 * (tile.rows + tile.columns) * tile.depth * dtype.size() <= memory
                };
                HALF.iter().filter(fits).map(half).collect()
            }
            DType::F32 if self.multiplies(ElemType::Float(FloatKind::TF32), 8) => {
                SINGLE.iter().map(single).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the device has the instruction that the kernels use. How fragments lie in a plane is NVIDIA's.
    fn multiplies(&self, elem: ElemType, k: u32) -> bool {
        let config = MmaConfig {
            a_type: elem,
            b_type: elem,
            cd_type: ElemType::Float(FloatKind::F32),
            m: 16,
            n: 8,
            k,
        };
        let features = &self.device.client().features().matmul;
        let halves = k == 8 || features.ldmatrix.contains(&elem);
        self.device.is_cuda() && features.mma.contains(&config) && halves
    }

    /// The kernel for few rows.
    fn narrow(&self, cores: usize) -> Kernel {
        let many = self.n.div_ceil(64) * self.m * self.batches() * 2 >= cores;
        let slices = || Kernel::Slices(self.slices(if many { 64 } else { 16 }));
        self.planes().unwrap_or_else(slices)
    }

    /// A plane for each element, if the inner dim is the contiguous one and planes are as the kernel expects them.
    fn planes(&self) -> Option<Kernel> {
        let [lhs, rhs] = self.sides();
        let wide = lhs.deep && lhs.wide && rhs.wide;
        let lanes = if wide { self.lanes() } else { 1 };
        let planes = self.device.client().features().plane.contains(Plane::Ops);
        let fits = self.device.is_cuda() && planes && rhs.deep && self.k > 1;
        fits.then_some(Kernel::Planes { lanes })
    }

    /// Cubes for `columns` columns.
    fn slices(&self, columns: usize) -> Slices {
        let [_, rhs] = self.sides();
        let wide = rhs.wide && !rhs.deep;
        let units = self
            .device
            .client()
            .properties()
            .hardware
            .max_units_per_cube;
        Slices {
            columns,
            lanes: if wide { self.lanes() } else { 1 },
            units: units.min(512) as usize,
            ahead: if wide { 16 } else { 8 },
        }
    }

    /// The elements of 16 bytes, which GPUs read at once.
    fn lanes(&self) -> usize {
        16 / self.dtype().size()
    }

    fn sides(&self) -> [stage::Side; 2] {
        [self.side(0, self.lanes()), self.side(1, self.lanes())]
    }

    /// Whether such blocks and steps reach beyond the operands.
    fn is_masked(&self, rows: usize, columns: usize, depth: usize) -> bool {
        !(self.m.is_multiple_of(rows)
            && self.n.is_multiple_of(columns)
            && self.k.is_multiple_of(depth))
    }

    /// How an operand lies, read `lanes` elements at a time.
    fn side(&self, operand: usize, lanes: usize) -> stage::Side {
        let [first, second] = self.strides[operand];
        let (major, inner, extent) = match operand {
            0 => (first, second, self.m),
            _ => (second, first, self.n),
        };
        let deep = inner == 1 || major != 1;
        let (neighbour, far, len) = match deep {
            true => (inner, major, self.k),
            false => (major, inner, extent),
        };
        let even = |stride: isize| stride >= 0 && stride % lanes as isize == 0;
        let batch = self.batch.strides[operand]
            .iter()
            .all(|stride| even(*stride));
        let offset = even(self.inputs[operand].offset() as isize);
        let wide = neighbour == 1 && even(far) && batch && offset && len % lanes == 0;
        stage::Side { deep, wide }
    }

    /// What kernels need to find elements.
    fn arguments(&self) -> Vec<isize> {
        let mut arguments: Vec<isize> = self.batch.sizes.iter().map(|it| *it as isize).collect();
        let matrices = self
            .inputs
            .iter()
            .zip(&self.batch.strides)
            .zip(&self.strides);
        for ((input, batch), strides) in matrices {
            arguments.push(input.offset() as isize);
            arguments.extend(batch);
            arguments.extend(strides);
        }
        arguments
    }

    fn layout(&self) -> SequenceArg<InputScalar> {
        self.arguments()
            .into_iter()
            .map(|it| index(it, self.wide))
            .collect()
    }

    /// The operands.
    fn buffers(&self) -> [BufferArg; 2] {
        self.inputs.each_ref().map(|tensor| {
            let len = tensor.handle().size() as usize / self.dtype().size();
            // SAFETY: the length is that of the buffer.
            unsafe { BufferArg::from_raw_parts(tensor.handle().clone(), len) }
        })
    }

    /// Runs a kernel, unless it is the library's and that has none for this.
    fn launch(&self, kernel: Kernel) -> bool {
        match kernel {
            Kernel::Half(tile) | Kernel::Single(tile) => self.by_tensor_cores(tile),
            Kernel::Slices(slices) => self.by_slices(slices),
            Kernel::Planes { lanes } => self.by_planes(lanes),
            Kernel::Library => return self.by_library(),
            Kernel::Dots => self.by_dots(),
        }
        true
    }

    fn by_tensor_cores(&self, tile: Tile) {
        let (m, n, k) = (self.m, self.n, self.k);
        let lanes = self.lanes();
        let [lhs, rhs] = self.sides();
        let form = Form {
            lhs,
            rhs,
            masked: self.is_masked(tile.rows, tile.columns, tile.depth),
            rank: self.batch.rank(),
            pairs: n.is_multiple_of(2) && self.epilogue.fits(&self.product.shape, 2),
        };
        let width = |side: stage::Side| if side.wide { lanes } else { 1 };
        let widths = [width(form.lhs), width(form.rhs)];
        let client = self.device.client();
        let cubes = self.cubes(&tile);
        let cube_dim = CubeDim::new_1d(tile.units() as u32);
        let cubes = calculate_cube_count_elemwise(client, cubes * tile.units(), cube_dim);
        let [lhs, rhs] = self.buffers();
        let (epilogue, after) = self.epilogue(if form.pairs { 2 } else { 1 });
        let (address, index) = (address_type(self.wide), index_type(self.wide));
        let layout = self.layout();
        let kernel = ("tensor cores", tile, form, widths, after);
        // SAFETY: the layouts lie in the buffers of the operands; the kernels load and store inside `m`, `n` and `k` or,
        // where nothing is masked, in blocks and steps of which these are multiples. Wide loads are for strides and
        // offsets that are multiples of them. Their loops end at `k`.
        self.guarded(kernel, cube_dim, || unsafe {
            match lanes {
                8 => mma::mma::launch_unchecked(
                    client,
                    cubes,
                    cube_dim,
                    address,
                    lhs,
                    rhs,
                    epilogue,
                    layout,
                    m,
                    n,
                    k,
                    tile,
                    form,
                    storage(self.dtype()),
                    widths,
                    index,
                ),
                _ => mma3::mma3::launch_unchecked(
                    client, cubes, cube_dim, address, lhs, rhs, epilogue, layout, m, n, k, tile,
                    form, widths, index,
                ),
            }
        });
    }

    /// A launch that writes the outputs by the kernel that is built from `kernel`, the element type and the type of places.
    ///
    /// The tuner sees for itself which kernels fail; what a guard does beforehand would fail its trials.
    fn guarded(&self, kernel: impl Hash, cube_dim: CubeDim, launch: impl FnOnce()) {
        if self.tuned {
            return launch();
        }
        let kernel = fingerprint((kernel, self.dtype(), self.wide));
        guarded(self.device, kernel, cube_dim, &self.outputs, launch);
    }

    /// What becomes of `lanes` elements that a kernel gives at once.
    fn epilogue(&self, lanes: usize) -> (EpilogueLaunch, Plan) {
        let epilogue = self.epilogue.clone();
        epilogue.launched(&self.outputs, lanes, self.wide)
    }

    fn by_slices(&self, slices: Slices) {
        let client = self.device.client();
        let cubes = self.batches() * self.m * self.n.div_ceil(slices.columns);
        let cube_dim = CubeDim::new_1d(slices.units as u32);
        let [lhs, rhs] = self.buffers();
        let (epilogue, after) = self.epilogue(1);
        // SAFETY: the layouts lie in the buffers of the operands, columns are cut at `n`, and the loops end at `k`.
        self.guarded(
            ("slices", slices, self.batch.rank(), after),
            cube_dim,
            || unsafe {
                gemv::gemv::launch_unchecked(
                    client,
                    calculate_cube_count_elemwise(client, cubes * slices.units, cube_dim),
                    cube_dim,
                    address_type(self.wide),
                    lhs,
                    rhs,
                    epilogue,
                    self.layout(),
                    cubes,
                    self.m,
                    self.n,
                    self.k,
                    self.batch.rank(),
                    slices,
                    storage(self.dtype()),
                    storage(accumulator(self.dtype())),
                    slices.lanes,
                    index_type(self.wide),
                );
            },
        );
    }

    fn by_planes(&self, lanes: usize) {
        let client = self.device.client();
        let len = count(&self.product);
        let cube_dim = CubeDim::new_1d(256);
        let [lhs, rhs] = self.buffers();
        let (epilogue, after) = self.epilogue(1);
        // SAFETY: as in `by_dots`; wide loads are for strides and offsets that are multiples of them.
        self.guarded(
            ("planes", lanes, self.batch.rank(), after),
            cube_dim,
            || unsafe {
                planes::planes::launch_unchecked(
                    client,
                    calculate_cube_count_elemwise(client, len * 32, cube_dim),
                    cube_dim,
                    address_type(self.wide),
                    lhs,
                    rhs,
                    epilogue,
                    self.layout(),
                    len,
                    self.m,
                    self.n,
                    self.k,
                    self.batch.rank(),
                    lanes,
                    storage(self.dtype()),
                    storage(accumulator(self.dtype())),
                    lanes,
                    index_type(self.wide),
                );
            },
        );
    }

    fn by_dots(&self) {
        let client = self.device.client();
        let len = count(&self.product);
        let cube_dim = CubeDim::new(client, len);
        let [lhs, rhs] = self.buffers();
        let (epilogue, after) = self.epilogue(1);
        let accumulator = accumulator(self.dtype());
        // SAFETY: the layouts lie in the buffers of the operands, the kernel writes below `len`, which is the number of
        // elements of the output's, and its loop ends at `k`.
        self.guarded(("dots", self.batch.rank(), after), cube_dim, || unsafe {
            dot::dot::launch_unchecked(
                client,
                calculate_cube_count_elemwise(client, len, cube_dim),
                cube_dim,
                address_type(self.wide),
                lhs,
                rhs,
                epilogue,
                self.layout(),
                len,
                self.m,
                self.n,
                self.k,
                accumulator,
                self.batch.rank(),
                storage(self.dtype()),
                storage(accumulator),
                index_type(self.wide),
            );
        });
    }

    /// Runs CubeK's kernel that needs no tensor cores, if it takes this.
    ///
    /// Those with tensor cores round f32 to tf32, and the tiled one gave wrong products of bf16 when it was measured.
    fn by_library(&self) -> bool {
        let client = self.device.client();
        let elem = storage(self.dtype());
        let [lhs, rhs] = &self.inputs;
        let globals = MatmulGlobalElems {
            lhs: elem,
            rhs: elem,
            out: elem,
        };
        let input = |tensor| InputBinding::new(self.binding(tensor), elem);
        let strategy = tiled::Strategy::CpuGemm(Default::default());
        let mut elems = MatmulElems::from_globals(&globals);
        let Side {
            plan,
            scalars,
            inputs,
        } = &self.epilogue;
        let plain = plan.steps.is_empty() && self.outputs.len() == 1;
        let product = match plain {
            true => self.outputs[0].clone(),
            false => CubeTensor::empty(self.device, self.product.clone()),
        };
        let output = self.binding(&product);
        let (lhs, rhs) = (input(lhs), input(rhs));
        // What its kernels are built from is not ours to see: sizes and layouts are all that it can depend on.
        let kernel = ("library", self.arguments(), self.m, self.n, self.k);
        let kernel = fingerprint((kernel, self.dtype()));
        let mut taken = false;
        let written = core::slice::from_ref(&product);
        guarded(self.device, kernel, CubeDim::new_1d(1), written, || {
            let launched = launch_ref(&strategy.into(), client, lhs, rhs, output, &mut elems);
            taken = launched.is_ok();
        });
        if !taken {
            return false;
        }
        if !plain {
            let inputs = [&[product], &inputs[..]].concat();
            group::launch_into(self.device, plan.clone(), scalars, &inputs, &self.outputs);
        }
        true
    }

    fn binding(&self, tensor: &CubeTensor) -> TensorBinding {
        let size = self.dtype().size();
        let backwards = tensor.strides().iter().any(|stride| *stride < 0);
        let tensor = match backwards || !(tensor.offset() * size).is_multiple_of(ALIGNMENT) {
            true => movement::plain(self.device, tensor.clone()),
            false => tensor.clone(),
        };
        let strides = tensor.strides().iter().map(|stride| *stride as usize);
        TensorBinding {
            handle: tensor
                .handle()
                .clone()
                .offset_start((tensor.offset() * size) as u64)
                .binding(),
            strides: strides.collect(),
            shape: tensor.meta().shape.iter().copied().collect(),
            tiling: Default::default(),
        }
    }
}

/// The type in which elements are summed.
fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}
