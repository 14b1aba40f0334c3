//! Element type conversion.
//!
//! Floats to ints truncate and saturate, NaN gives 0; anything to bool is "not equal to zero"; bools give 0 and 1.

use super::ANY;
use crate::{OperationError, TensorMeta};
use burn_std::DType;

pub(crate) fn infer(input: &TensorMeta, dtype: DType) -> Result<TensorMeta, OperationError> {
    OperationError::require("cast", ANY, &[("input", input)])?;
    Ok(TensorMeta {
        shape: input.shape.clone(),
        dtype,
    })
}
