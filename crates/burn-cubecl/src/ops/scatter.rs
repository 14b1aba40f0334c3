//! Writes elements to places that strides say.

use super::group::{address_type, index, index_type, is_wide};
use super::guard::{fingerprint, guarded};
use super::kernel::place;
use super::layout::Layout;
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_ir::Described;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

/// Writes the elements of `input` over those of `target`, a view of the same description with places of its own for
/// all of them.
pub(crate) fn write(device: &CubeDevice, input: CubeTensor, target: CubeTensor) {
    let len = count(input.meta());
    if len == 0 {
        return;
    }
    let client = device.client();
    let elem = storage(input.meta().dtype);
    let tensors = [input, target];
    let strides = tensors.each_ref().map(|tensor| tensor.strides().to_vec());
    let layout = Layout::new(&tensors[0].meta().shape, &strides);
    let mut arguments: Vec<isize> = layout.sizes.iter().map(|size| *size as isize).collect();
    for (tensor, strides) in tensors.iter().zip(&layout.strides) {
        arguments.push(tensor.offset() as isize);
        arguments.extend(strides);
    }
    let wide = is_wide(&tensors, &[]);
    let [source, written] = tensors.each_ref().map(|tensor| {
        let len = tensor.handle().size() as usize / elem.size();
        // SAFETY: the length is that of the buffer.
        unsafe { BufferArg::from_raw_parts(tensor.handle().clone(), len) }
    });
    let kernel = fingerprint(("scatter", elem, layout.rank(), wide));
    let cube_dim = CubeDim::new(client, len);
    // SAFETY: both layouts lie in their buffers, and the kernel has no loop.
    guarded(device, kernel, cube_dim, &tensors[1..], || unsafe {
        scatter::launch_unchecked(
            client,
            calculate_cube_count_elemwise(client, len, cube_dim),
            cube_dim,
            address_type(wide),
            source,
            written,
            arguments.into_iter().map(|it| index(it, wide)).collect(),
            len,
            layout.rank(),
            elem,
            index_type(wide),
        );
    });
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn scatter<T: Numeric, I: Int>(
    input: &[T],
    target: &mut [T],
    layout: &Sequence<InputScalar>,
    len: usize,
    #[comptime] rank: usize,
    #[define(T)] _elem: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < len {
        let from = place::<I>(ABSOLUTE_POS, layout, 0usize, rank, rank, false);
        let to = place::<I>(
            ABSOLUTE_POS,
            layout,
            0usize,
            rank,
            comptime!(2 * rank + 1),
            false,
        );
        target[to] = input[from];
    }
}
