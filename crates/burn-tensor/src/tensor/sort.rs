//! Running values along a dim, and order. Equal elements stay in the order of their positions, and NaN is above
//! everything: last in ascending order, first in descending order.

use super::Tensor;
use crate::emit::sort::{self, Order};
use crate::kind::{Float, Int, Numeric, Ordered};
use burn_dispatch::Handle;
use burn_ir::ScanOp;
use burn_std::AsIndex;

impl<const D: usize, K: Numeric> Tensor<D, K> {
    /// The sum of the elements up to each one along a dim; ints wrap.
    #[track_caller]
    pub fn cumsum<I: AsIndex>(self, dim: I) -> Self {
        Self::new(sort::scan(ScanOp::Sum, self.handle, dim.index()))
    }

    /// The product of the elements up to each one along a dim; ints wrap.
    #[track_caller]
    pub fn cumprod<I: AsIndex>(self, dim: I) -> Self {
        Self::new(sort::scan(ScanOp::Prod, self.handle, dim.index()))
    }
}

impl<const D: usize, K: Ordered> Tensor<D, K> {
    /// The largest of the elements up to each one along a dim; NaN from the first NaN on.
    #[track_caller]
    pub fn cummax<I: AsIndex>(self, dim: I) -> Self {
        Self::new(sort::scan(ScanOp::Max, self.handle, dim.index()))
    }

    /// The smallest of the elements up to each one along a dim; NaN from the first NaN on.
    #[track_caller]
    pub fn cummin<I: AsIndex>(self, dim: I) -> Self {
        Self::new(sort::scan(ScanOp::Min, self.handle, dim.index()))
    }

    /// The elements along a dim, the smallest first.
    #[track_caller]
    pub fn sort<I: AsIndex>(self, dim: I) -> Self {
        let order = Order::full("sort", &self.handle, dim.index(), false);
        Self::new(order.values(self.handle))
    }

    /// The elements along a dim, the largest first.
    #[track_caller]
    pub fn sort_descending<I: AsIndex>(self, dim: I) -> Self {
        let order = Order::full("sort_descending", &self.handle, dim.index(), true);
        Self::new(order.values(self.handle))
    }

    /// The elements along a dim, the smallest first, and where they were.
    #[track_caller]
    pub fn sort_with_indices<I: AsIndex>(self, dim: I) -> (Self, Tensor<D, Int>) {
        let order = Order::full("sort_with_indices", &self.handle, dim.index(), false);
        tensors(order.both(self.handle))
    }

    /// The elements along a dim, the largest first, and where they were.
    #[track_caller]
    pub fn sort_descending_with_indices<I: AsIndex>(self, dim: I) -> (Self, Tensor<D, Int>) {
        let name = "sort_descending_with_indices";
        let order = Order::full(name, &self.handle, dim.index(), true);
        tensors(order.both(self.handle))
    }

    /// The positions of the elements along a dim, that of the smallest first.
    #[track_caller]
    pub fn argsort<I: AsIndex>(self, dim: I) -> Tensor<D, Int> {
        let order = Order::full("argsort", &self.handle, dim.index(), false);
        Tensor::new(order.indices(self.handle))
    }

    /// The positions of the elements along a dim, that of the largest first.
    #[track_caller]
    pub fn argsort_descending<I: AsIndex>(self, dim: I) -> Tensor<D, Int> {
        let order = Order::full("argsort_descending", &self.handle, dim.index(), true);
        Tensor::new(order.indices(self.handle))
    }

    /// The `k` largest elements along a dim, the largest first.
    #[track_caller]
    pub fn topk<I: AsIndex>(self, k: usize, dim: I) -> Self {
        let order = Order::largest("topk", &self.handle, dim.index(), k);
        Self::new(order.values(self.handle))
    }

    /// The `k` largest elements along a dim, the largest first, and where they were.
    #[track_caller]
    pub fn topk_with_indices<I: AsIndex>(self, k: usize, dim: I) -> (Self, Tensor<D, Int>) {
        let order = Order::largest("topk_with_indices", &self.handle, dim.index(), k);
        tensors(order.both(self.handle))
    }

    /// The positions of the `k` largest elements along a dim, that of the largest first.
    #[track_caller]
    pub fn argtopk(self, k: usize, dim: impl AsIndex) -> Tensor<D, Int> {
        let order = Order::largest("argtopk", &self.handle, dim.index(), k);
        Tensor::new(order.indices(self.handle))
    }
}

impl<const D: usize> Tensor<D, Float> {
    /// The median along a dim, which keeps size 1: the lower one of two, and NaN if any element is.
    #[track_caller]
    pub fn median<I: AsIndex>(self, dim: I) -> Self {
        self.median_with_indices(dim).0
    }

    /// The median along a dim, which keeps size 1, and its position; those of the first NaN if there is one.
    #[track_caller]
    pub fn median_with_indices<I: AsIndex>(self, dim: I) -> (Self, Tensor<D, Int>) {
        tensors(sort::median(self.handle, dim.index()))
    }
}

#[track_caller]
fn tensors<const D: usize, K: Ordered>(
    (values, indices): (Handle, Handle),
) -> (Tensor<D, K>, Tensor<D, Int>) {
    (Tensor::new(values), Tensor::new(indices))
}
