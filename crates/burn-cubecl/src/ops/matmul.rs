//! Matrix products: CubeK's kernels for large products of floats; elsewhere one unit computes one element.

use super::cast::converted;
use super::group::{address_type, index, index_type, is_wide};
use super::guard::{fingerprint, guarded};
use super::kernel::place;
use super::layout::{Layout, broadcast};
use super::movement;
use super::reduce::{combine, element};
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_ir::{BinaryOp, Described, TensorMeta};
use burn_std::DType;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek::matmul::launch::launch_ref;
use cubek::matmul::strategy::Strategy;
use cubek::matmul::tiled;
use cubek::std::InputBinding;

/// From this many multiplications on, tiles pay.
const LARGE: usize = 64 * 64 * 64;

/// Buffers may be entered at multiples of this many bytes on every runtime.
const ALIGNMENT: usize = 256;

/// Runs a matrix product.
pub(crate) fn run(
    device: &CubeDevice,
    lhs: CubeTensor,
    rhs: CubeTensor,
    output: TensorMeta,
) -> CubeTensor {
    let tensor = CubeTensor::empty(device, output);
    let (len, dtype) = (count(tensor.meta()), tensor.meta().dtype);
    if len == 0 {
        return tensor;
    }
    let inner = *lhs.meta().shape.last().expect("matrices have two dims");
    let large = dtype.is_float() && len * inner >= LARGE;
    if !large || !by_tiles(device, &lhs, &rhs, &tensor) {
        by_dots(device, [lhs, rhs], &tensor, inner);
    }
    tensor
}

/// Computes each element on its own.
fn by_dots(device: &CubeDevice, inputs: [CubeTensor; 2], output: &CubeTensor, inner: usize) {
    let client = device.client();
    let TensorMeta { shape, dtype } = output.meta();
    let len = count(output.meta());
    let batch = shape.len() - 2;
    let batches = |input: &CubeTensor| {
        let sizes = &input.meta().shape[..batch];
        broadcast(sizes, &input.strides()[..batch], &shape[..batch])
    };
    let layout = Layout::new(&shape[..batch], &inputs.each_ref().map(batches));
    let mut arguments: Vec<isize> = layout.sizes.iter().map(|size| *size as isize).collect();
    for (input, strides) in inputs.iter().zip(&layout.strides) {
        arguments.push(input.offset() as isize);
        arguments.extend(strides);
        arguments.extend(&input.strides()[batch..]);
    }
    let wide = is_wide(&inputs, core::slice::from_ref(output));
    let [lhs, rhs] = inputs.map(|input| {
        let len = input.handle().size() as usize / dtype.size();
        // SAFETY: the length is that of the buffer.
        unsafe { BufferArg::from_raw_parts(input.handle().clone(), len) }
    });
    let accumulator = match *dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    };
    let cube_dim = CubeDim::new(client, len);
    let kernel = fingerprint(("dot", *dtype, layout.rank(), wide));
    let written = core::slice::from_ref(output);
    // SAFETY: the layouts lie in the buffers of the operands, the kernel writes below `len`, which is the number of
    // elements of the output's, and its loop ends at `inner`.
    guarded(device, kernel, cube_dim, written, || unsafe {
        dot::launch_unchecked(
            client,
            calculate_cube_count_elemwise(client, len, cube_dim),
            cube_dim,
            address_type(wide),
            lhs,
            rhs,
            BufferArg::from_raw_parts(output.handle().clone(), len),
            arguments.into_iter().map(|it| index(it, wide)).collect(),
            len,
            shape[batch],
            shape[batch + 1],
            inner,
            accumulator,
            layout.rank(),
            storage(*dtype),
            storage(accumulator),
            index_type(wide),
        );
    });
}

