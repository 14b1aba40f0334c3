//! Elementwise choice by a mask: the family `Where`.

use super::{ANY, BOOL, broadcast};
use crate::{Operand, OperationError, Problem, TensorMeta};
use alloc::vec;

const NAME: &str = "where";

pub(crate) fn infer(
    mask: &TensorMeta,
    on_true: &Operand<&TensorMeta>,
    on_false: &Operand<&TensorMeta>,
) -> Result<TensorMeta, OperationError> {
    OperationError::require(NAME, BOOL, &[("mask", mask)])?;
    let (tensor, other) = match (on_true, on_false) {
        (Operand::Tensor(tensor), other) | (other, Operand::Tensor(tensor)) => (*tensor, other),
        (Operand::Scalar(_), Operand::Scalar(_)) => {
            return Err(OperationError::new(
                NAME,
                vec![("mask", mask.clone())],
                Problem::NoTensor,
            ));
        }
    };
    let shape = broadcast::pair(NAME, ANY, tensor, other)?;
    let values = TensorMeta {
        shape,
        dtype: tensor.dtype,
    };
    let shape = broadcast::shapes(NAME, ("mask", mask), ("values", &values))?;
    Ok(TensorMeta {
        shape,
        dtype: tensor.dtype,
    })
}
