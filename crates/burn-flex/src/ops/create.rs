//! Tensors from nothing. Random numbers are in [`random`](super::random).

use super::{cast, random};
use crate::FlexTensor;
use crate::block::BLOCK;
use crate::parallel::{Shared, split};
use crate::source::{element, fill};
use crate::tensor::allocate;
use burn_ir::{CreateOp, TensorMeta};
use burn_std::DType;
use core::ops::Range;

/// Makes the tensor.
pub(crate) fn run(op: CreateOp, output: &TensorMeta) -> FlexTensor {
    match op {
        CreateOp::Full { dtype, value, .. } => {
            let (value, size) = (element(value, dtype), dtype.size());
            write(output, size, &|range, to| {
                // SAFETY: `to` is writable for the range and aligned.
                unsafe { fill(value.as_ptr(), size, to, range.len()) };
            })
        }
        CreateOp::Arange { start, step, .. } => write(output, 16, &|range, to| {
            converted(
                range,
                DType::I64,
                output.dtype,
                to,
                &|first, out: &mut [i64]| {
                    for (i, out) in out.iter_mut().enumerate() {
                        *out = start.wrapping_add(step.wrapping_mul((first + i) as i64));
                    }
                },
            );
        }),
        CreateOp::Random { distribution, .. } => random::run(distribution, output),
    }
}

/// A tensor that `work` writes in parts: the range of elements and where its first one goes.
pub(crate) fn write(
    output: &TensorMeta,
    cost: usize,
    work: &(dyn Fn(Range<usize>, *mut u8) + Sync),
) -> FlexTensor {
    let (len, size) = (output.shape.num_elements(), output.dtype.size());
    // SAFETY: the parts below are all of the tensor, and `work` writes each.
    let mut storage = unsafe { allocate(len * size, output.dtype) };
    let to = Shared(storage.as_mut_ptr());
    split(len, BLOCK, cost, &|range| {
        let start = range.start * size;
        work(range, to.get().wrapping_add(start));
    });
    FlexTensor::contiguous(output.clone(), storage)
}

/// Makes blocks of elements of `from`, which `E` is, and writes them as elements of `to_type`.
///
/// `make` is told the position of the first element of the block, a multiple of [`BLOCK`] if that of the range is.
pub(crate) fn converted<E: bytemuck::Pod>(
    range: Range<usize>,
    from: DType,
    to_type: DType,
    to: *mut u8,
    make: &dyn Fn(usize, &mut [E]),
) {
    let mut block = [E::zeroed(); BLOCK];
    for start in range.clone().step_by(BLOCK) {
        let block = &mut block[..BLOCK.min(range.end - start)];
        make(start, block);
        let to = to.wrapping_add((start - range.start) * to_type.size());
        // SAFETY: `to` is writable for the range, of which this block is a part.
        unsafe { cast::block(from, to_type, block.as_ptr().cast(), to, block.len()) };
    }
}
