//! Several tensors in one, and selections replaced: by padding each part to the whole and choosing by a mask, which
//! keeps every bit.

use crate::{Build, Emit};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_ir::{Described, MovementOp, Operand, Operation, PadRange, SliceRange, TensorMeta};
use burn_std::{BoolStore, DType, Scalar, Shape};

/// Joins the first half and the second half, so that each element moves as often as halves can be halved.
pub(super) fn cat<E: Emit>(e: &mut E, dim: usize, mut parts: Vec<E::Tensor>) -> E::Tensor {
    if parts.len() > 1 {
        let second = parts.split_off(parts.len() / 2);
        let (first, second) = (cat(e, dim, parts), cat(e, dim, second));
        return pair(e, dim, first, second);
    }
    parts.pop().expect("the check asks for at least one tensor")
}

fn pair<E: Emit>(e: &mut E, dim: usize, first: E::Tensor, second: E::Tensor) -> E::Tensor {
    let shape = first.meta().shape.clone();
    let (left, right) = (shape[dim], second.meta().shape[dim]);
    if left == 0 || right == 0 {
        return if left == 0 { second } else { first };
    }
    let along = |before, after| -> Box<[PadRange]> {
        let mut padding = alloc::vec![PadRange::default(); shape.len()];
        padding[dim] = PadRange {
            before,
            between: 0,
            after,
        };
        padding.into()
    };
    let mut line = Shape::from(alloc::vec![1; shape.len()]);
    line[dim] = left;
    let mask = mask(e, line, along(0, right));
    let first = pad(e, first, along(0, right));
    let second = pad(e, second, along(left, 0));
    choose(e, mask, Operand::Tensor(second), first)
}

/// `on_true` where the mask is true.
fn choose<E: Emit>(
    e: &mut E,
    mask: E::Tensor,
    on_false: Operand<E::Tensor>,
    on_true: E::Tensor,
) -> E::Tensor {
    e.one(Operation::Where {
        mask,
        on_true: Operand::Tensor(on_true),
        on_false,
    })
}

/// True for each element of `shape`, false around them.
fn mask<E: Emit>(e: &mut E, shape: Shape, padding: Box<[PadRange]>) -> E::Tensor {
    let inside = e.full(&TensorMeta::new(shape, DType::Bool(BoolStore::Native)), 1.0);
    pad(e, inside, padding)
}

/// Zeros, or false, around and between the elements.
fn pad<E: Emit>(e: &mut E, input: E::Tensor, padding: Box<[PadRange]>) -> E::Tensor {
    let value = Scalar::new(0, &input.meta().dtype);
    e.movement(MovementOp::Pad { padding, value }, input)
}

pub(super) fn slice_assign<E: Emit>(
    e: &mut E,
    ranges: &[SliceRange],
    input: E::Tensor,
    values: Operand<E::Tensor>,
) -> E::Tensor {
    if ranges.iter().any(|range| range.len == 0) {
        return input;
    }
    let padding: Box<[PadRange]> = ranges
        .iter()
        .zip(input.meta().shape.iter())
        .map(|(range, size)| around(*range, *size))
        .collect();
    let selected = ranges.iter().map(|range| range.len).collect();
    let mask = mask(e, selected, padding.clone());
    let values = match values {
        Operand::Scalar(value) => Operand::Scalar(value),
        Operand::Tensor(mut values) => {
            let backwards = (0..ranges.len()).filter(|dim| ranges[*dim].step < 0);
            for dim in backwards {
                values = e.flip(values, dim);
            }
            Operand::Tensor(pad(e, values, padding))
        }
    };
    e.one(Operation::Where {
        mask,
        on_true: values,
        on_false: Operand::Tensor(input),
    })
}

/// What a selection of at least one element leaves out of a dim, walking forwards.
fn around(range: SliceRange, size: usize) -> PadRange {
    let steps = range.len - 1;
    // One element has no neighbour, and its step may be out of all proportion.
    let step = if steps == 0 {
        1
    } else {
        range.step.unsigned_abs()
    };
    let before = match range.step < 0 {
        true => range.start - steps * step,
        false => range.start,
    };
    PadRange {
        before,
        between: step - 1,
        after: size - 1 - before - steps * step,
    }
}
