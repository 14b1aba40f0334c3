//! Sizes that are one number for lines and an array for more dims.

/// One number a dim.
pub(super) trait Sizes<const N: usize> {
    fn each(self) -> [usize; N];
}

impl Sizes<1> for usize {
    fn each(self) -> [usize; 1] {
        [self]
    }
}

impl<const N: usize> Sizes<N> for [usize; N] {
    fn each(self) -> [usize; N] {
        self
    }
}
