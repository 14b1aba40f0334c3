//! The same values as another element type.

use super::Tensor;
use crate::emit;
use crate::kind::{Basic, Bool, Float, Int};
use burn_std::{DType, FloatDType, IntDType};

/// An element type that a tensor of kind `K` can be cast to.
pub trait Cast<const D: usize, K: Basic> {
    /// The kind of the result.
    type OutputKind: Basic;

    /// The tensor with elements of this type.
    fn cast(tensor: Tensor<D, K>, dtype: Self) -> Tensor<D, Self::OutputKind>;
}

macro_rules! cast {
    ($($from:ident to $to:ident by $dtype:ident;)+) => {
        $(impl<const D: usize> Cast<D, $from> for $dtype {
            type OutputKind = $to;

            #[track_caller]
            fn cast(tensor: Tensor<D, $from>, dtype: Self) -> Tensor<D, $to> {
                Tensor::new(emit::cast(tensor.handle, dtype.into()))
            }
        })+
    };
}

cast! {
    Float to Float by DType;
    Float to Float by FloatDType;
    Float to Int by IntDType;
    Int to Int by DType;
    Int to Int by IntDType;
    Int to Float by FloatDType;
    Bool to Float by FloatDType;
    Bool to Int by IntDType;
}

macro_rules! method {
    ($($kind:ident),+) => {
        $(impl<const D: usize> Tensor<D, $kind> {
            /// The same values as another element type. Floats to ints truncate and saturate, NaN gives 0.
            #[track_caller]
            pub fn cast<T: Cast<D, $kind>>(self, dtype: T) -> Tensor<D, T::OutputKind> {
                T::cast(self, dtype)
            }
        })+
    };
}

method!(Float, Int, Bool);

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// The elements as another kind, in the type that the device prefers for it.
    #[track_caller]
    pub(super) fn preferred<K2: Basic>(self) -> Tensor<D, K2> {
        let dtype = emit::preferred(&self.handle, K2::KIND);
        Tensor::new(emit::cast(self.handle, dtype))
    }
}

impl<const D: usize> Tensor<D, Float> {
    /// The integer parts, as ints of the device's type.
    #[track_caller]
    pub fn int(self) -> Tensor<D, Int> {
        self.preferred()
    }
}
