//! Several tensors read at once.

use crate::emit::read;
use crate::{Tensor, kind};
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_std::{ExecutionError, TensorData};

/// Several tensors read at once, which waits once for each device instead of once for each tensor.
#[derive(Debug, Default)]
pub struct Transaction(Vec<Handle>);

impl Transaction {
    /// The same with one more tensor.
    pub fn register<const D: usize, K: kind::Transaction>(mut self, tensor: Tensor<D, K>) -> Self {
        self.0.push(tensor.handle);
        self
    }

    /// The elements of each tensor, in order.
    ///
    /// # Panics
    /// If a device failed.
    #[track_caller]
    pub fn execute(self) -> Vec<TensorData> {
        read::expect("execute", self.try_execute())
    }

    /// The elements of each tensor, in order.
    ///
    /// # Errors
    /// If a device failed.
    pub fn try_execute(self) -> Result<Vec<TensorData>, ExecutionError> {
        burn_std::read_sync(read::download_all(self.0))
    }

    /// The elements of each tensor, in order, when the devices have them.
    ///
    /// # Errors
    /// If a device failed.
    pub async fn execute_async(self) -> Result<Vec<TensorData>, ExecutionError> {
        read::download_all(self.0).await
    }
}
