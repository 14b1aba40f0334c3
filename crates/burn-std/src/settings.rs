//! What a device uses where a program names no dtype.

use serde::{Deserialize, Serialize};

use crate::{BoolDType, FloatDType, IntDType, QuantConfig};

/// The dtypes of new tensors on a device, one for each kind, and how it quantizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceSettings {
    /// Dtype of float tensors.
    pub float_dtype: FloatDType,
    /// Dtype of int tensors.
    pub int_dtype: IntDType,
    /// Dtype of bool tensors.
    pub bool_dtype: BoolDType,
    /// How floats are quantized.
    pub quantization: QuantConfig,
}

impl DeviceSettings {
    /// Settings from one dtype of each kind and how the device quantizes.
    pub fn new(
        float_dtype: impl Into<FloatDType>,
        int_dtype: impl Into<IntDType>,
        bool_dtype: impl Into<BoolDType>,
        quantization: QuantConfig,
    ) -> Self {
        Self {
            quantization,
            ..Self::with_dtypes(float_dtype, int_dtype, bool_dtype)
        }
    }

    /// Settings from one dtype of each kind.
    pub fn with_dtypes(
        float_dtype: impl Into<FloatDType>,
        int_dtype: impl Into<IntDType>,
        bool_dtype: impl Into<BoolDType>,
    ) -> Self {
        Self {
            float_dtype: float_dtype.into(),
            int_dtype: int_dtype.into(),
            bool_dtype: bool_dtype.into(),
            quantization: QuantConfig::default(),
        }
    }
}
