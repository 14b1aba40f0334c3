//! Reading: a tensor's elements on the host.
//!
//! A read waits for the device, or gives a future that does. `try_` methods give what went wrong instead of panicking.

use super::Tensor;
use crate::emit::read;
use crate::kind::Basic;
use alloc::vec::Vec;
use burn_std::{DType, Element, ExecutionError, TensorData, TensorReadError};
use core::future::Future;

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// The elements.
    #[track_caller]
    pub fn into_data(self) -> TensorData {
        read::expect("into_data", self.try_into_data())
    }

    /// The elements, leaving the tensor.
    #[track_caller]
    pub fn to_data(&self) -> TensorData {
        read::expect("to_data", self.try_to_data())
    }

    /// The elements, converted to `E`.
    #[track_caller]
    pub fn into_data_as<E: Element>(self) -> TensorData {
        read::expect("into_data_as", self.try_into_data_as::<E>())
    }

    /// The elements, converted to `E`, leaving the tensor.
    #[track_caller]
    pub fn to_data_as<E: Element>(&self) -> TensorData {
        read::expect("to_data_as", self.try_to_data_as::<E>())
    }

    /// The elements, converted to `dtype`.
    #[track_caller]
    pub fn into_data_dtype(self, dtype: DType) -> TensorData {
        read::expect("into_data_dtype", self.try_into_data_dtype(dtype))
    }

    /// The elements, converted to `dtype`, leaving the tensor.
    #[track_caller]
    pub fn to_data_dtype(&self, dtype: DType) -> TensorData {
        read::expect("to_data_dtype", self.try_to_data_dtype(dtype))
    }

    /// The elements.
    ///
    /// # Errors
    /// If the device failed.
    pub fn try_into_data(self) -> Result<TensorData, ExecutionError> {
        read::try_read(self.handle)
    }

    /// The elements, leaving the tensor.
    ///
    /// # Errors
    /// If the device failed.
    pub fn try_to_data(&self) -> Result<TensorData, ExecutionError> {
        read::try_read(self.handle.clone())
    }

    /// The elements, converted to `E`.
    ///
    /// # Errors
    /// If the device failed.
    pub fn try_into_data_as<E: Element>(self) -> Result<TensorData, TensorReadError> {
        read::try_read_as(self.handle, E::dtype())
    }

    /// The elements, converted to `E`, leaving the tensor.
    ///
    /// # Errors
    /// If the device failed.
    pub fn try_to_data_as<E: Element>(&self) -> Result<TensorData, TensorReadError> {
        read::try_read_as(self.handle.clone(), E::dtype())
    }

    /// The elements, converted to `dtype`.
    ///
    /// # Errors
    /// If the device failed.
    pub fn try_into_data_dtype(self, dtype: DType) -> Result<TensorData, TensorReadError> {
        read::try_read_as(self.handle, dtype)
    }

    /// The elements, converted to `dtype`, leaving the tensor.
    ///
    /// # Errors
    /// If the device failed.
    pub fn try_to_data_dtype(&self, dtype: DType) -> Result<TensorData, TensorReadError> {
        read::try_read_as(self.handle.clone(), dtype)
    }

    /// The elements in row-major order, converted to `E`.
    ///
    /// # Errors
    /// If the device failed.
    pub fn try_into_vec_as<E: Element>(self) -> Result<Vec<E>, TensorReadError> {
        Ok(self.try_into_data()?.try_into_vec_as()?)
    }

    /// The elements in row-major order, converted to `E`, leaving the tensor.
    ///
    /// # Errors
    /// If the device failed.
    pub fn try_to_vec_as<E: Element>(&self) -> Result<Vec<E>, TensorReadError> {
        Ok(self.try_to_data()?.try_into_vec_as()?)
    }

    /// The elements, when the device has them.
    pub fn into_data_async(
        self,
    ) -> impl Future<Output = Result<TensorData, ExecutionError>> + Send + use<D, K> {
        read::download(self.handle)
    }

    /// The elements, when the device has them, leaving the tensor.
    pub fn to_data_async(
        &self,
    ) -> impl Future<Output = Result<TensorData, ExecutionError>> + Send + use<D, K> {
        read::download(self.handle.clone())
    }

    /// The only element, converted to `E`.
    ///
    /// # Panics
    /// If there is not exactly one, or the device failed.
    #[track_caller]
    pub fn into_scalar<E: Element>(self) -> E {
        read::expect("into_scalar", self.try_into_scalar())
    }

    /// The only element, converted to `E`.
    ///
    /// # Errors
    /// If there is not exactly one, or the device failed.
    pub fn try_into_scalar<E: Element>(self) -> Result<E, TensorReadError> {
        read::single(&self.handle)?;
        read::element(self.try_into_data()?)
    }

    /// The only element, converted to `E`, when the device has it.
    ///
    /// # Errors
    /// If the device failed.
    ///
    /// # Panics
    /// If there is not exactly one element.
    pub async fn into_scalar_async<E: Element>(self) -> Result<E, ExecutionError> {
        match self.try_into_scalar_async().await {
            Ok(element) => Ok(element),
            Err(TensorReadError::Execution(error)) => Err(error),
            Err(error) => read::expect("into_scalar_async", Err(error)),
        }
    }

    /// The only element, converted to `E`, when the device has it.
    ///
    /// # Errors
    /// If there is not exactly one, or the device failed.
    pub async fn try_into_scalar_async<E: Element>(self) -> Result<E, TensorReadError> {
        read::single(&self.handle)?;
        read::element(self.into_data_async().await?)
    }
}