/// Runs one of CubeK's kernels, if it has one for this.
fn by_tiles(device: &CubeDevice, lhs: &CubeTensor, rhs: &CubeTensor, output: &CubeTensor) -> bool {
    let client = device.client();
    let elem = storage(output.meta().dtype);
    let bind = |tensor: &CubeTensor| {
        let offset = tensor.offset() * elem.size();
        let backwards = tensor.strides().iter().any(|stride| *stride < 0);
        let tensor = match backwards || !offset.is_multiple_of(ALIGNMENT) {
            true => movement::plain(device, tensor.clone()),
            false => tensor.clone(),
        };
        let offset = (tensor.offset() * elem.size()) as u64;
        TensorBinding {
            handle: tensor.handle().clone().offset_start(offset).binding(),
            strides: tensor
                .strides()
                .iter()
                .map(|stride| *stride as usize)
                .collect(),
            shape: tensor.meta().shape.iter().copied().collect(),
            tiling: Default::default(),
        }
    };
    let input = |tensor| InputBinding::new(bind(tensor), elem);
    let globals = MatmulGlobalElems {
        lhs: elem,
        rhs: elem,
        out: elem,
    };
    let is_cpu = client.properties().hardware.num_cpu_cores.is_some();
    let cmma = (!is_cpu).then(|| tiled::Strategy::Cmma(Default::default()));
    let strategies = cmma
        .into_iter()
        .chain([tiled::Strategy::CpuGemm(Default::default())]);
    let mut launched = false;
    let layout = |tensor: &CubeTensor| (tensor.meta().shape.clone(), tensor.strides().to_vec());
    let kernel = fingerprint(("tiles", elem, layout(lhs), layout(rhs)));
    // CubeK chooses the cubes, within the limits of the device.
    let cube_dim = CubeDim::new_single();
    let written = core::slice::from_ref(output);
    guarded(device, kernel, cube_dim, written, || {
        launched = strategies.map(Strategy::from).any(|strategy| {
            let mut elems = MatmulElems::from_globals(&globals);
            let (lhs, rhs, output) = (input(lhs), input(rhs), bind(output));
            launch_ref(&strategy, client, lhs, rhs, output, &mut elems).is_ok()
        });
    });
    launched
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn dot<E: Numeric, A: Numeric, I: Int>(
    lhs: &[Vector<E, Const<1>>],
    rhs: &[Vector<E, Const<1>>],
    output: &mut [E],
    layout: &Sequence<InputScalar>,
    len: usize,
    rows: usize,
    columns: usize,
    inner: usize,
    #[comptime] dtype: DType,
    #[comptime] rank: usize,
    #[define(E)] _elem: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < len {
        let column = ABSOLUTE_POS % columns;
        let row = ABSOLUTE_POS / columns % rows;
        let batch = ABSOLUTE_POS / columns / rows;
        let lhs_at = comptime!(rank);
        let rhs_at = comptime!(2 * rank + 3);
        let lhs_start = place::<I>(batch, layout, 0usize, rank, lhs_at, false);
        let rhs_start = place::<I>(batch, layout, 0usize, rank, rhs_at, false);
        let row_stride = layout[comptime!(lhs_at + 1 + rank)].get::<I>();
        let lhs_stride = layout[comptime!(lhs_at + 2 + rank)].get::<I>();
        let rhs_stride = layout[comptime!(rhs_at + 1 + rank)].get::<I>();
        let column_stride = layout[comptime!(rhs_at + 2 + rank)].get::<I>();
        let mut lhs_place = I::cast_from(lhs_start) + I::cast_from(row) * row_stride;
        let mut rhs_place = I::cast_from(rhs_start) + I::cast_from(column) * column_stride;
        let mut sum = Vector::<A, Const<1>>::new(A::from_int(0));
        for _ in 0..inner {
            let left = element::<E, Const<1>, A, I>(lhs, lhs_place);
            let right = element::<E, Const<1>, A, I>(rhs, rhs_place);
            let product = combine::<A, Const<1>>(left, right, BinaryOp::Mul, dtype);
            sum = combine::<A, Const<1>>(sum, product, BinaryOp::Add, dtype);
            lhs_place += lhs_stride;
            rhs_place += rhs_stride;
        }
        output[ABSOLUTE_POS] = converted::<A, E, Const<1>>(sum).extract(0usize);
    }
}
