//! Running values.

use super::index::counting;
use super::{Keep, Kept, Output, Rule};
use alloc::vec::Vec;
use burn_backend::{Build, Emit};
use burn_ir::{BinaryOp, CompareOp, Described, IndexOp, MovementOp, PadRange, ScanOp};
use burn_std::{DType, IndexingUpdateOp, Scalar, Shape};

pub(super) fn rule(op: ScanOp) -> Rule {
    match op {
        ScanOp::Sum => Rule::Pullback(Keep::NOTHING),
        ScanOp::Prod => Rule::Expand,
        ScanOp::Max | ScanOp::Min => Rule::Pullback(Keep {
            outputs: true,
            ..Keep::operands([(0, true)])
        }),
    }
}

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    op: ScanOp,
    dim: usize,
    input: Kept<E::Tensor>,
    output: Output<E::Tensor>,
    grad: E::Tensor,
) -> E::Tensor {
    match op {
        // Each element is in the sums from its own on.
        ScanOp::Sum => {
            let grad = e.flip(grad, dim);
            let sum = e.scan(ScanOp::Sum, dim, grad);
            e.flip(sum, dim)
        }
        ScanOp::Max => extreme(e, CompareOp::LowerEqual, dim, input, output, grad),
        ScanOp::Min => extreme(e, CompareOp::GreaterEqual, dim, input, output, grad),
        ScanOp::Prod => unreachable!("the rule of `{}` asks for no pullback", op.name()),
    }
}

/// The gradient goes to the first element that reached the extremum, or to the first NaN. `keeps` is what an element
/// that changes nothing is to the extremum before it.
fn extreme<E: Emit>(
    e: &mut E,
    keeps: CompareOp,
    dim: usize,
    input: Kept<E::Tensor>,
    output: Output<E::Tensor>,
    grad: E::Tensor,
) -> E::Tensor {
    let meta = input.meta.clone();
    let Some(later) = meta.shape[dim].checked_sub(1) else {
        return grad;
    };
    let before = e.narrow(output.value(), dim, 0, later);
    let input = e.narrow(input.value(), dim, 1, later);
    let nan = e.compare(CompareOp::NotEqual, before.clone(), before.clone());
    let kept = e.compare(keeps, input, before);
    let kept = e.binary(BinaryOp::Or, kept, nan);
    let mut line: Shape = meta.shape.iter().map(|_| 1).collect();
    line[dim] = later;
    let positions = counting(e, 1, later, DType::I32);
    let positions = e.reshape(positions, line);
    let reached = e.replace_where(kept, 0.0, positions);
    let reached = before_with(e, reached, dim, 1, Scalar::Int(0));
    let reached = e.scan(ScanOp::Max, dim, reached);
    let zeros = e.full(&meta, 0.0);
    let op = IndexOp::Elements { dim };
    e.scatter(op, IndexingUpdateOp::Add, [zeros, reached, grad])
}

/// The running product as products of pairs at growing distances (Hillis and Steele 1986), whose rule needs no
/// division: exact to any order where factors are 0.
pub(super) fn product<E: Emit>(e: &mut E, dim: usize, input: E::Tensor) -> E::Tensor {
    let size = input.meta().shape[dim];
    let (mut product, mut distance) = (input, 1);
    while distance < size {
        let earlier = e.narrow(product.clone(), dim, 0, size - distance);
        let earlier = before_with(e, earlier, dim, distance, Scalar::Float(1.0));
        product = e.mul(product, earlier);
        distance *= 2;
    }
    product
}

/// New elements of one value before those of a dim.
fn before_with<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    dim: usize,
    before: usize,
    value: Scalar,
) -> E::Tensor {
    let mut padding: Vec<PadRange> = alloc::vec![PadRange::default(); input.meta().rank()];
    padding[dim].before = before;
    let padding = padding.into();
    e.movement(MovementOp::Pad { padding, value }, input)
}
