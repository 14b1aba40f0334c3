//! A selection replaced: the family `SliceAssign`.

use super::broadcast::scalar_fits;
use super::{MovementOp, SliceRange, movement};
use crate::{Operand, OperationError, Problem, TensorMeta};
use alloc::boxed::Box;
use alloc::vec;

const NAME: &str = "slice_assign";

pub(crate) fn infer(
    ranges: &[SliceRange],
    input: &TensorMeta,
    values: &Operand<&TensorMeta>,
) -> Result<TensorMeta, OperationError> {
    let op = MovementOp::Slice {
        ranges: ranges.into(),
    };
    let selected = match movement::infer(&op, input) {
        Ok(selected) => selected,
        Err(error) => {
            let problem = error.problem().clone();
            return Err(OperationError::of(NAME, &[("input", input)], problem));
        }
    };
    match values {
        Operand::Scalar(value) if scalar_fits(*value, input.dtype) => Ok(input.clone()),
        Operand::Scalar(value) => {
            let problem = Problem::ScalarKind {
                value: *value,
                dtype: input.dtype,
            };
            let operands = vec![("input", input.clone())];
            Err(OperationError::new(NAME, operands, problem))
        }
        Operand::Tensor(values) => {
            let operands = [("input", input), ("values", *values)];
            let fail = |problem| Err(OperationError::of(NAME, &operands, problem));
            if values.dtype != input.dtype {
                return fail(Problem::DTypesDiffer);
            }
            if values.shape != selected.shape {
                return fail(Problem::OperandShape {
                    operand: "values",
                    expected: Box::new(selected.shape),
                });
            }
            Ok(input.clone())
        }
    }
}
