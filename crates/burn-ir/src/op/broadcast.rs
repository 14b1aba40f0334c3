//! The rules that elementwise families share: one element type, equal ranks, sizes that stretch.

use super::Kinds;
use crate::{Operand, OperationError, Problem, TensorMeta};
use alloc::vec;
use burn_std::{DType, Kind, Scalar, Shape};

/// Whether a scalar is of the kind of `dtype`: the caller converts, so that an instruction has one form.
pub(super) fn scalar_fits(value: Scalar, dtype: DType) -> bool {
    match value {
        Scalar::Float(_) => dtype.kind() == Kind::Float,
        Scalar::Int(_) | Scalar::UInt(_) => dtype.kind() == Kind::Int,
        Scalar::Bool(_) => dtype.kind() == Kind::Bool,
    }
}

/// The common shape of two operands of an allowed kind and one element type.
pub(super) fn pair(
    name: &'static str,
    kinds: Kinds,
    lhs: &TensorMeta,
    rhs: &Operand<&TensorMeta>,
) -> Result<Shape, OperationError> {
    match rhs {
        Operand::Scalar(value) => {
            OperationError::require(name, kinds, &[("lhs", lhs)])?;
            if !scalar_fits(*value, lhs.dtype) {
                let problem = Problem::ScalarKind {
                    value: *value,
                    dtype: lhs.dtype,
                };
                return Err(OperationError::new(
                    name,
                    vec![("lhs", lhs.clone())],
                    problem,
                ));
            }
            Ok(lhs.shape.clone())
        }
        Operand::Tensor(rhs) => {
            let operands = [("lhs", lhs), ("rhs", *rhs)];
            // Of one type, both are of an allowed kind if one is.
            if lhs.dtype != rhs.dtype || !kinds.contain(lhs.dtype) {
                OperationError::require(name, kinds, &operands)?;
                return Err(OperationError::of(name, &operands, Problem::DTypesDiffer));
            }
            shapes(name, operands[0], operands[1])
        }
    }
}

/// The common shape of two operands.
pub(super) fn shapes(
    name: &'static str,
    lhs: (&'static str, &TensorMeta),
    rhs: (&'static str, &TensorMeta),
) -> Result<Shape, OperationError> {
    let fail = |problem| Err(OperationError::of(name, &[lhs, rhs], problem));
    let (left, right) = (&lhs.1.shape, &rhs.1.shape);
    if left == right {
        return Ok(left.clone());
    }
    if left.len() != right.len() {
        return fail(Problem::RanksDiffer);
    }
    let mut shape = left.clone();
    for dim in 0..left.len() {
        match stretch(left[dim], right[dim]) {
            Some(size) => shape[dim] = size,
            None => {
                return fail(Problem::Sizes {
                    dim,
                    lhs: left[dim],
                    rhs: right[dim],
                });
            }
        }
    }
    Ok(shape)
}

/// The size that two sizes stretch to. A 1 stretches to 0 as well, so this is not their maximum.
pub(super) fn stretch(lhs: usize, rhs: usize) -> Option<usize> {
    match (lhs, rhs) {
        (lhs, rhs) if lhs == rhs => Some(lhs),
        (1, size) | (size, 1) => Some(size),
        _ => None,
    }
}
