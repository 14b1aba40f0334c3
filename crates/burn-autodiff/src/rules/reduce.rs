//! Reductions.

use super::{Keep, Kept, Output, Rule};
use alloc::vec::Vec;
use burn_backend::{Build, Emit};
use burn_ir::{CompareOp, Described, Dims, MovementOp, PadRange, ReduceOp, SliceRange};
use burn_std::Scalar;

pub(super) fn rule(op: ReduceOp) -> Rule {
    match op {
        ReduceOp::Sum | ReduceOp::Mean => Rule::Pullback(Keep::NOTHING),
        ReduceOp::Prod => Rule::Expand,
        ReduceOp::Max | ReduceOp::Min => Rule::Pullback(Keep {
            outputs: true,
            ..Keep::operands([(0, true)])
        }),
        ReduceOp::ArgMax { .. } | ReduceOp::ArgMin { .. } | ReduceOp::Any | ReduceOp::All => {
            Rule::Zero
        }
    }
}

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    op: ReduceOp,
    input: Kept<E::Tensor>,
    output: Output<E::Tensor>,
    grad: E::Tensor,
    dims: Dims,
) -> E::Tensor {
    let shape = input.meta.shape.clone();
    match op {
        ReduceOp::Sum => e.expand(grad, shape),
        ReduceOp::Mean => {
            let count: usize = dims.iter().map(|dim| shape[dim]).product();
            // Without elements there is nothing to send the gradient to.
            let share = e.mul_scalar(grad, 1.0 / count.max(1) as f64);
            e.expand(share, shape)
        }
        // Equal extrema share the gradient.
        ReduceOp::Max | ReduceOp::Min => {
            let dtype = input.meta.dtype;
            let chosen = e.compare(CompareOp::Equal, input.value(), output.value());
            let ones = e.cast(chosen.clone(), dtype);
            let count = e.reduce(ReduceOp::Sum, ones, dims);
            let share = e.div(grad, count);
            let share = e.expand(share, shape);
            e.keep_where(chosen, share, 0.0)
        }
        ReduceOp::Prod
        | ReduceOp::ArgMax { .. }
        | ReduceOp::ArgMin { .. }
        | ReduceOp::Any
        | ReduceOp::All => {
            unreachable!("the rule of `{}` asks for no pullback", op.name())
        }
    }
}

/// The product as a tree of multiplications, whose rule needs no division: exact to any order where factors are 0.
pub(super) fn product<E: Emit>(e: &mut E, input: E::Tensor, dims: Dims) -> E::Tensor {
    let mut product = input;
    for dim in dims.iter() {
        if product.meta().shape[dim] == 0 {
            product = pad(e, product, dim, 1);
        }
        while product.meta().shape[dim] > 1 {
            let size = product.meta().shape[dim];
            let padded = pad(e, product, dim, size % 2);
            let half = size.div_ceil(2);
            let low = part(e, padded.clone(), dim, 0, half);
            let high = part(e, padded, dim, half, half);
            product = e.mul(low, high);
        }
    }
    product
}

/// Appends ones.
fn pad<E: Emit>(e: &mut E, input: E::Tensor, dim: usize, after: usize) -> E::Tensor {
    if after == 0 {
        return input;
    }
    let mut padding: Vec<PadRange> = alloc::vec![PadRange::default(); input.meta().rank()];
    padding[dim].after = after;
    e.movement(
        MovementOp::Pad {
            padding: padding.into(),
            value: Scalar::Float(1.0),
        },
        input,
    )
}

/// `len` elements of a dim.
fn part<E: Emit>(e: &mut E, input: E::Tensor, dim: usize, start: usize, len: usize) -> E::Tensor {
    let mut ranges: Vec<SliceRange> = input
        .meta()
        .shape
        .iter()
        .map(|size| SliceRange::full(*size))
        .collect();
    ranges[dim] = SliceRange {
        start,
        step: 1,
        len,
    };
    e.slice(input, ranges.into())
}
