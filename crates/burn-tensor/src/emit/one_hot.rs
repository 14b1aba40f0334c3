//! Classes as vectors: each class compared with the position along a new dim.

use super::{choose, compare, create, fail, movement, read, reduce};
use burn_dispatch::Handle;
use burn_ir::{BinaryOp, CompareOp, Described, Operand, ReduceOp};
use burn_std::{Scalar, Shape};

/// `on` at the class and `off` elsewhere, along a new dim of the result.
#[track_caller]
pub(crate) fn fill(
    classes: Handle,
    count: usize,
    [on, off]: [Scalar; 2],
    dim: isize,
    rank: usize,
) -> Handle {
    let dtype = super::dtype(&classes);
    let input = movement::unsqueeze(classes, &[dim], rank);
    let dim = super::dim("one_hot", input.meta(), dim);
    let count_scalar = super::scalar(count as f64, &input);
    let input = resolve(input, count, count_scalar);
    let mut line = Shape::from(alloc::vec![1; rank]);
    line[dim] = count;
    let positions = create::positions(input.device().base(), count);
    let positions = super::cast(movement::reshape(positions, line), dtype);
    let mut shape = super::shape(&input).clone();
    shape[dim] = count;
    let mask = compare(CompareOp::Equal, positions, Operand::Tensor(input));
    let device = mask.device();
    let values = create::full_on(device, shape, on, dtype);
    choose(mask, Operand::Tensor(values), off.into())
}

/// The classes counted from 0; a stop if one does not exist.
///
/// Reads one truth value back. A device that cannot be read, as the recorder, checks nothing.
#[track_caller]
fn resolve(input: Handle, count: usize, size: Scalar) -> Handle {
    let zero = super::scalar(0.0, &input);
    let negative = compare(CompareOp::Lower, input.clone(), zero.into());
    let wrapped = super::binary_scalar(BinaryOp::Add, input.clone(), size);
    let wrapped = choose(
        negative,
        Operand::Tensor(wrapped),
        Operand::Tensor(input.clone()),
    );
    let below = compare(CompareOp::Lower, wrapped.clone(), zero.into());
    let above = compare(CompareOp::GreaterEqual, wrapped.clone(), size.into());
    let outside = super::binary(BinaryOp::Or, below, above);
    let outside = reduce(ReduceOp::Any, outside);
    let found = read::try_read(outside).map(|data| data.iter::<bool>().any(|found| found));
    if let Ok(true) = found {
        fail(
            "one_hot",
            input.meta(),
            format_args!("there is an element that is none of {count} classes"),
            format_args!("elements in -{count}..{count}"),
        );
    }
    wrapped
}
