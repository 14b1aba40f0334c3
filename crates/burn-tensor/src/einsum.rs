//! Sums of products in index notation.

use crate::Tensor;
use crate::emit::einsum;
use crate::kind::Numeric;
use alloc::vec::Vec;
use burn_dispatch::Handle;
use core::marker::PhantomData;

/// A tensor of any rank, as a factor of [`Tensor::einsum`].
#[derive(Clone, Debug)]
pub struct EinsumOperand<K: Numeric> {
    handle: Handle,
    kind: PhantomData<K>,
}

impl<const D: usize, K: Numeric> From<Tensor<D, K>> for EinsumOperand<K> {
    fn from(tensor: Tensor<D, K>) -> Self {
        Self {
            handle: tensor.handle,
            kind: PhantomData,
        }
    }
}

impl<const D: usize, K: Numeric> From<&Tensor<D, K>> for EinsumOperand<K> {
    fn from(tensor: &Tensor<D, K>) -> Self {
        tensor.clone().into()
    }
}

impl<const D: usize, K: Numeric> Tensor<D, K> {
    /// The sum of products that `notation` describes, like `"ij,jk->ik"` for a matrix product.
    ///
    /// Each dim of each tensor has a letter. Dims of one letter run together; letters that the result does not name are
    /// summed over. A letter twice in a term takes the diagonal, `...` stands for any number of dims, which broadcast,
    /// and without `->` the result has the letters that stand once, in the order of the alphabet. A result without dims
    /// has shape `[1]`.
    #[track_caller]
    pub fn einsum(notation: &str, operands: impl IntoIterator<Item = EinsumOperand<K>>) -> Self {
        let handles: Vec<_> = operands.into_iter().map(|operand| operand.handle).collect();
        Self::new(einsum::einsum(notation, handles))
    }
}
