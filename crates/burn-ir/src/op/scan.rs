//! Running values along a dim. f16 and bf16 accumulate in f32.

use super::{NUMERIC, leaves};
use crate::{OperationError, Problem, TensorMeta};

leaves! {
    /// A value of the elements up to each one; the output has the input's description. Float or int.
    pub enum ScanOp {
        /// The sum; integers wrap.
        Sum = "cumsum",
        /// The product; integers wrap.
        Prod = "cumprod",
        /// The largest; NaN from the first NaN on.
        Max = "cummax",
        /// The smallest; NaN from the first NaN on.
        Min = "cummin",
    }
}

pub(crate) fn infer(
    op: ScanOp,
    dim: usize,
    input: &TensorMeta,
) -> Result<TensorMeta, OperationError> {
    let operands = [("input", input)];
    OperationError::require(op.name(), NUMERIC, &operands)?;
    match dim < input.rank() {
        true => Ok(input.clone()),
        false => {
            let problem = Problem::DimOutOfRange { dim };
            Err(OperationError::of(op.name(), &operands, problem))
        }
    }
}
