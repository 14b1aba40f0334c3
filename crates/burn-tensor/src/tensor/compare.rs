//! Comparisons. Operands broadcast; every relation with NaN is false but "not equal".

use super::Tensor;
use crate::emit;
use crate::kind::{Basic, Bool, Ordered};
use burn_ir::{CompareOp, Operand};
use burn_std::{Element, ElementConversion, Scalar};

impl<const D: usize, K: Basic> Tensor<D, K> {
    #[track_caller]
    fn compare(self, op: CompareOp, other: Self) -> Tensor<D, Bool> {
        let other = Operand::Tensor(other.handle);
        Tensor::new(emit::compare(op, self.handle, other))
    }

    #[track_caller]
    fn compare_scalar<E: ElementConversion>(self, op: CompareOp, other: E) -> Tensor<D, Bool> {
        let other = Scalar::new(other, &self.dtype()).into();
        Tensor::new(emit::compare(op, self.handle, other))
    }
}

/// A method for each relation of two tensors, and two for a tensor and a number.
macro_rules! relations {
    ($kind:ident, $element:ident: $($(#[$doc:meta])* $method:ident, $scalar:ident, $elem:ident = $op:ident;)+) => {
        impl<const D: usize, K: $kind> Tensor<D, K> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $method(self, other: Self) -> Tensor<D, Bool> {
                    self.compare(CompareOp::$op, other)
                }

                $(#[$doc])*
                ///
                /// The number is converted to the element type first.
                #[track_caller]
                pub fn $scalar<E: $element>(self, other: E) -> Tensor<D, Bool> {
                    self.compare_scalar(CompareOp::$op, other)
                }

                $(#[$doc])*
                ///
                /// The number is converted to the element type first.
                #[track_caller]
                pub fn $elem<E: $element>(self, other: E) -> Tensor<D, Bool> {
                    self.compare_scalar(CompareOp::$op, other)
                }
            )+
        }
    };
}

relations! { Basic, Element:
    /// Whether the elements are equal.
    equal, equal_scalar, equal_elem = Equal;
    /// Whether the elements differ.
    not_equal, not_equal_scalar, not_equal_elem = NotEqual;
}

relations! { Ordered, ElementConversion:
    /// Whether the tensor's element is greater.
    greater, greater_scalar, greater_elem = Greater;
    /// Whether the tensor's element is greater or equal.
    greater_equal, greater_equal_scalar, greater_equal_elem = GreaterEqual;
    /// Whether the tensor's element is smaller.
    lower, lower_scalar, lower_elem = Lower;
    /// Whether the tensor's element is smaller or equal.
    lower_equal, lower_equal_scalar, lower_equal_elem = LowerEqual;
}
