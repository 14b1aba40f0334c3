//! What is known of a tensor without its data.

use burn_std::{DType, Shape};
use core::fmt;
use serde::{Deserialize, Serialize};

/// The description of a tensor: sizes and element type.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TensorMeta {
    /// The size of each dim, in elements.
    pub shape: Shape,
    /// The element type.
    pub dtype: DType,
}

impl TensorMeta {
    /// Describes a tensor of `shape` and `dtype`.
    pub fn new(shape: impl Into<Shape>, dtype: DType) -> Self {
        Self {
            shape: shape.into(),
            dtype,
        }
    }

    /// The number of dims.
    #[inline]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
}

impl fmt::Display for TensorMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.dtype.name(), &self.shape[..])
    }
}

impl fmt::Debug for TensorMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Anything that stands for a tensor and can say what it is.
pub trait Described {
    /// The description of the tensor.
    fn meta(&self) -> &TensorMeta;
}

impl Described for TensorMeta {
    fn meta(&self) -> &TensorMeta {
        self
    }
}

impl<T: Described> Described for &T {
    fn meta(&self) -> &TensorMeta {
        (*self).meta()
    }
}
