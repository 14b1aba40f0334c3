//! Other arrangements of the same elements, by shapes, dims and ranges.

use super::{dim, fail, run, shape};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_ir::{Described, Dims, MovementOp, Operation, PadRange, SliceRange};
use burn_std::{Scalar, Shape, Slice};

#[track_caller]
fn movement(op: MovementOp, input: Handle) -> Handle {
    run(Operation::Movement { op, input })
}

#[track_caller]
pub(crate) fn reshape(input: Handle, to: Shape) -> Handle {
    match *shape(&input) == to {
        true => input,
        false => movement(MovementOp::Reshape { shape: to }, input),
    }
}

/// Repeats dims of size 1, and new leading dims.
#[track_caller]
pub(crate) fn expand(input: Handle, to: Shape) -> Handle {
    let missing = to.len().saturating_sub(input.meta().rank());
    let padded = core::iter::repeat_n(1, missing).chain(shape(&input).iter().copied());
    let padded: Shape = padded.collect();
    let input = reshape(input, padded);
    match *shape(&input) == to {
        true => input,
        false => movement(MovementOp::Expand { shape: to }, input),
    }
}

#[track_caller]
pub(crate) fn permute(input: Handle, axes: &[isize]) -> Handle {
    let mut resolved = Vec::with_capacity(axes.len());
    for axis in axes {
        resolved.push(dim("permute", input.meta(), *axis));
    }
    match resolved.iter().copied().eq(0..input.meta().rank()) {
        true => input,
        false => {
            let axes = resolved.into();
            movement(MovementOp::Permute { axes }, input)
        }
    }
}

#[track_caller]
pub(crate) fn swap_dims(input: Handle, one: isize, other: isize) -> Handle {
    let one = dim("swap_dims", input.meta(), one);
    let other = dim("swap_dims", input.meta(), other);
    if one == other {
        return input;
    }
    let mut axes: Shape = (0..input.meta().rank()).collect();
    axes.swap(one, other);
    movement(MovementOp::Permute { axes }, input)
}

/// The last two dims exchanged; a vector as it is.
#[track_caller]
pub(crate) fn transpose(input: Handle) -> Handle {
    match input.meta().rank() < 2 {
        true => input,
        false => swap_dims(input, -2, -1),
    }
}

#[track_caller]
pub(crate) fn movedim(input: Handle, from: &[usize], to: &[usize]) -> Handle {
    let (meta, rank) = (input.meta(), input.meta().rank());
    let unique: Dims = from.iter().copied().collect();
    let targets: Dims = to.iter().copied().collect();
    if from.len() != to.len() || unique.len() != from.len() || targets.len() != to.len() {
        fail(
            "movedim",
            meta,
            format_args!("dims {from:?} cannot move to {to:?}"),
            format_args!("as many targets as sources, each dim once"),
        );
    }
    let mut rest = (0..rank).filter(|dim| !unique.contains(*dim));
    let mut axes = Vec::with_capacity(rank);
    for dim in 0..rank {
        let axis = match to.iter().position(|target| *target == dim) {
            Some(at) => Some(from[at]),
            None => rest.next(),
        };
        axes.push(axis.expect("as many dims are left as places") as isize);
    }
    permute(input, &axes)
}

/// The selection of each dim, as an instruction has it.
pub(crate) fn ranges(shape: &Shape, slices: &[Slice]) -> Box<[SliceRange]> {
    let mut ranges: Vec<_> = shape.iter().map(|size| SliceRange::full(*size)).collect();
    for ((range, size), slice) in ranges.iter_mut().zip(shape.iter()).zip(slices) {
        let covered = slice.range(*size);
        *range = SliceRange {
            // A negative step walks the range from its last element.
            start: match slice.is_reversed() && !covered.is_empty() {
                true => covered.end - 1,
                false => covered.start,
            },
            step: slice.step(),
            len: slice.output_size(*size),
        };
    }
    ranges.into()
}

#[track_caller]
pub(crate) fn slice(input: Handle, slices: &[Slice]) -> Handle {
    select(ranges(shape(&input), slices), input)
}

#[track_caller]
pub(crate) fn select(ranges: Box<[SliceRange]>, input: Handle) -> Handle {
    let whole = |(range, size): (&SliceRange, &usize)| *range == SliceRange::full(*size);
    match ranges.iter().zip(shape(&input).iter()).all(whole) {
        true => input,
        false => movement(MovementOp::Slice { ranges }, input),
    }
}

/// A selection in one dim.
#[track_caller]
pub(crate) fn slice_dim(input: Handle, dim: isize, slice: Slice) -> Handle {
    let dim = self::dim("slice_dim", input.meta(), dim);
    let mut slices = alloc::vec![Slice::full(); dim];
    slices.push(slice);
    self::slice(input, &slices)
}

