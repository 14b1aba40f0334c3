//! Several tensors in one, and parts of a tensor replaced: by padding each part to the whole and choosing by a mask,
//! which keeps every bit. A family of instructions for it will replace the passes over memory.

use super::{choose, create, dim, fail, movement, shape};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_ir::{Described, Operand, PadRange, SliceRange};
use burn_std::{Scalar, Shape, Slice};

/// The parts one after the other along a dim.
#[track_caller]
pub(crate) fn cat(parts: Vec<Handle>, dim: isize) -> Handle {
    let Some(first) = parts.first().map(|part| part.meta().clone()) else {
        panic!("`cat`: there is no tensor\n  legal: at least one tensor")
    };
    let dim = super::dim("cat", &first, dim);
    for (at, part) in parts.iter().enumerate() {
        let mut expected = first.shape.clone();
        expected[dim] = part.meta().shape.get(dim).copied().unwrap_or(0);
        if *shape(part) != expected {
            fail(
                "cat",
                &first,
                format_args!(
                    "tensor {at} is {} and does not fit along dim {dim}",
                    part.meta()
                ),
                format_args!("equal sizes in every other dim"),
            );
        }
    }
    join(parts, dim)
}

/// Joins the first half and the second half, so that each element moves as often as halves can be halved.
#[track_caller]
fn join(mut parts: Vec<Handle>, dim: usize) -> Handle {
    if parts.len() > 1 {
        let second = parts.split_off(parts.len() / 2);
        let (first, second) = (join(parts, dim), join(second, dim));
        return pair(first, second, dim);
    }
    parts
        .pop()
        .expect("halves of two or more parts are not empty")
}

#[track_caller]
fn pair(first: Handle, second: Handle, dim: usize) -> Handle {
    let (left, right) = (shape(&first)[dim], shape(&second)[dim]);
    if left == 0 || right == 0 {
        return if left == 0 { second } else { first };
    }
    let rank = first.meta().rank();
    let along = |range: PadRange| -> Box<[PadRange]> {
        let mut padding = alloc::vec![PadRange::default(); rank];
        padding[dim] = range;
        padding.into()
    };
    let zero = super::scalar(0.0, &first);
    let mut line = Shape::from(alloc::vec![1; rank]);
    line[dim] = left;
    let device = first.device().base();
    let store = device.settings().bool_dtype.into();
    let mask = create::full_on(device, line, Scalar::Bool(true), store);
    let after = along(PadRange {
        after: right,
        ..PadRange::default()
    });
    let before = along(PadRange {
        before: left,
        ..PadRange::default()
    });
    let mask = movement::pad(mask, after.clone(), Scalar::Bool(false));
    let first = movement::pad(first, after, zero);
    let second = movement::pad(second, before, zero);
    choose(mask, Operand::Tensor(first), Operand::Tensor(second))
}

/// The tensors side by side along a new dim.
#[track_caller]
pub(crate) fn stack(parts: Vec<Handle>, dim: isize, rank: usize) -> Handle {
    let mut apart = Vec::with_capacity(parts.len());
    for part in parts {
        apart.push(movement::unsqueeze(part, &[dim], rank));
    }
    cat(apart, dim)
}

/// Where each range puts its elements, as padding from its length to the whole, walking forwards.
fn scatter(ranges: &[SliceRange], sizes: &Shape) -> Box<[PadRange]> {
    let place = |(range, size): (&SliceRange, &usize)| {
        let step = range.step.unsigned_abs();
        let length = (range.len - 1) * step;
        let before = match range.step < 0 {
            true => range.start - length,
            false => range.start,
        };
        PadRange {
            before,
            between: step - 1,
            after: size - before - length - 1,
        }
    };
    ranges.iter().zip(sizes.iter()).map(place).collect()
}

/// Whether the ranges select no element.
fn is_empty(ranges: &[SliceRange]) -> bool {
    ranges.iter().any(|range| range.len == 0)
}

/// Whether an element of `input` is selected.
#[track_caller]
fn mask(input: &Handle, ranges: &[SliceRange], padding: Box<[PadRange]>) -> Handle {
    let selected: Shape = ranges.iter().map(|range| range.len).collect();
    let device = input.device().base();
    let store = device.settings().bool_dtype.into();
    let inside = create::full_on(device, selected, Scalar::Bool(true), store);
    movement::pad(inside, padding, Scalar::Bool(false))
}

/// The tensor with a selection replaced by `values`.
#[track_caller]
pub(crate) fn slice_assign(input: Handle, slices: &[Slice], values: Handle) -> Handle {
    let ranges = movement::ranges(shape(&input), slices);
    let selected: Shape = ranges.iter().map(|range| range.len).collect();
    if *shape(&values) != selected {
        fail(
            "slice_assign",
            input.meta(),
            format_args!("values of {} cannot replace {selected}", values.meta()),
            format_args!("values of the selected shape"),
        );
    }
    if is_empty(&ranges) {
        return input;
    }
    let padding = scatter(&ranges, shape(&input));
    let backwards: Vec<_> = (0..ranges.len() as isize)
        .filter(|dim| ranges[dim.unsigned_abs()].step < 0)
        .collect();
    let values = movement::flip(values, &backwards);
    let zero = super::scalar(0.0, &values);
    let values = movement::pad(values, padding.clone(), zero);
    let mask = mask(&input, &ranges, padding);
    choose(mask, Operand::Tensor(values), Operand::Tensor(input))
}

/// The tensor with a selection replaced by one value.
#[track_caller]
pub(crate) fn slice_fill(input: Handle, slices: &[Slice], value: Scalar) -> Handle {
    let ranges = movement::ranges(shape(&input), slices);
    if is_empty(&ranges) {
        return input;
    }
    let padding = scatter(&ranges, shape(&input));
    let mask = mask(&input, &ranges, padding);
    choose(mask, value.into(), Operand::Tensor(input))
}

/// The elements moved along a dim by `shift`, those that leave it coming in at the other end.
#[track_caller]
pub(crate) fn roll(input: Handle, shift: isize, dim: isize) -> Handle {
    let dim = self::dim("roll", input.meta(), dim);
    let size = shape(&input)[dim];
    // An `isize` holds every size of memory that exists.
    let shift = match size {
        0 => 0,
        _ => shift.rem_euclid(size as isize).unsigned_abs(),
    };
    if shift == 0 {
        return input;
    }
    let tail = movement::narrow(input.clone(), dim, size - shift, shift);
    let head = movement::narrow(input, dim, 0, size - shift);
    pair(tail, head, dim)
}
