//! Elementwise choice by a mask, over blocks. Knows the size of elements only.

use crate::simd::Kernel;
use num_traits::{PrimInt, WrappingSub};

/// A block of choices between elements stored as unsigned integers; `mask` holds truth values as bytes.
pub(crate) struct Block<'a, T> {
    pub mask: &'a [u8],
    pub on_true: &'a [T],
    pub on_false: &'a [T],
    pub out: &'a mut [T],
}

impl<T: PrimInt + WrappingSub + From<bool>> Kernel for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let values = self.on_true.iter().zip(self.on_false);
        for ((out, mask), (on_true, on_false)) in self.out.iter_mut().zip(self.mask).zip(values) {
            // By bits: a condition becomes a branch for each element, or a choice between addresses.
            let keep = T::zero().wrapping_sub(&<T as From<bool>>::from(*mask != 0));
            *out = (*on_true & keep) | (*on_false & !keep);
        }
    }
}
