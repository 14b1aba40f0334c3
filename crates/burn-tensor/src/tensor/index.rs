//! Reading and writing at positions that are data: ints on the device.
//!
//! An index that is no position of its dim, a negative one among them, is an error: on a device that executes at once a
//! panic at the call, on others where the result is read. Never is anything read or written beyond a tensor.

use super::Tensor;
use crate::emit::index;
use crate::kind::{Basic, Bool, Int};
use alloc::vec::Vec;
use burn_ir::IndexOp;
use burn_std::{AsIndex, IndexingUpdateOp};

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// One element for each index: the one at the index's own position, with the index in place of `dim`.
    ///
    /// # Shapes
    /// - `indices`: at most the sizes of the tensor in every dim but `dim`
    /// - output: as `indices`
    #[track_caller]
    pub fn gather(self, dim: impl AsIndex, indices: Tensor<D, Int>) -> Self {
        let op = index::elements("gather", &self.handle, dim.index());
        Self::new(index::gather(op, self.handle, indices.handle))
    }

    /// The tensor with `values` written to the elements that [`Tensor::gather`] would read.
    ///
    /// Positions that repeat are updated in row-major order of `values`: the last value assigned stays. Of bools
    /// `Add` is "or" and `Mul` is "and".
    ///
    /// # Shapes
    /// - `indices`: as for [`Tensor::gather`]
    /// - `values`: as `indices`
    #[track_caller]
    pub fn scatter(
        self,
        dim: impl AsIndex,
        indices: Tensor<D, Int>,
        values: Self,
        update: IndexingUpdateOp,
    ) -> Self {
        let op = index::elements("scatter", &self.handle, dim.index());
        let (indices, values) = (indices.handle, values.handle);
        Self::new(index::scatter(op, update, self.handle, indices, values))
    }

    /// The parts of the tensor at some positions of `dim`.
    ///
    /// # Shapes
    /// - `indices`: `[n]`
    /// - output: the tensor's, with `n` in place of `dim`
    #[track_caller]
    pub fn select(self, dim: impl AsIndex, indices: Tensor<1, Int>) -> Self {
        let op = index::parts("select", &self.handle, dim.index());
        Self::new(index::gather(op, self.handle, indices.handle))
    }

    /// The tensor with `values` written to the parts that [`Tensor::select`] would read; see [`Tensor::scatter`].
    #[track_caller]
    pub fn select_assign(
        self,
        dim: impl AsIndex,
        indices: Tensor<1, Int>,
        values: Tensor<D, K>,
        update: IndexingUpdateOp,
    ) -> Self {
        let op = index::parts("select_assign", &self.handle, dim.index());
        let (indices, values) = (indices.handle, values.handle);
        Self::new(index::scatter(op, update, self.handle, indices, values))
    }

    /// The parts of the tensor at positions of its first dims.
    ///
    /// # Shapes
    /// - `indices`: `[b0, …, bm, k]`, where `k` is the number of dims that are named
    /// - output: `[b0, …, bm]` and the tensor's dims from `k` on
    #[track_caller]
    pub fn gather_nd<const M: usize, const DV: usize>(
        self,
        indices: Tensor<M, Int>,
    ) -> Tensor<DV, K> {
        Tensor::new(index::gather(IndexOp::Nd, self.handle, indices.handle))
    }

    /// The tensor with `values` written to the parts that [`Tensor::gather_nd`] would read; see [`Tensor::scatter`].
    #[track_caller]
    pub fn scatter_nd<const M: usize, const DV: usize>(
        self,
        indices: Tensor<M, Int>,
        values: Tensor<DV, K>,
        update: IndexingUpdateOp,
    ) -> Self {
        let (indices, values) = (indices.handle, values.handle);
        Self::new(index::scatter(
            IndexOp::Nd,
            update,
            self.handle,
            indices,
            values,
        ))
    }

    /// The parts of the tensor at some positions of `dim`, with the dims of `indices` in its place.
    #[track_caller]
    pub fn take<const DI: usize, const DO: usize>(
        self,
        dim: impl AsIndex,
        indices: Tensor<DI, Int>,
    ) -> Tensor<DO, K> {
        Tensor::new(index::take(self.handle, dim.index(), indices.handle))
    }

    /// The elements where `mask`, in row-major order. The mask broadcasts to the tensor.
    ///
    /// Reads the number of true elements back.
    #[track_caller]
    pub fn mask_select(self, mask: Tensor<D, Bool>) -> Tensor<1, K> {
        let mask = index::mask(&self.handle, mask.handle);
        let count = index::count("mask_select", &mask);
        Tensor::new(index::mask_select(self.handle, mask, count))
    }

    /// [`Tensor::mask_select`], when the device has the number of true elements.
    pub async fn mask_select_async(self, mask: Tensor<D, Bool>) -> Tensor<1, K> {
        let mask = index::mask(&self.handle, mask.handle);
        let count = index::count_async("mask_select_async", &mask).await;
        Tensor::new(index::mask_select(self.handle, mask, count))
    }
}

impl<const D: usize> Tensor<D, Bool> {
    /// The positions of the true elements in row-major order: `[count, D]`.
    ///
    /// Reads the number of true elements back.
    #[track_caller]
    pub fn argwhere(self) -> Tensor<2, Int> {
        let count = index::count("argwhere", &self.handle);
        Tensor::new(index::argwhere(self.handle, count))
    }

    /// [`Tensor::argwhere`], when the device has the number of true elements.
    pub async fn argwhere_async(self) -> Tensor<2, Int> {
        let count = index::count_async("argwhere_async", &self.handle).await;
        Tensor::new(index::argwhere(self.handle, count))
    }

    /// The positions of the true elements in row-major order, one tensor for each dim.
    ///
    /// Reads the number of true elements back.
    #[track_caller]
    pub fn nonzero(self) -> Vec<Tensor<1, Int>> {
        let count = index::count("nonzero", &self.handle);
        columns(index::nonzero(self.handle, count))
    }

    /// [`Tensor::nonzero`], when the device has the number of true elements.
    pub async fn nonzero_async(self) -> Vec<Tensor<1, Int>> {
        let count = index::count_async("nonzero_async", &self.handle).await;
        columns(index::nonzero(self.handle, count))
    }
}

fn columns(handles: Vec<burn_dispatch::Handle>) -> Vec<Tensor<1, Int>> {
    handles.into_iter().map(Tensor::new).collect()
}
