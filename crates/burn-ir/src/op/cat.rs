//! Tensors one after the other: the family `Cat`.

use super::movement::count;
use crate::{OperationError, Problem, TensorMeta};
use alloc::boxed::Box;

const NAME: &str = "cat";

/// Sizes add up along `dim` and are equal elsewhere.
pub(crate) fn infer(
    dim: usize,
    inputs: &mut dyn Iterator<Item = &TensorMeta>,
) -> Result<TensorMeta, OperationError> {
    let Some(first) = inputs.next() else {
        return Err(OperationError::of(NAME, &[], Problem::NoOperand));
    };
    if dim >= first.rank() {
        let problem = Problem::DimOutOfRange { dim };
        return Err(OperationError::of(NAME, &[("first", first)], problem));
    }
    let mut output = first.clone();
    for other in inputs {
        let fail = |problem| {
            let operands = [("first", first), ("other", other)];
            Err(OperationError::of(NAME, &operands, problem))
        };
        if other.dtype != first.dtype {
            return fail(Problem::DTypesDiffer);
        }
        if other.rank() != first.rank() {
            return fail(Problem::RanksDiffer);
        }
        let mut expected = first.shape.clone();
        expected[dim] = other.shape[dim];
        if other.shape != expected {
            return fail(Problem::OperandShape {
                operand: "other",
                expected: Box::new(expected),
            });
        }
        let size = output.shape[dim].checked_add(other.shape[dim]);
        output.shape[dim] = size.unwrap_or(usize::MAX);
        if size.is_none() || count(&output.shape).is_none() {
            return fail(Problem::TooLarge);
        }
    }
    Ok(output)
}
