//! [`Batcher`]: from items to tensors.

use alloc::vec::Vec;

use burn_tensor::Device;

/// Makes one batch of several items.
pub trait Batcher<I, O>: Send + Sync {
    /// The batch of `items`, on `device`.
    fn batch(&self, items: Vec<I>, device: &Device) -> O;
}