/// `len` elements of one dim, from `start`.
#[track_caller]
pub(crate) fn narrow(input: Handle, dim: usize, start: usize, len: usize) -> Handle {
    let meta = input.meta();
    let size = meta.shape[dim];
    if start.checked_add(len).is_none_or(|end| end > size) {
        fail(
            "narrow",
            meta,
            format_args!("{len} elements from {start} leave dim {dim}"),
            format_args!("a part of 0..{size}"),
        );
    }
    let mut ranges: Vec<_> = meta
        .shape
        .iter()
        .map(|size| SliceRange::full(*size))
        .collect();
    ranges[dim] = SliceRange {
        start,
        step: 1,
        len,
    };
    select(ranges.into(), input)
}

#[track_caller]
pub(crate) fn flip(input: Handle, dims: &[isize]) -> Handle {
    let dims = super::dims("flip", input.meta(), dims);
    let backwards = |dim| match dims.contains(dim) {
        true => Slice::new(0, None, -1),
        false => Slice::full(),
    };
    let slices: Vec<_> = (0..input.meta().rank()).map(backwards).collect();
    slice(input, &slices)
}

/// New elements of one value.
#[track_caller]
pub(crate) fn pad(input: Handle, padding: Box<[PadRange]>, value: Scalar) -> Handle {
    match padding.iter().all(|range| *range == PadRange::default()) {
        true => input,
        false => movement(MovementOp::Pad { padding, value }, input),
    }
}

#[track_caller]
pub(crate) fn repeat(input: Handle, times: &[usize]) -> Handle {
    let rank = input.meta().rank();
    if let Some((at, times)) = (times.iter().enumerate().skip(rank)).find(|(_, times)| **times != 1)
    {
        fail(
            "repeat",
            input.meta(),
            format_args!("dim {at} should repeat {times} times and does not exist"),
            format_args!("at most one entry for each dim"),
        );
    }
    let times = |dim: usize| times.get(dim).copied().unwrap_or(1);
    if (0..rank).all(|dim| times(dim) == 1) {
        return input;
    }
    let sizes = shape(&input).clone();
    // Each dim with a dim of repetitions before it: [n] → [1, n] → [times, n] → [times · n].
    let each = |f: fn(usize, usize) -> [usize; 2]| -> Shape {
        (0..rank)
            .flat_map(|dim| f(times(dim), sizes[dim]))
            .collect()
    };
    let apart = reshape(input, each(|_, size| [1, size]));
    let repeated = expand(apart, each(|times, size| [times, size]));
    let mut joined = sizes;
    for (dim, size) in joined.iter_mut().enumerate() {
        *size = size.saturating_mul(times(dim));
    }
    reshape(repeated, joined)
}

#[track_caller]
pub(crate) fn flatten(input: Handle, start: isize, end: isize) -> Handle {
    let meta = input.meta();
    let (start, end) = (dim("flatten", meta, start), dim("flatten", meta, end));
    if start > end {
        fail(
            "flatten",
            meta,
            format_args!("dim {start} is behind dim {end}"),
            format_args!("a first dim not behind the last one"),
        );
    }
    let mut to: Vec<usize> = meta.shape[..start].into();
    to.push(meta.shape[start..=end].iter().product());
    to.extend_from_slice(&meta.shape[end + 1..]);
    reshape(input, to.into())
}

/// Without the given dims, which must have size 1.
#[track_caller]
pub(crate) fn squeeze(input: Handle, dims: Dims) -> Handle {
    let meta = input.meta();
    if let Some(dim) = dims.iter().find(|dim| meta.shape[*dim] != 1) {
        fail(
            "squeeze",
            meta,
            format_args!("dim {dim} has size {}", meta.shape[dim]),
            format_args!("dims of size 1"),
        );
    }
    let kept = (0..meta.rank()).filter(|dim| !dims.contains(*dim));
    let to: Shape = kept.map(|dim| meta.shape[dim]).collect();
    reshape(input, to)
}

/// Without the dims of size 1 that have to go to reach `rank`.
#[track_caller]
pub(crate) fn squeeze_all(input: Handle, rank: usize) -> Handle {
    let meta = input.meta();
    let single: Dims = (0..meta.rank())
        .filter(|dim| meta.shape[*dim] == 1)
        .collect();
    if meta.rank() - single.len() != rank {
        fail(
            "squeeze",
            meta,
            format_args!(
                "without its dims of size 1 the rank is {}, not {rank}",
                meta.rank() - single.len()
            ),
            format_args!("a result of that rank, or `squeeze_dims` for some of the dims"),
        );
    }
    squeeze(input, single)
}

