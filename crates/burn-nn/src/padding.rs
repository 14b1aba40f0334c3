//! What lies around an input that windows slide over.

use burn_core::config::Config;

/// What lies around lines.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum PaddingConfig1d {
    /// Nothing: windows are inside.
    Valid,
    /// As much that windows start at every `stride`-th element, the odd one at the end. With stride 1 the output has the
    /// size of the input.
    Same,
    /// As much before and after the line.
    Explicit(usize, usize),
}

/// What lies around images.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum PaddingConfig2d {
    /// Nothing: windows are inside.
    Valid,
    /// As much that windows start at every `stride`-th element, the odd one at the end. With stride 1 the output has the
    /// size of the input.
    Same,
    /// As much above, on the left, below, and on the right.
    Explicit(usize, usize, usize, usize),
}

/// What lies around volumes.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum PaddingConfig3d {
    /// Nothing: windows are inside.
    Valid,
    /// As much that windows start at every `stride`-th element, the odd one at the end. With stride 1 the output has the
    /// size of the input.
    Same,
    /// As much on either side of the depth, the height and the width.
    Explicit(usize, usize, usize),
}

/// How windows slide over `N` dims.
#[derive(Clone, Copy)]
pub(crate) struct Slide<const N: usize> {
    pub kernel: [usize; N],
    pub stride: [usize; N],
    pub dilation: [usize; N],
}

impl<const N: usize> Slide<N> {
    /// Padding of each dim, so that windows start at every `stride`-th element of it.
    fn same(&self, dims: &[usize]) -> [(usize, usize); N] {
        core::array::from_fn(|dim| {
            // A kernel or a stride of nothing is refused where it is used.
            let extent = (self.kernel[dim].saturating_sub(1)) * self.dilation[dim] + 1;
            let stride = self.stride[dim].max(1);
            let last = dims[dim].div_ceil(stride).saturating_sub(1) * stride;
            let total = (last + extent).saturating_sub(dims[dim]);
            (total / 2, total - total / 2)
        })
    }
}

macro_rules! pairs {
    ($name:ident, $dims:literal, ($($size:ident),*) => $pairs:expr) => {
        impl $name {
            /// Elements before and after each dim of an input of these spatial sizes.
            pub(crate) fn pairs(
                self,
                dims: &[usize],
                slide: &Slide<$dims>,
            ) -> [(usize, usize); $dims] {
                match self {
                    Self::Valid => [(0, 0); $dims],
                    Self::Same => slide.same(dims),
                    Self::Explicit($($size),*) => $pairs,
                }
            }
        }
    };
}

pairs!(PaddingConfig1d, 1, (before, after) => [(before, after)]);
pairs!(PaddingConfig2d, 2, (top, left, bottom, right) => [(top, bottom), (left, right)]);
pairs!(PaddingConfig3d, 3, (depth, height, width) => [depth, height, width].map(|size| (size, size)));

#[cfg(test)]
mod tests {
    use super::*;

    fn same(size: usize, [kernel, stride, dilation]: [usize; 3]) -> (usize, usize) {
        let slide = Slide {
            kernel: [kernel],
            stride: [stride],
            dilation: [dilation],
        };
        let [(before, after)] = PaddingConfig1d::Same.pairs(&[size], &slide);
        let windows = (size + before + after - (kernel - 1) * dilation - 1) / stride + 1;
        assert_eq!(windows, size.div_ceil(stride));
        (before, after)
    }

    #[test]
    fn same_padding_has_a_window_for_every_stride() {
        assert_eq!(same(8, [3, 1, 1]), (1, 1));
        assert_eq!(same(8, [4, 1, 1]), (1, 2));
        assert_eq!(same(8, [3, 1, 2]), (2, 2));
        // The windows start at 0, 2, 4, 6 and end at 8.
        assert_eq!(same(8, [3, 2, 1]), (0, 1));
        assert_eq!(same(7, [3, 2, 1]), (1, 1));
        assert_eq!(same(9, [2, 3, 1]), (0, 0));
    }

    #[test]
    fn explicit_padding_names_the_sides() {
        let slide = Slide {
            kernel: [1; 2],
            stride: [1; 2],
            dilation: [1; 2],
        };
        let sides = PaddingConfig2d::Explicit(1, 2, 3, 4).pairs(&[5, 5], &slide);
        assert_eq!(sides, [(1, 3), (2, 4)]);
    }
}
