//! Logic, and masks along diagonals. Lists of true positions are in [`index`](super::index).

use super::Tensor;
use crate::Device;
use crate::emit::create;
use crate::kind::{Bool, Float, Int};
use burn_ir::{BinaryOp, CompareOp, UnaryOp};
use burn_std::{Shape, TensorData};

impl<const D: usize> Tensor<D, Bool> {
    /// A tensor of the given truth values.
    #[track_caller]
    pub fn from_bool<A: Into<TensorData>>(bools: A, device: &Device) -> Self {
        Self::from_data(bools, device)
    }

    /// Whether each element is false.
    #[track_caller]
    pub fn bool_not(self) -> Self {
        self.unary(UnaryOp::Not)
    }

    /// Whether both are true.
    #[track_caller]
    pub fn bool_and(self, other: Tensor<D, Bool>) -> Tensor<D, Bool> {
        self.binary(BinaryOp::And, other)
    }

    /// Whether one is true, or both.
    #[track_caller]
    pub fn bool_or(self, other: Tensor<D, Bool>) -> Tensor<D, Bool> {
        self.binary(BinaryOp::Or, other)
    }

    /// Whether exactly one is true.
    #[track_caller]
    pub fn bool_xor(self, other: Tensor<D, Bool>) -> Tensor<D, Bool> {
        self.binary(BinaryOp::Xor, other)
    }

    /// 1 for true and 0 for false, as floats of the device's type.
    #[track_caller]
    pub fn float(self) -> Tensor<D, Float> {
        self.preferred()
    }

    /// 1 for true and 0 for false, as ints of the device's type.
    #[track_caller]
    pub fn int(self) -> Tensor<D, Int> {
        self.preferred()
    }

    /// True above a diagonal of the last two dims: what [`Tensor::tril`] sets to zero.
    #[track_caller]
    pub fn tril_mask<S: Into<Shape>>(shape: S, offset: i64, device: &Device) -> Self {
        Self::diagonal(shape.into(), CompareOp::Greater, offset, device)
    }

    /// True below a diagonal of the last two dims: what [`Tensor::triu`] sets to zero.
    #[track_caller]
    pub fn triu_mask<S: Into<Shape>>(shape: S, offset: i64, device: &Device) -> Self {
        Self::diagonal(shape.into(), CompareOp::Lower, offset, device)
    }

    /// True everywhere but on a diagonal of the last two dims.
    #[track_caller]
    pub fn diag_mask<S: Into<Shape>>(shape: S, offset: i64, device: &Device) -> Self {
        Self::diagonal(shape.into(), CompareOp::NotEqual, offset, device)
    }

    #[track_caller]
    fn diagonal(shape: Shape, op: CompareOp, offset: i64, device: &Device) -> Self {
        Self::new(create::diagonal(device.0, shape, op, offset))
    }
}
