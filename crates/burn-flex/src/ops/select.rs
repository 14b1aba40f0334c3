//! Elementwise choice by a mask, over blocks. Knows the size of elements only.

use crate::simd::Kernel;

/// A block of choices; `mask` holds truth values as bytes.
pub(crate) struct Block<'a, T> {
    pub mask: &'a [u8],
    pub on_true: &'a [T],
    pub on_false: &'a [T],
    pub out: &'a mut [T],
}

impl<T: Copy> Kernel for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let values = self.on_true.iter().zip(self.on_false);
        for ((out, mask), (on_true, on_false)) in self.out.iter_mut().zip(self.mask).zip(values) {
            *out = if *mask != 0 { *on_true } else { *on_false };
        }
    }
}
