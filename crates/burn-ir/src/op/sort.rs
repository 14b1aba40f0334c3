//! Order along a dim: the family `Sort`. The largest few of a line are a sort with a smaller length.

use super::NUMERIC;
use crate::{OperationError, Problem, TensorMeta};
use burn_std::IntDType;
use serde::{Deserialize, Serialize};

/// What to give of the ordered elements of a line. Float or int.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SortOp {
    /// The elements.
    Values,
    /// The positions where they were.
    Indices {
        /// The element type of the output.
        dtype: IntDType,
    },
}

impl SortOp {
    /// The name in errors, traces and prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Values => "sort",
            Self::Indices { .. } => "argsort",
        }
    }
}

pub(crate) fn infer(
    op: SortOp,
    dim: usize,
    len: usize,
    input: &TensorMeta,
) -> Result<TensorMeta, OperationError> {
    let operands = [("input", input)];
    let fail = |problem| Err(OperationError::of(op.name(), &operands, problem));
    OperationError::require(op.name(), NUMERIC, &operands)?;
    if dim >= input.rank() {
        return fail(Problem::DimOutOfRange { dim });
    }
    let most = input.shape[dim];
    if len > most {
        let found = len;
        return fail(Problem::MoreThan { dim, found, most });
    }
    let mut output = input.clone();
    output.shape[dim] = len;
    if let SortOp::Indices { dtype } = op {
        output.dtype = dtype.into();
    }
    Ok(output)
}
