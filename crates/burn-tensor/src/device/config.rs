//! What a user may choose for a device before it makes its first tensor.

use burn_std::{BoolDType, BoolStore, DeviceSettings, FloatDType, IntDType};

/// The element types of new tensors, where they are to differ from what the device prefers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceConfig {
    /// How floats are stored.
    pub float_dtype: Option<FloatDType>,
    /// How integers are stored.
    pub int_dtype: Option<IntDType>,
    /// How truth values are stored.
    pub bool_dtype: Option<BoolDType>,
}

impl DeviceConfig {
    /// The given types; `None` leaves the device's choice.
    pub fn new(
        float_dtype: Option<FloatDType>,
        int_dtype: Option<IntDType>,
        bool_dtype: Option<BoolDType>,
    ) -> Self {
        Self {
            float_dtype,
            int_dtype,
            bool_dtype,
        }
    }

    /// The same with floats of `dtype`.
    pub fn float_dtype(self, dtype: impl Into<FloatDType>) -> Self {
        Self {
            float_dtype: Some(dtype.into()),
            ..self
        }
    }

    /// The same with integers of `dtype`.
    pub fn int_dtype(self, dtype: impl Into<IntDType>) -> Self {
        Self {
            int_dtype: Some(dtype.into()),
            ..self
        }
    }

    /// The same with truth values of `dtype`.
    pub fn bool_dtype(self, dtype: impl Into<BoolDType>) -> Self {
        Self {
            bool_dtype: Some(dtype.into()),
            ..self
        }
    }

    /// The settings with what was chosen.
    pub(super) fn over(self, settings: DeviceSettings) -> DeviceSettings {
        DeviceSettings {
            float_dtype: self.float_dtype.unwrap_or(settings.float_dtype),
            int_dtype: self.int_dtype.unwrap_or(settings.int_dtype),
            bool_dtype: self.bool_dtype.unwrap_or(settings.bool_dtype),
            ..settings
        }
    }
}

impl From<FloatDType> for DeviceConfig {
    fn from(dtype: FloatDType) -> Self {
        Self::default().float_dtype(dtype)
    }
}

impl From<IntDType> for DeviceConfig {
    fn from(dtype: IntDType) -> Self {
        Self::default().int_dtype(dtype)
    }
}

impl From<BoolStore> for DeviceConfig {
    fn from(dtype: BoolStore) -> Self {
        Self::default().bool_dtype(dtype)
    }
}

impl From<(FloatDType, IntDType)> for DeviceConfig {
    fn from((float, int): (FloatDType, IntDType)) -> Self {
        Self::default().float_dtype(float).int_dtype(int)
    }
}
