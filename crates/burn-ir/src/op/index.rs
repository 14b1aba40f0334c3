//! Positions that are data: the families `Gather`, `Scatter` and `Argwhere`.

use super::movement::count;
use super::{BOOL, INT};
use crate::{OperationError, Problem, TensorMeta};
use alloc::boxed::Box;
use burn_std::{IntDType, Shape};
use serde::{Deserialize, Serialize};

/// How indices name positions of a tensor `[d0, …, dn]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IndexOp {
    /// Each index names one element: its own position, with the index in place of `dim`.
    ///
    /// `indices` have the rank of the tensor, and at most its size in every other dim. Selected are as many elements
    /// as there are indices, in their shape.
    Elements {
        /// The dim whose positions the indices are.
        dim: usize,
    },
    /// Each index names everything at one position of `dim`.
    ///
    /// `indices`: `[n]`; selected: `[d0, …, n, …, dn]`.
    Select {
        /// The dim whose positions the indices are.
        dim: usize,
    },
    /// The last dim of the indices names positions of the first dims, as many as it has elements, and everything there.
    ///
    /// `indices`: `[b0, …, bm, k]`; selected: `[b0, …, bm, dk, …, dn]`.
    Nd,
}

impl IndexOp {
    /// The name of reading in errors, traces and prints.
    pub const fn gather_name(self) -> &'static str {
        match self {
            Self::Elements { .. } => "gather",
            Self::Select { .. } => "select",
            Self::Nd => "gather_nd",
        }
    }

    /// The name of writing in errors, traces and prints.
    pub const fn scatter_name(self) -> &'static str {
        match self {
            Self::Elements { .. } => "scatter",
            Self::Select { .. } => "select_assign",
            Self::Nd => "scatter_nd",
        }
    }

    /// The shape of what the indices select.
    fn selected(self, input: &TensorMeta, indices: &TensorMeta) -> Result<Shape, Problem> {
        let out_of_range = |dim| Err(Problem::DimOutOfRange { dim });
        match self {
            Self::Elements { dim } => {
                if indices.rank() != input.rank() {
                    return Err(Problem::RanksDiffer);
                }
                if dim >= input.rank() {
                    return out_of_range(dim);
                }
                let outside =
                    |other: &usize| *other != dim && indices.shape[*other] > input.shape[*other];
                match (0..input.rank()).find(outside) {
                    Some(dim) => Err(Problem::MoreThan {
                        dim,
                        found: indices.shape[dim],
                        most: input.shape[dim],
                    }),
                    None => Ok(indices.shape.clone()),
                }
            }
            Self::Select { dim } => {
                if indices.rank() != 1 {
                    return Err(Problem::OperandRank {
                        operand: "indices",
                        expected: 1,
                    });
                }
                if dim >= input.rank() {
                    return out_of_range(dim);
                }
                let mut shape = input.shape.clone();
                shape[dim] = indices.shape[0];
                Ok(shape)
            }
            Self::Nd => {
                let Some((named, outer)) = indices.shape.split_last() else {
                    return Err(Problem::RankTooSmall { least: 1 });
                };
                match input.shape.get(*named..) {
                    Some(inner) => Ok(outer.iter().chain(inner).copied().collect()),
                    None => Err(Problem::RankTooSmall { least: *named }),
                }
            }
        }
    }
}

pub(crate) fn gather(
    op: IndexOp,
    input: &TensorMeta,
    indices: &TensorMeta,
) -> Result<TensorMeta, OperationError> {
    let operands = [("input", input), ("indices", indices)];
    OperationError::require(op.gather_name(), INT, &operands[1..])?;
    let shape = op
        .selected(input, indices)
        .map_err(|problem| OperationError::of(op.gather_name(), &operands, problem))?;
    match count(&shape) {
        Some(_) => Ok(TensorMeta {
            shape,
            dtype: input.dtype,
        }),
        None => Err(OperationError::of(
            op.gather_name(),
            &operands,
            Problem::TooLarge,
        )),
    }
}

pub(crate) fn scatter(
    op: IndexOp,
    input: &TensorMeta,
    indices: &TensorMeta,
    values: &TensorMeta,
) -> Result<TensorMeta, OperationError> {
    let operands = [("input", input), ("indices", indices), ("values", values)];
    let fail = |problem| Err(OperationError::of(op.scatter_name(), &operands, problem));
    OperationError::require(op.scatter_name(), INT, &operands[1..2])?;
    if values.dtype != input.dtype {
        return fail(Problem::DTypesDiffer);
    }
    match op.selected(input, indices) {
        Err(problem) => fail(problem),
        Ok(expected) if values.shape == expected => Ok(input.clone()),
        Ok(expected) => fail(Problem::OperandShape {
            operand: "values",
            expected: Box::new(expected),
        }),
    }
}

pub(crate) fn argwhere(
    expected: usize,
    dtype: IntDType,
    mask: &TensorMeta,
) -> Result<TensorMeta, OperationError> {
    let operands = [("mask", mask)];
    OperationError::require("argwhere", BOOL, &operands)?;
    if let Some(all) = count(&mask.shape).filter(|all| *all < expected) {
        return Err(OperationError::true_count(mask, all, expected));
    }
    let shape = Shape::new([expected, mask.rank()]);
    match count(&shape) {
        Some(_) => Ok(TensorMeta::new(shape, dtype.into())),
        None => Err(OperationError::of("argwhere", &operands, Problem::TooLarge)),
    }
}
