//! Several tensors in one, and parts of a tensor replaced.

use super::{movement, run, shape};
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_ir::{Described, Operand, Operation};
use burn_std::Slice;

/// The parts one after the other along a dim.
#[track_caller]
pub(crate) fn cat(mut parts: Vec<Handle>, dim: isize) -> Handle {
    let Some(first) = parts.first() else {
        panic!("`cat`: there is no tensor\n  legal: at least one tensor")
    };
    let dim = super::dim("cat", first.meta(), dim);
    if parts.len() > 1 {
        return run(Operation::Cat { dim, inputs: parts });
    }
    parts.pop().expect("there is a first one")
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

/// The tensor with a selection replaced by `values`.
#[track_caller]
pub(crate) fn slice_assign(input: Handle, slices: &[Slice], values: Operand<Handle>) -> Handle {
    let ranges = movement::ranges(shape(&input), slices);
    run(Operation::SliceAssign {
        ranges,
        input,
        values,
    })
}

/// The elements moved along a dim by `shift`, those that leave it coming in at the other end.
#[track_caller]
pub(crate) fn roll(input: Handle, shift: isize, dim: isize) -> Handle {
    let dim = super::dim("roll", input.meta(), dim);
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
    cat(alloc::vec![tail, head], dim as isize)
}
