//! Tensors from nothing, from data and from other tensors' descriptions.

use super::Tensor;
use crate::emit::{self, create};
use crate::kind::{Basic, Float, Int, Numeric};
use crate::{Device, TensorCreationOptions};
use burn_ir::CompareOp;
use burn_std::{DType, Distribution, ElementConversion, Scalar, Shape, TensorData};
use core::ops::Range;

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// A tensor whose elements mean nothing yet. They are zeros.
    #[track_caller]
    pub fn empty<S: Into<Shape>>(shape: S, options: impl Into<TensorCreationOptions>) -> Self {
        Self::zeros(shape, options)
    }

    /// A tensor of zeros, or of `false`.
    #[track_caller]
    pub fn zeros<S: Into<Shape>>(shape: S, options: impl Into<TensorCreationOptions>) -> Self {
        Self::full(shape, 0, options)
    }

    /// A tensor of ones, or of `true`.
    #[track_caller]
    pub fn ones<S: Into<Shape>>(shape: S, options: impl Into<TensorCreationOptions>) -> Self {
        Self::full(shape, 1, options)
    }

    /// A tensor of one repeated value, converted to the element type.
    #[track_caller]
    pub fn full<S: Into<Shape>, E: ElementConversion>(
        shape: S,
        value: E,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        let dtype = options.resolve(K::KIND);
        let value = Scalar::new(value, &dtype);
        Self::new(create::full_on(
            options.device.0,
            shape.into(),
            value,
            dtype,
        ))
    }

    /// A tensor like this one, whose elements mean nothing yet.
    #[track_caller]
    pub fn empty_like(&self) -> Self {
        self.zeros_like()
    }

    /// Zeros, in shape, element type and device like this tensor.
    #[track_caller]
    pub fn zeros_like(&self) -> Self {
        self.full_like(0)
    }

    /// Ones, in shape, element type and device like this tensor.
    #[track_caller]
    pub fn ones_like(&self) -> Self {
        self.full_like(1)
    }

    /// One repeated value, in shape, element type and device like this tensor.
    #[track_caller]
    pub fn full_like<E: ElementConversion>(&self, value: E) -> Self {
        let value = Scalar::new(value, &self.dtype());
        Self::new(create::full_like(&self.handle, value))
    }

    /// A tensor of the given data, converted to the element type.
    ///
    /// # Panics
    /// If the data is of another rank.
    #[track_caller]
    pub fn from_data<T>(data: T, options: impl Into<TensorCreationOptions>) -> Self
    where
        T: Into<TensorData>,
    {
        Self::new(create::from_data(data.into(), D, K::KIND, options.into()))
    }
}

impl<const D: usize, K: Numeric> Tensor<D, K> {
    /// A tensor of independent draws from the device's generator; see [`Device::seed`].
    #[track_caller]
    pub fn random<S: Into<Shape>>(
        shape: S,
        distribution: Distribution,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let shape = shape.into();
        Self::new(create::random(shape, distribution, K::KIND, options.into()))
    }
}

impl<const D: usize> Tensor<D, Float> {
    /// Independent draws, in shape, element type and device like this tensor.
    #[track_caller]
    pub fn random_like(&self, distribution: Distribution) -> Self {
        Self::new(create::random_like(&self.handle, distribution))
    }

    /// A tensor of the given floats.
    #[track_caller]
    pub fn from_floats<A: Into<TensorData>>(floats: A, device: &Device) -> Self {
        Self::from_data(floats, device)
    }
}

impl<const D: usize> Tensor<D, Int> {
    /// A tensor of the given integers.
    #[track_caller]
    pub fn from_ints<A: Into<TensorData>>(ints: A, device: &Device) -> Self {
        Self::from_data(ints, device)
    }

    /// The position of each element of a tensor of `shape`, as a new last dim.
    ///
    /// # Shapes
    /// - output: `[…shape, rank of shape]`
    #[track_caller]
    pub fn cartesian_grid<S: Into<Shape>, const D2: usize>(
        shape: S,
        device: &Device,
    ) -> Tensor<D2, Int> {
        Tensor::new(emit::window::grid(shape.into(), device.0))
    }
}

impl Tensor<1, Int> {
    /// The integers of a range.
    #[track_caller]
    pub fn arange(range: Range<i64>, options: impl Into<TensorCreationOptions>) -> Self {
        Self::arange_step(range, 1, options)
    }

    /// Every `step`-th integer of a range.
    #[track_caller]
    pub fn arange_step(
        range: Range<i64>,
        step: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        Self::new(create::arange(range, step, options.into()))
    }
}

impl<K: Numeric> Tensor<2, K> {
    /// The identity matrix.
    #[track_caller]
    pub fn eye(size: usize, device: &Device) -> Self {
        let dtype: DType = K::KIND.dtype(device.settings());
        let equal = CompareOp::Equal;
        let mask = create::diagonal(device.0, Shape::new([size, size]), equal, 0);
        Self::new(emit::cast(mask, dtype))
    }
}

/// A tensor of the given data, on the default device.
impl<const D: usize, K, T> From<T> for Tensor<D, K>
where
    K: Basic,
    T: Into<TensorData>,
{
    #[track_caller]
    fn from(data: T) -> Self {
        Self::from_data(data, &Device::default())
    }
}
