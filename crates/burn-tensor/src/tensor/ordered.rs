//! Limits, and classes as vectors. Order is in [`sort`](super::sort).

use super::Tensor;
use crate::emit::one_hot;
use crate::kind::Ordered;
use burn_ir::BinaryOp;
use burn_std::{AsIndex, ElementConversion, Scalar};

impl<const D: usize, K: Ordered> Tensor<D, K> {
    /// The larger of each pair; NaN if either is.
    #[track_caller]
    pub fn max_pair(self, other: Self) -> Self {
        self.binary(BinaryOp::Max, other)
    }

    /// The smaller of each pair; NaN if either is.
    #[track_caller]
    pub fn min_pair(self, other: Self) -> Self {
        self.binary(BinaryOp::Min, other)
    }

    /// No element below `min`; NaN stays.
    #[track_caller]
    pub fn clamp_min<E: ElementConversion>(self, min: E) -> Self {
        self.binary_scalar(BinaryOp::Max, min)
    }

    /// No element above `max`; NaN stays.
    #[track_caller]
    pub fn clamp_max<E: ElementConversion>(self, max: E) -> Self {
        self.binary_scalar(BinaryOp::Min, max)
    }

    /// No element below `min` or above `max`, which wins if it is the smaller one; NaN stays.
    #[track_caller]
    pub fn clamp<E: ElementConversion>(self, min: E, max: E) -> Self {
        self.clamp_min(min).clamp_max(max)
    }

    /// A vector for each class, 1 at the class and 0 elsewhere, as a new last dim.
    ///
    /// # Panics
    /// If an element is no class: not in `-classes..classes`, where negative ones count from the last.
    #[track_caller]
    pub fn one_hot<const D2: usize>(self, classes: usize) -> Tensor<D2, K> {
        self.one_hot_fill(classes, 1.0, 0.0, -1)
    }

    /// A vector for each class, `on` at the class and `off` elsewhere, as a new dim at `dim` of the result.
    ///
    /// # Panics
    /// If an element is no class: not in `-classes..classes`, where negative ones count from the last.
    #[track_caller]
    pub fn one_hot_fill<const D2: usize>(
        self,
        classes: usize,
        on: f32,
        off: f32,
        dim: impl AsIndex,
    ) -> Tensor<D2, K> {
        let dtype = self.dtype();
        let values = [Scalar::new(on, &dtype), Scalar::new(off, &dtype)];
        Tensor::new(one_hot::fill(self.handle, classes, values, dim.index(), D2))
    }
}
