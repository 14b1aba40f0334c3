//! Copies whose neighbours in the output are far apart in the input: tiles go through shared memory, so that both sides are
//! touched a line at a time.

use super::group::{address_type, index, index_type, is_wide};
use super::guard::{fingerprint, guarded};
use super::kernel::place;
use super::layout::Layout;
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_ir::Described;
use cubecl::calculate_cube_count_elemwise;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Shorter dims than this are not worth a tile.
const SHORT: usize = 16;

/// The lines of a tile that a cube copies at a time.
const LINES: usize = 8;

/// A copy as the kernel sees it: which dims a tile spans, and where the elements of both buffers are.
struct Cut {
    /// The size of the dim that is contiguous in the input.
    across: usize,
    /// The size of the dim that is contiguous in the output.
    down: usize,
    /// The sizes of the other dims.
    others: Vec<usize>,
    /// The layout that the kernel takes.
    arguments: Vec<isize>,
}

impl Cut {
    /// The copy of `input` to a row-major buffer, if two long dims take turns in being contiguous.
    fn new(input: &CubeTensor) -> Option<Self> {
        let shape = &input.meta().shape;
        let Layout { sizes, strides } = Layout::new(shape, &[input.strides().to_vec()]);
        let from = strides.into_iter().next()?;
        let last = sizes.len().checked_sub(1)?;
        let dim = from.iter().position(|stride| *stride == 1)?;
        if dim == last || sizes[dim] < SHORT || sizes[last] < SHORT {
            return None;
        }
        let after = |dim: usize| sizes[dim + 1..].iter().product::<usize>() as isize;
        let others = || (0..last).filter(|at| *at != dim);
        let mut arguments: Vec<isize> = others().map(|at| sizes[at] as isize).collect();
        arguments.push(input.offset() as isize);
        arguments.extend(others().map(|at| from[at]));
        arguments.push(0);
        arguments.extend(others().map(after));
        arguments.extend([from[last], after(dim)]);
        Some(Self {
            across: sizes[dim],
            down: sizes[last],
            others: others().map(|at| sizes[at]).collect(),
            arguments,
        })
    }
}

/// Copies `input` to a row-major buffer, or gives it up if tiles do not help.
pub(crate) fn copy(device: &CubeDevice, input: &CubeTensor) -> Option<CubeTensor> {
    let client = device.client();
    let hardware = &client.properties().hardware;
    if !device.shares() {
        return None;
    }
    let elem = storage(input.meta().dtype);
    let fits = |size: &usize| {
        let bytes = size * (size + 1) * elem.size();
        let units = (size * LINES) as u32;
        bytes <= hardware.max_shared_memory_size && units <= hardware.max_units_per_cube
    };
    let size = [64, 32].into_iter().find(fits)?;
    let cut = Cut::new(input)?;
    let output = CubeTensor::empty(device, input.meta().clone());
    let tiles = cut.across.div_ceil(size) * cut.down.div_ceil(size);
    let cubes = tiles * cut.others.iter().product::<usize>();
    let wide = is_wide(core::slice::from_ref(input), core::slice::from_ref(&output));
    let cube_dim = CubeDim::new_2d(size as u32, LINES as u32);
    let len = input.handle().size() as usize / elem.size();
    let arguments = cut.arguments.into_iter().map(|it| index(it, wide));
    let kernel = fingerprint(("transpose", cut.others.len(), size, elem, wide));
    let written = core::slice::from_ref(&output);
    // SAFETY: the arguments describe where the elements of both lie, in their buffers; tiles are cut at `across` and
    // `down`, and the loops have a fixed number of rounds.
    guarded(device, kernel, cube_dim, written, || unsafe {
        transpose::launch_unchecked(
            client,
            calculate_cube_count_elemwise(client, cubes * size * LINES, cube_dim),
            cube_dim,
            address_type(wide),
            BufferArg::from_raw_parts(input.handle().clone(), len),
            BufferArg::from_raw_parts(output.handle().clone(), count(output.meta())),
            arguments.collect(),
            cubes,
            cut.across,
            cut.down,
            cut.others.len(),
            size,
            elem,
            index_type(wide),
        );
    });
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
