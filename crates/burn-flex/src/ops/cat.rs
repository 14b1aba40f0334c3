//! Tensors one after the other, and selections replaced: strided copies into one buffer.

use super::movement::{copy_strided, slice};
use crate::FlexTensor;
use crate::source::element;
use crate::tensor::{Layout, allocate};
use alloc::vec::Vec;
use burn_ir::{Described, Operand, SliceRange, TensorMeta};
use burn_std::Strides;

/// The tensors one after the other along `dim`.
pub(crate) fn run(dim: usize, mut inputs: Vec<FlexTensor>, output: &TensorMeta) -> FlexTensor {
    if inputs.len() == 1 {
        return inputs.pop().expect("there is one");
    }
    let size = output.dtype.size();
    // SAFETY: the parts fill the output.
    let mut storage = unsafe { allocate(output.shape.num_elements() * size, output.dtype) };
    let strides = Strides::contiguous(&output.shape);
    let mut start = 0;
    for input in &inputs {
        let to = storage.as_mut_ptr().wrapping_add(start * size);
        // SAFETY: layouts stay inside their storage; the part is inside the output, which is new, and dense strides
        // reach each of its elements once.
        unsafe {
            copy_strided(
                size,
                input.shape(),
                input.first(),
                &input.layout().strides,
                to,
                &strides,
            )
        };
        start += input.shape()[dim] * strides[dim].unsigned_abs();
    }
    FlexTensor::contiguous(output.clone(), storage)
}

/// `input` with a selection replaced by `values`.
pub(crate) fn assign(
    ranges: &[SliceRange],
    input: FlexTensor,
    values: Operand<FlexTensor>,
) -> FlexTensor {
    let meta = input.meta().clone();
    let size = meta.dtype.size();
    let selected: Vec<usize> = ranges.iter().map(|range| range.len).collect();
    if selected.contains(&0) {
        return input;
    }
    let mut bytes = input.into_bytes();
    let layout = slice(&Layout::contiguous(&meta.shape), ranges);
    let to = bytes.as_mut_ptr().wrapping_add(layout.offset * size);
    // An element as wide as any, at an address that suits all of them.
    let mut repeated = [0u64];
    let (from, strides) = match &values {
        Operand::Tensor(values) => (values.first(), values.layout().strides.clone()),
        Operand::Scalar(value) => {
            repeated[0] = u64::from_ne_bytes(element(*value, meta.dtype));
            let zeros = selected.iter().map(|_| 0).collect();
            (repeated.as_ptr().cast(), zeros)
        }
    };
    // SAFETY: values stay inside their storage, and one repeated element is readable; the check keeps the selection
    // inside the buffer, which is owned and where a step other than 0 reaches no element twice.
    unsafe { copy_strided(size, &selected, from, &strides, to, &layout.strides) };
    FlexTensor::contiguous(meta, bytes)
}
