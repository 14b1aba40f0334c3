//! Copies whose neighbours in the output are far apart in the input: tiles go through shared memory, so that both sides are
//! touched a line at a time.

use super::group::{address_type, index, index_type, is_wide};
use super::kernel::place;
use super::layout::Layout;
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_ir::{Described, TensorMeta};
use cubecl::calculate_cube_count_elemwise;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Shorter dims than this are not worth a tile.
const SHORT: usize = 16;

/// The lines of a tile that a cube copies at a time.
const LINES: usize = 8;

/// Copies `input` to a row-major buffer, or gives it up if neither of two long dims is contiguous in one of them.
pub(crate) fn copy(device: &CubeDevice, input: &CubeTensor) -> Option<CubeTensor> {
    let client = device.client();
    let hardware = &client.properties().hardware;
    if hardware.num_cpu_cores.is_some() {
        return None;
    }
    let TensorMeta { shape, dtype } = input.meta();
    let Layout { mut sizes, strides } = Layout::new(shape, &[input.strides().to_vec()]);
    let mut strides = strides.into_iter().next()?;
    let last = sizes.len().checked_sub(1)?;
    let dim = strides.iter().position(|stride| *stride == 1)?;
    if dim == last || sizes[dim] < SHORT || sizes[last] < SHORT {
        return None;
    }
    let target: Vec<isize> = (0..sizes.len())
        .map(|dim| sizes[dim + 1..].iter().product::<usize>() as isize)
        .collect();
    let elem = storage(*dtype);
    let fits = |size: usize| size * (size + 1) * elem.size() <= hardware.max_shared_memory_size;
    let size = [64, 32].into_iter().find(|size| fits(*size))?;
    let units = (size * LINES) as u32;
    if units > hardware.max_units_per_cube {
        return None;
    }
    let output = CubeTensor::empty(device, input.meta().clone());
    let (across, down) = (sizes[dim], sizes[last]);
    let (from, to) = (strides[last], target[dim]);
    let target: Vec<isize> = target
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != dim && *at != last)
        .map(|(_, it)| *it)
        .collect();
    for at in [last, dim] {
        sizes.remove(at);
        strides.remove(at);
    }
    let rank = sizes.len();
    let cubes = across.div_ceil(size) * down.div_ceil(size) * sizes.iter().product::<usize>();
    let mut arguments: Vec<isize> = sizes.iter().map(|size| *size as isize).collect();
    arguments.push(input.offset() as isize);
    arguments.extend(strides);
    arguments.push(0);
    arguments.extend(target);
    arguments.extend([from, to]);
    let wide = is_wide(core::slice::from_ref(input), core::slice::from_ref(&output));
    let cube_dim = CubeDim::new_2d(size as u32, LINES as u32);
    let len = input.handle().size() as usize / elem.size();
    // SAFETY: `arguments` describe where the elements of both lie, in their buffers; tiles are cut at `across` and `down`,
    // and the loops have a fixed number of rounds.
    unsafe {
        transpose::launch_unchecked(
            client,
            calculate_cube_count_elemwise(client, cubes * units as usize, cube_dim),
            cube_dim,
            address_type(wide),
            BufferArg::from_raw_parts(input.handle().clone(), len),
            BufferArg::from_raw_parts(output.handle().clone(), count(output.meta())),
            arguments.into_iter().map(|it| index(it, wide)).collect(),
            cubes,
            across,
            down,
            rank,
            size,
            elem,
            index_type(wide),
        );
    }
    Some(output)
}

/// `layout` holds the sizes of the other dims, then the offset and the strides in them of both buffers, then the input's
/// stride in the dim that is contiguous in the output, and the output's in the other.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn transpose<T: Numeric, I: Int>(
    input: &[T],
    output: &mut [T],
    layout: &Sequence<InputScalar>,
    cubes: usize,
    across: usize,
    down: usize,
    #[comptime] rank: usize,
    #[comptime] size: usize,
    #[define(T)] _elem: ElemType,
    #[define(I)] _index: ElemType,
) {
    let pitch = comptime!(size + 1);
    let mut tile = Shared::<[T]>::new_slice(comptime!(size * pitch));
    // The same for all units of a cube: the barrier is met by all or none.
    if CUBE_POS < cubes {
        let blocks_across = (across + comptime!(size - 1)) / size;
        let blocks_down = (down + comptime!(size - 1)) / size;
        let batch = CUBE_POS / (blocks_across * blocks_down);
        let x0 = CUBE_POS % blocks_across * size;
        let y0 = CUBE_POS / blocks_across % blocks_down * size;
        let from = place::<I>(batch, layout, 0usize, rank, rank, false);
        let to = place::<I>(batch, layout, 0usize, rank, comptime!(2 * rank + 1), false);
        let input_stride = usize::cast_from(layout[comptime!(3 * rank + 2)].get::<I>());
        let output_stride = usize::cast_from(layout[comptime!(3 * rank + 3)].get::<I>());
        let (x, y) = (UNIT_POS_X as usize, UNIT_POS_Y as usize);
        #[unroll]
        for i in 0..comptime!(size / LINES) {
            let line = y + comptime!(i * LINES);
            if x0 + x < across && y0 + line < down {
                tile[line * pitch + x] = input[from + (y0 + line) * input_stride + x0 + x];
            }
        }
        sync_cube();
        #[unroll]
        for i in 0..comptime!(size / LINES) {
            let line = y + comptime!(i * LINES);
            if x0 + line < across && y0 + x < down {
                output[to + (x0 + line) * output_stride + y0 + x] = tile[x * pitch + line];
            }
        }
    }
}
