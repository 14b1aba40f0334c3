//! Reductions. Reduced dims keep size 1; f16 and bf16 accumulate in f32.

use super::{BOOL, Kinds, NUMERIC};
use crate::{Dims, OperationError, Problem, TensorMeta};
use burn_std::{DType, IntDType};
use serde::{Deserialize, Serialize};

/// One value for each group of elements.
///
/// # Shapes
/// - `input`: `[d0, …, dn]`
/// - output: same rank; `output[d] = 1` for `d` in `dims`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReduceOp {
    /// The sum; 0 for no elements. Integers wrap. Float or int.
    Sum,
    /// The sum divided by the count, before narrowing; NaN for no elements, and integers truncate (0 for none).
    /// Float or int.
    Mean,
    /// The product; 1 for no elements. Integers wrap. Float or int.
    Prod,
    /// The largest; NaN if any is. At least one element. Float or int.
    Max,
    /// The smallest; NaN if any is. At least one element. Float or int.
    Min,
    /// The position of the first largest along one dim; the first NaN if any is. Float or int.
    ArgMax {
        /// The element type of the output.
        dtype: IntDType,
    },
    /// The position of the first smallest along one dim; the first NaN if any is. Float or int.
    ArgMin {
        /// The element type of the output.
        dtype: IntDType,
    },
    /// Whether any is true; false for no elements. Bool.
    Any,
    /// Whether all are true; true for no elements. Bool.
    All,
}

impl ReduceOp {
    /// The name in errors, traces and prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Prod => "prod",
            Self::Max => "max",
            Self::Min => "min",
            Self::ArgMax { .. } => "argmax",
            Self::ArgMin { .. } => "argmin",
            Self::Any => "any",
            Self::All => "all",
        }
    }

    const fn kinds(self) -> Kinds {
        match self {
            Self::Sum
            | Self::Mean
            | Self::Prod
            | Self::Max
            | Self::Min
            | Self::ArgMax { .. }
            | Self::ArgMin { .. } => NUMERIC,
            Self::Any | Self::All => BOOL,
        }
    }

    /// Whether the value exists only if there is an element to choose.
    const fn chooses(self) -> bool {
        matches!(
            self,
            Self::Max | Self::Min | Self::ArgMax { .. } | Self::ArgMin { .. }
        )
    }
}

pub(crate) fn infer(
    op: ReduceOp,
    input: &TensorMeta,
    dims: Dims,
) -> Result<TensorMeta, OperationError> {
    let operands = [("input", input)];
    let fail = |problem| Err(OperationError::of(op.name(), &operands, problem));
    OperationError::require(op.name(), op.kinds(), &operands)?;
    if let Some(dim) = dims.last().filter(|dim| *dim >= input.rank()) {
        return fail(Problem::DimOutOfRange { dim });
    }
    let mut shape = input.shape.clone();
    for dim in dims.iter() {
        if op.chooses() && shape[dim] == 0 {
            return fail(Problem::NothingToChoose { dim });
        }
        shape[dim] = 1;
    }
    let dtype = match op {
        ReduceOp::ArgMax { dtype } | ReduceOp::ArgMin { dtype } => {
            if dims.len() != 1 {
                return fail(Problem::OneDim { found: dims.len() });
            }
            DType::from(dtype)
        }
        ReduceOp::Sum
        | ReduceOp::Mean
        | ReduceOp::Prod
        | ReduceOp::Max
        | ReduceOp::Min
        | ReduceOp::Any
        | ReduceOp::All => input.dtype,
    };
    Ok(TensorMeta { shape, dtype })
}
