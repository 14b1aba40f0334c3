//! The positions of true elements.

use crate::FlexTensor;
use crate::parallel::{Shared, split};
use crate::tensor::allocate;
use alloc::vec::Vec;
use burn_ir::{Described, OperationError, TensorMeta};
use burn_std::Shape;

/// Elements of the mask that are counted at a time, so that positions can be written from several places at once.
const CHUNK: usize = 16 * 1024;

/// The positions of the true elements of `mask`, in row-major order.
///
/// # Panics
/// If their number is not the one that the output was described with.
pub(crate) fn argwhere(mask: FlexTensor, output: &TensorMeta) -> FlexTensor {
    let mask = mask.into_contiguous();
    let len = mask.len();
    let at = Shared(mask.first().cast_mut());
    // SAFETY: the mask has `len` elements of one byte.
    let bytes = move || unsafe { core::slice::from_raw_parts(at.get().cast_const(), len) };
    let chunks = len.div_ceil(CHUNK);
    let mut starts = alloc::vec![0; chunks];
    let counts = Shared(starts.as_mut_ptr());
    split(chunks, 1, CHUNK, &|range| {
        for chunk in range {
            let count = count(&bytes()[chunk * CHUNK..len.min((chunk + 1) * CHUNK)]);
            // SAFETY: there is an entry for each chunk, and chunks are given once.
            unsafe { *counts.get().add(chunk) = count };
        }
    });
    let mut total: usize = 0;
    for start in &mut starts {
        total += core::mem::replace(start, total);
    }
    if total != output.shape[0] {
        panic!(
            "{}",
            OperationError::true_count(mask.meta(), total, output.shape[0])
        );
    }
    let (shape, size) = (mask.shape(), output.dtype.size());
    // SAFETY: there is a position for each true element, and all are written.
    let mut storage = unsafe { allocate(total * shape.len() * size, output.dtype) };
    let to = Shared(storage.as_mut_ptr());
    split(chunks, 1, CHUNK * (2 + shape.len()), &|range| {
        for chunk in range {
            let first = chunk * CHUNK;
            let mask = &bytes()[first..len.min(first + CHUNK)];
            let to = to.get().wrapping_add(starts[chunk] * shape.len() * size);
            // SAFETY: as many positions are written as the chunk has true elements, which there is room for.
            unsafe {
                match size {
                    1 => write::<u8>(mask, first, shape, to.cast(), |at| at as u8),
                    2 => write::<u16>(mask, first, shape, to.cast(), |at| at as u16),
                    4 => write::<u32>(mask, first, shape, to.cast(), |at| at as u32),
                    _ => write::<u64>(mask, first, shape, to.cast(), |at| at as u64),
                }
            }
        }
    });
    FlexTensor::contiguous(output.clone(), storage)
}

/// The number of true elements.
fn count(mask: &[u8]) -> usize {
    // Sums of bytes, over so few that they do not overflow.
    let sum = |part: &[u8]| {
        part.iter()
            .fold(0u8, |sum, at| sum.wrapping_add(u8::from(*at != 0)))
    };
    mask.chunks(255).map(|part| usize::from(sum(part))).sum()
}

/// Writes the position of each true element of a part of the mask that starts at `first`.
///
/// # Safety
/// `to` is writable for as many numbers as there are true elements, times the rank.
unsafe fn write<T: Copy>(
    mask: &[u8],
    first: usize,
    shape: &Shape,
    mut to: *mut T,
    number: impl Fn(usize) -> T,
) {
    let Some((columns, outer)) = shape.split_last() else {
        return;
    };
    // The row that the last position was in, and its coordinates.
    let mut row = usize::MAX;
    let mut position: Vec<usize> = alloc::vec![0; outer.len()];
    for (at, _) in mask.iter().enumerate().filter(|(_, at)| **at != 0) {
        let at = first + at;
        if at / columns != row {
            row = at / columns;
            let mut rest = row;
            for (coordinate, size) in position.iter_mut().zip(outer).rev() {
                *coordinate = rest % size;
                rest /= size;
            }
        }
        // SAFETY: the caller's promise.
        unsafe {
            for coordinate in &position {
                *to = number(*coordinate);
                to = to.add(1);
            }
            *to = number(at - row * columns);
            to = to.add(1);
        }
    }
}
