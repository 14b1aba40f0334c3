//! One value for many elements. Dims that are reduced keep size 1; the whole gives rank 1.

use super::Tensor;
use crate::emit;
use crate::kind::{Basic, Bool, Numeric, Ordered};
use burn_ir::{Described, ReduceOp};
use burn_std::AsIndex;

/// A method for the whole, one for a dim and one for several dims.
macro_rules! reductions {
    ($kind:ident: $($(#[$doc:meta])* $method:ident, $dim:ident, $dims:ident = $op:ident;)+) => {
        impl<const D: usize, K: $kind> Tensor<D, K> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $method(self) -> Tensor<1, K> {
                    Tensor::new(emit::reduce(ReduceOp::$op, self.handle))
                }

                $(#[$doc])*
                /// Along a dim, which keeps size 1.
                #[track_caller]
                pub fn $dim<I: AsIndex>(self, dim: I) -> Self {
                    Self::new(emit::reduce_dim(ReduceOp::$op, self.handle, dim.index()))
                }

                $(#[$doc])*
                /// Along several dims, which keep size 1.
                #[track_caller]
                pub fn $dims<I: AsIndex>(self, dims: &[I]) -> Self {
                    Self::new(emit::reduce_dims(ReduceOp::$op, self.handle, &emit::indices(dims)))
                }
            )+
        }
    };
}

reductions! { Numeric:
    /// The sum; 0 for no elements, and ints wrap.
    sum, sum_dim, sum_dims = Sum;
    /// The mean; NaN for no elements, and ints truncate.
    mean, mean_dim, mean_dims = Mean;
    /// The product; 1 for no elements, and ints wrap.
    prod, prod_dim, prod_dims = Prod;
}

reductions! { Ordered:
    /// The largest element; NaN if any is.
    max, max_dim, max_dims = Max;
    /// The smallest element; NaN if any is.
    min, min_dim, min_dims = Min;
}

impl<const D: usize, K: Numeric> Tensor<D, K> {
    /// The sum along several dims, without them.
    #[track_caller]
    pub fn sum_dims_squeeze<const D2: usize, I: AsIndex>(self, dims: &[I]) -> Tensor<D2, K> {
        let list = emit::indices(dims);
        let dims = emit::dims("sum_dims_squeeze", self.handle.meta(), &list);
        let output = emit::reduce_dims(ReduceOp::Sum, self.handle, &list);
        Tensor::new(emit::movement::squeeze(output, dims))
    }
}

impl<const D: usize, K: Ordered> Tensor<D, K> {
    /// The position of the largest element along a dim, which keeps size 1; of the first of several, of the first NaN.
    #[track_caller]
    pub fn argmax(self, dim: impl AsIndex) -> Tensor<D, crate::Int> {
        Tensor::new(emit::position(true, self.handle, dim.index()))
    }

    /// The position of the smallest element along a dim, which keeps size 1; of the first of several, of the first NaN.
    #[track_caller]
    pub fn argmin(self, dim: impl AsIndex) -> Tensor<D, crate::Int> {
        Tensor::new(emit::position(false, self.handle, dim.index()))
    }

    /// The largest element along a dim, which keeps size 1, and its position.
    #[track_caller]
    pub fn max_dim_with_indices<I: AsIndex>(self, dim: I) -> (Self, Tensor<D, crate::Int>) {
        (self.clone().max_dim(dim), self.argmax(dim))
    }

    /// The smallest element along a dim, which keeps size 1, and its position.
    #[track_caller]
    pub fn min_dim_with_indices<I: AsIndex>(self, dim: I) -> (Self, Tensor<D, crate::Int>) {
        (self.clone().min_dim(dim), self.argmin(dim))
    }

    /// The largest absolute value.
    #[track_caller]
    pub fn max_abs(self) -> Tensor<1, K> {
        self.abs().max()
    }

    /// The largest absolute value along a dim, which keeps size 1.
    #[track_caller]
    pub fn max_abs_dim<I: AsIndex>(self, dim: I) -> Self {
        self.abs().max_dim(dim)
    }

    /// The largest absolute value along several dims, which keep size 1.
    #[track_caller]
    pub fn max_abs_dims<I: AsIndex>(self, dims: &[I]) -> Self {
        self.abs().max_dims(dims)
    }
}

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// Whether all elements are true, or not 0.
    #[track_caller]
    pub fn all(self) -> Tensor<1, Bool> {
        Tensor::new(emit::reduce(ReduceOp::All, emit::truth(self.handle)))
    }

    /// Whether all elements along a dim, which keeps size 1, are true, or not 0.
    #[track_caller]
    pub fn all_dim(self, dim: impl AsIndex) -> Tensor<D, Bool> {
        let input = emit::truth(self.handle);
        Tensor::new(emit::reduce_dim(ReduceOp::All, input, dim.index()))
    }

    /// Whether any element is true, or not 0.
    #[track_caller]
    pub fn any(self) -> Tensor<1, Bool> {
        Tensor::new(emit::reduce(ReduceOp::Any, emit::truth(self.handle)))
    }

    /// Whether any element along a dim, which keeps size 1, is true, or not 0.
    #[track_caller]
    pub fn any_dim(self, dim: impl AsIndex) -> Tensor<D, Bool> {
        let input = emit::truth(self.handle);
        Tensor::new(emit::reduce_dim(ReduceOp::Any, input, dim.index()))
    }
}