/// With new dims of size 1 at the given places of the result.
#[track_caller]
pub(crate) fn unsqueeze(input: Handle, places: &[isize], rank: usize) -> Handle {
    let meta = input.meta();
    if meta.rank() + places.len() != rank {
        fail(
            "unsqueeze",
            meta,
            format_args!(
                "{} new dims make rank {}, not {rank}",
                places.len(),
                meta.rank() + places.len()
            ),
            format_args!("as many new dims as the result has more"),
        );
    }
    let mut new = Dims::default();
    for place in places {
        let Ok(dim) = burn_std::wrap_dim(*place, rank) else {
            fail(
                "unsqueeze",
                meta,
                format_args!("the result has no dim {place}"),
                format_args!("a dim in -{rank}..{rank}"),
            )
        };
        // A place that is taken means the next free one towards its end of the shape.
        let free = match place.is_negative() {
            true => (0..=dim).rev().find(|dim| !new.contains(*dim)),
            false => (dim..rank).find(|dim| !new.contains(*dim)),
        };
        let Some(free) = free else {
            fail(
                "unsqueeze",
                meta,
                format_args!("dim {place} of the result is given too often"),
                format_args!("each dim of the result once"),
            )
        };
        new = new.iter().chain([free]).collect();
    }
    let mut sizes = meta.shape.iter();
    let size = |dim| match new.contains(dim) {
        true => 1,
        false => *sizes
            .next()
            .expect("the new dims fill the rest of the rank"),
    };
    let to: Shape = (0..rank).map(size).collect();
    reshape(input, to)
}

/// With new leading dims of size 1.
#[track_caller]
pub(crate) fn unsqueeze_leading(input: Handle, rank: usize) -> Handle {
    let meta = input.meta();
    if meta.rank() > rank {
        fail(
            "unsqueeze",
            meta,
            format_args!("the result has rank {rank}"),
            format_args!("a result of no smaller rank"),
        );
    }
    let new = core::iter::repeat_n(1, rank - meta.rank());
    let to: Shape = new.chain(meta.shape.iter().copied()).collect();
    reshape(input, to)
}

/// One element of a dim, without the dim.
#[track_caller]
pub(crate) fn select_dim(input: Handle, dim: isize, index: isize) -> Handle {
    let meta = input.meta();
    let dim = self::dim("select_dim", meta, dim);
    let Ok(index) = burn_std::wrap_dim(index, meta.shape[dim]) else {
        fail(
            "select_dim",
            meta,
            format_args!("there is no element {index} in dim {dim}"),
            format_args!("an element in -{0}..{0}", meta.shape[dim]),
        )
    };
    squeeze(narrow(input, dim, index, 1), Dims::one(dim))
}

/// Parts of the given sizes along a dim; together they are the whole.
#[track_caller]
pub(crate) fn split(input: Handle, sizes: &[usize], dim: usize) -> Vec<Handle> {
    let total: usize = sizes.iter().sum();
    if total != shape(&input)[dim] {
        fail(
            "split",
            input.meta(),
            format_args!("parts of {sizes:?} make {total} elements in dim {dim}"),
            format_args!("parts that make {} together", shape(&input)[dim]),
        );
    }
    let mut parts = Vec::with_capacity(sizes.len());
    let mut start = 0;
    for size in sizes {
        parts.push(narrow(input.clone(), dim, start, *size));
        start += size;
    }
    parts
}

/// Parts of `size` along a dim; the last one may be smaller.
#[track_caller]
pub(crate) fn split_equal(input: Handle, size: usize, dim: isize) -> Vec<Handle> {
    let dim = self::dim("split", input.meta(), dim);
    let total = shape(&input)[dim];
    if size == 0 && total != 0 {
        fail(
            "split",
            input.meta(),
            format_args!("parts of size 0"),
            format_args!("parts of at least 1 element"),
        );
    }
    let whole = total.checked_div(size).unwrap_or(0);
    let mut sizes = alloc::vec![size; whole];
    if whole * size < total || total == 0 {
        sizes.push(total - whole * size);
    }
    split(input, &sizes, dim)
}

/// At most `count` parts of equal size along a dim; the last one may be smaller.
#[track_caller]
pub(crate) fn chunk(input: Handle, count: usize, dim: isize) -> Vec<Handle> {
    let resolved = self::dim("chunk", input.meta(), dim);
    if count == 0 {
        fail(
            "chunk",
            input.meta(),
            format_args!("0 parts"),
            format_args!("at least 1 part"),
        );
    }
    let size = shape(&input)[resolved].div_ceil(count);
    split_equal(input, size, dim)
}
