//! Movements: each has an adjoint that is a movement, or a sum.

use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_backend::{Build, Emit};
use burn_ir::{MovementOp, PadRange, SliceRange, TensorMeta};
use burn_std::Scalar;

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    op: MovementOp,
    input: &TensorMeta,
    grad: E::Tensor,
) -> E::Tensor {
    match op {
        MovementOp::Reshape { .. } => e.reshape(grad, input.shape.clone()),
        MovementOp::Permute { axes } => {
            let mut inverse = axes.clone();
            axes.iter()
                .enumerate()
                .for_each(|(dim, axis)| inverse[*axis] = dim);
            e.movement(MovementOp::Permute { axes: inverse }, grad)
        }
        // The walk sums over stretched dims.
        MovementOp::Expand { .. } => grad,
        MovementOp::Slice { ranges } => unslice(e, &ranges, input, grad),
        MovementOp::Pad { padding, .. } => {
            let kept = |(pad, size): (&PadRange, &usize)| SliceRange {
                // Without elements there is no first one, and the position must be inside all the same.
                start: if *size == 0 { 0 } else { pad.before },
                step: pad.between as isize + 1,
                len: *size,
            };
            e.slice(
                grad,
                padding.iter().zip(input.shape.iter()).map(kept).collect(),
            )
        }
    }
}

/// Puts the gradient back to where the elements were, zeros elsewhere.
fn unslice<E: Emit>(
    e: &mut E,
    ranges: &[SliceRange],
    input: &TensorMeta,
    grad: E::Tensor,
) -> E::Tensor {
    let grad = match ranges.iter().any(|range| range.step < 0) {
        false => grad,
        true => e.slice(grad, ranges.iter().map(|range| forwards(*range)).collect()),
    };
    let padding: Vec<PadRange> = ranges
        .iter()
        .zip(input.shape.iter())
        .map(|(range, size)| around(*range, *size))
        .collect();
    if padding.iter().all(|pad| *pad == PadRange::default()) {
        return grad;
    }
    let padding: Box<[PadRange]> = padding.into();
    e.movement(
        MovementOp::Pad {
            padding,
            value: Scalar::Float(0.0),
        },
        grad,
    )
}

/// All elements of a selected dim, in the order of the input.
fn forwards(range: SliceRange) -> SliceRange {
    match range.step < 0 && range.len > 0 {
        true => SliceRange {
            start: range.len - 1,
            step: -1,
            len: range.len,
        },
        false => SliceRange::full(range.len),
    }
}

/// What a selection left out of a dim.
fn around(range: SliceRange, size: usize) -> PadRange {
    let stride = range.step.unsigned_abs();
    let Some(steps) = range.len.checked_sub(1) else {
        return PadRange {
            before: size,
            between: 0,
            after: 0,
        };
    };
    let before = if range.step < 0 {
        range.start - steps * stride
    } else {
        range.start
    };
    let last = before + steps * stride;
    // One element has no neighbour, and a stride beyond the dim would overflow the size of nothing.
    let between = if steps == 0 { 0 } else { stride - 1 };
    PadRange {
        before,
        between,
        after: size - 1 - last,
    }
}
