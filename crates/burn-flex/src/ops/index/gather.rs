//! Reading at positions that are data. Elements are moved by size, not by type.

use super::{BLOCK, Blocks, Indices, named};
use crate::FlexTensor;
use crate::parallel::{Shared, split};
use crate::tensor::{allocate, pack};
use burn_ir::{Described, IndexOp, TensorMeta};
use core::ops::Range;

/// The elements of `input` that `indices` name.
pub(crate) fn gather(
    op: IndexOp,
    input: FlexTensor,
    indices: FlexTensor,
    output: &TensorMeta,
) -> FlexTensor {
    let size = output.dtype.size();
    let indices = Indices::new(op, op.gather_name(), input.meta(), indices);
    // SAFETY: every element is written, or an index is out of range and the buffer is dropped.
    let mut storage = unsafe { allocate(output.shape.num_elements() * size, output.dtype) };
    let to = Shared(storage.as_mut_ptr());
    match op {
        IndexOp::Elements { .. } => {
            let layout = input.layout();
            let from = Shared(input.bytes().as_ptr().cast_mut());
            indices.each(
                &layout.strides,
                layout.offset,
                BLOCK,
                3 * size,
                &|start, first, places| {
                    let from = from.get().wrapping_add(first.wrapping_mul(size));
                    // SAFETY: the positions were checked; blocks of the output are disjoint.
                    unsafe { take(size, from, places, to.get().add(start * size)) }
                },
            );
        }
        IndexOp::Select { .. } | IndexOp::Nd => blocks(op, &input, &indices, to),
    }
    FlexTensor::contiguous(output.clone(), storage)
}

/// Copies one element from each place.
///
/// # Safety
/// The places, in elements of `size` bytes, are readable from `from`, and `to` is writable for as many elements.
unsafe fn take(size: usize, from: *const u8, places: &[usize], to: *mut u8) {
    /// # Safety
    /// As the function around it.
    unsafe fn typed<T: Copy>(from: *const T, places: &[usize], to: *mut T) {
        for (at, place) in places.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { *to.add(at) = *from.wrapping_add(*place) };
        }
    }
    // SAFETY: as above.
    unsafe {
        match size {
            1 => typed::<u8>(from, places, to),
            2 => typed::<u16>(from.cast(), places, to.cast()),
            4 => typed::<u32>(from.cast(), places, to.cast()),
            _ => typed::<u64>(from.cast(), places, to.cast()),
        }
    }
}

/// Copies everything at the named positions.
fn blocks(op: IndexOp, input: &FlexTensor, indices: &Indices<'_>, to: Shared<u8>) {
    let (layout, size) = (input.layout(), input.dtype().size());
    let named = named(op, indices.turn);
    let Blocks { outer, inner } = Blocks::new(input.shape(), &layout.strides, layout.offset, named);
    let offsets = indices.offsets(&layout.strides);
    let width = inner.len();
    let base = Shared(input.bytes().as_ptr().cast_mut());
    let copy = |range: Range<usize>| {
        let to = to.get().wrapping_add(range.start * width * size);
        if width == 1 {
            let mut places = [0; BLOCK];
            for start in range.clone().step_by(BLOCK) {
                let part = start..range.end.min(start + BLOCK);
                let places = &mut places[..part.len()];
                for (place, unit) in places.iter_mut().zip(part) {
                    *place = (outer.at(unit / offsets.len()) as usize)
                        .wrapping_add(offsets[unit % offsets.len()]);
                }
                let to = to.wrapping_add((start - range.start) * size);
                // SAFETY: the positions were checked; parts of the output are disjoint.
                unsafe { take(size, base.get(), places, to) };
            }
            return;
        }
        for (at, unit) in range.enumerate() {
            let first = (outer.at(unit / offsets.len()) as usize)
                .wrapping_add(offsets[unit % offsets.len()]);
            let from = base.get().wrapping_add(first.wrapping_mul(size));
            let to = to.wrapping_add(at * width * size);
            // SAFETY: as above, for all elements of the block.
            unsafe {
                match size {
                    1 => pack::<u8>(&inner, 0..width, from, to),
                    2 => pack::<u16>(&inner, 0..width, from.cast(), to.cast()),
                    4 => pack::<u32>(&inner, 0..width, from.cast(), to.cast()),
                    _ => pack::<u64>(&inner, 0..width, from.cast(), to.cast()),
                }
            }
        }
    };
    if width > 0 {
        let units = outer.len() * offsets.len();
        split(units, 1, 2 * width * size + super::COST, &copy);
    }
}
