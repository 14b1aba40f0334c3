//! Borders that continue a tensor, and windows that slide over it.

use super::{dim, fail, join, movement, shape};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_dispatch::{Device, Handle};
use burn_ir::{Described, PadRange, SliceRange};
use burn_std::ops::PadMode;
use burn_std::{Scalar, Shape, Slice};

/// New elements before and after each dim.
#[track_caller]
pub(crate) fn pad(input: Handle, padding: &[(usize, usize)], mode: PadMode) -> Handle {
    if let PadMode::Constant(value) = mode {
        let dtype = super::dtype(&input);
        let range = |(before, after): &(usize, usize)| PadRange {
            before: *before,
            between: 0,
            after: *after,
        };
        let padding = padding.iter().map(range).collect();
        return movement::pad(input, padding, Scalar::new(value, &dtype));
    }
    let mut output = input;
    for (dim, (before, after)) in padding.iter().enumerate() {
        output = border(output, dim, *before, *after, mode);
    }
    output
}

/// One dim continued at both ends.
#[track_caller]
fn border(input: Handle, dim: usize, before: usize, after: usize, mode: PadMode) -> Handle {
    if before == 0 && after == 0 {
        return input;
    }
    let size = shape(&input)[dim];
    let mirrored = mode == PadMode::Reflect;
    let least = if mirrored { before.max(after) + 1 } else { 1 };
    if size < least {
        fail(
            "pad",
            input.meta(),
            format_args!("dim {dim} of size {size} cannot continue by {before} and {after}"),
            format_args!("a size of at least {least} in this mode"),
        );
    }
    let rank = input.meta().rank();
    let mut parts = Vec::with_capacity(3);
    for (count, is_before) in [(before, true), (after, false)] {
        if count == 0 {
            continue;
        }
        let part = match mirrored {
            true => {
                // [1, count] before the first element, [size - 1 - count, size - 2] after the last, backwards.
                let first = if is_before { 1 } else { size - 1 - count };
                let part = movement::narrow(input.clone(), dim, first, count);
                movement::flip(part, &[dim as isize])
            }
            false => {
                let edge = if is_before { 0 } else { size - 1 };
                let part = movement::narrow(input.clone(), dim, edge, 1);
                let mut times = alloc::vec![1; rank];
                times[dim] = count;
                movement::repeat(part, &times)
            }
        };
        parts.push((part, is_before));
    }
    let mut ordered = Vec::with_capacity(3);
    let mut behind = Vec::with_capacity(1);
    for (part, is_before) in parts {
        if is_before { &mut ordered } else { &mut behind }.push(part);
    }
    ordered.push(input);
    ordered.append(&mut behind);
    join::cat(ordered, dim as isize)
}

/// Windows of `size` elements every `step` along a dim, as a new last dim.
#[track_caller]
pub(crate) fn unfold(input: Handle, dim: isize, size: usize, step: usize) -> Handle {
    let meta = input.meta();
    let dim = self::dim("unfold", meta, dim);
    let total = meta.shape[dim];
    if step == 0 || size > total {
        fail(
            "unfold",
            meta,
            format_args!("windows of {size} every {step} in dim {dim}"),
            format_args!("a step of at least 1, and windows of at most {total}"),
        );
    }
    let rank = meta.rank();
    let windows = (total - size) / step + 1;
    let at = |offset: usize| -> Box<[SliceRange]> {
        let mut ranges: Vec<_> = shape(&input)
            .iter()
            .map(|size| SliceRange::full(*size))
            .collect();
        ranges[dim] = SliceRange {
            start: offset,
            step: step as isize,
            len: windows,
        };
        ranges.into()
    };
    if size == 0 {
        let none = movement::slice_dim(
            input,
            dim as isize,
            Slice::new(0, Some(windows as isize), 1),
        );
        let empty = movement::unsqueeze(none, &[-1], rank + 1);
        return movement::slice_dim(empty, -1, Slice::new(0, Some(0), 1));
    }
    let mut columns = Vec::with_capacity(size);
    for offset in 0..size {
        columns.push(movement::select(at(offset), input.clone()));
    }
    join::stack(columns, -1, rank + 1)
}

/// The position of each element of a tensor of `sizes`, as a new last dim.
#[track_caller]
pub(crate) fn grid(sizes: Shape, device: Device) -> Handle {
    let rank = sizes.len();
    let mut coordinates = Vec::with_capacity(rank);
    for (dim, size) in sizes.iter().enumerate() {
        let mut line = Shape::from(alloc::vec![1; rank]);
        line[dim] = *size;
        let line = movement::reshape(super::create::positions(device, *size), line);
        coordinates.push(movement::expand(line, sizes.clone()));
    }
    join::stack(coordinates, -1, rank + 1)
}
