//! Matrix products.

use super::{NUMERIC, broadcast};
use crate::{OperationError, Problem, TensorMeta};

const NAME: &str = "matmul";

pub(crate) fn infer(lhs: &TensorMeta, rhs: &TensorMeta) -> Result<TensorMeta, OperationError> {
    let operands = [("lhs", lhs), ("rhs", rhs)];
    let fail = |problem| Err(OperationError::of(NAME, &operands, problem));
    OperationError::require(NAME, NUMERIC, &operands)?;
    if lhs.dtype != rhs.dtype {
        return fail(Problem::DTypesDiffer);
    }
    let rank = lhs.rank();
    if rank != rhs.rank() {
        return fail(Problem::RanksDiffer);
    }
    if rank < 2 {
        return fail(Problem::RankTooSmall { least: 2 });
    }
    let (inner_lhs, inner_rhs) = (lhs.shape[rank - 1], rhs.shape[rank - 2]);
    if inner_lhs != inner_rhs {
        return fail(Problem::InnerSizes {
            lhs: inner_lhs,
            rhs: inner_rhs,
        });
    }
    let mut shape = lhs.shape.clone();
    for dim in 0..rank - 2 {
        match broadcast::stretch(lhs.shape[dim], rhs.shape[dim]) {
            Some(size) => shape[dim] = size,
            None => {
                return fail(Problem::Sizes {
                    dim,
                    lhs: lhs.shape[dim],
                    rhs: rhs.shape[dim],
                });
            }
        }
    }
    shape[rank - 1] = rhs.shape[rank - 1];
    Ok(TensorMeta {
        shape,
        dtype: lhs.dtype,
    })
}
