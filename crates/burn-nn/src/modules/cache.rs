//! [`TensorCache`]: what was computed for earlier positions of a sequence.

use burn_core::tensor::Tensor;

/// Values of the positions that were seen so far.
#[derive(Clone, Debug)]
pub struct TensorCache<const D: usize> {
    value: Option<Tensor<D>>,
}

impl<const D: usize> TensorCache<D> {
    /// Nothing yet.
    pub fn empty() -> Self {
        Self { value: None }
    }

    /// How many positions there are along `dim`.
    pub(crate) fn len(&self, dim: usize) -> usize {
        self.value.as_ref().map_or(0, |value| value.dims()[dim])
    }

    /// Adds values of later positions along `dim`, and gives all.
    pub(crate) fn append(&mut self, dim: usize, new: Tensor<D>) -> Tensor<D> {
        let all = match self.value.take() {
            Some(old) => Tensor::cat(alloc::vec![old, new], dim),
            None => new,
        };
        self.value.insert(all).clone()
    }

    /// The value, made by `init` if there is none.
    pub(crate) fn get_or_init(&mut self, init: impl FnOnce() -> Tensor<D>) -> Tensor<D> {
        self.value.get_or_insert_with(init).clone()
    }
}
