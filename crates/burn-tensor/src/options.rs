//! Where a new tensor lives and how its elements are stored.

use crate::Device;
use crate::kind::Kind;
use burn_std::DType;

/// Where a new tensor lives and how its elements are stored.
///
/// Made from `&device` for the device's preferred element type, or from `(&device, dtype)`.
#[derive(Clone, Debug, Default)]
pub struct TensorCreationOptions {
    /// Where the tensor lives.
    pub device: Device,
    /// How its elements are stored; by default as the device prefers.
    pub dtype: Option<DType>,
}

impl TensorCreationOptions {
    /// On `device`, with elements as it prefers.
    pub fn new(device: Device) -> Self {
        Self {
            device,
            dtype: None,
        }
    }

    /// The same on another device.
    pub fn with_device(self, device: Device) -> Self {
        Self { device, ..self }
    }

    /// The same with elements of `dtype`.
    pub fn with_dtype(self, dtype: DType) -> Self {
        Self {
            dtype: Some(dtype),
            ..self
        }
    }

    /// The element type asked for, or else `dtype`.
    pub fn dtype_or(&self, dtype: DType) -> DType {
        self.dtype.unwrap_or(dtype)
    }

    /// The element type of a new tensor of `kind`.
    #[track_caller]
    pub(crate) fn resolve(&self, kind: Kind) -> DType {
        let Some(dtype) = self.dtype else {
            return kind.dtype(self.device.settings());
        };
        assert!(
            Kind::from(dtype) == kind,
            "a tensor of kind {} cannot have elements of type {}\n  legal: an element type of the kind",
            kind.as_str(),
            dtype.name()
        );
        assert!(
            self.device.supports_dtype(dtype),
            "{:?} has no elements of type {}\n  legal: an element type that `Device::supports_dtype` names",
            self.device,
            dtype.name()
        );
        dtype
    }
}

impl From<&Device> for TensorCreationOptions {
    fn from(device: &Device) -> Self {
        Self::new(device.clone())
    }
}

impl From<(&Device, DType)> for TensorCreationOptions {
    fn from((device, dtype): (&Device, DType)) -> Self {
        Self::new(device.clone()).with_dtype(dtype)
    }
}
