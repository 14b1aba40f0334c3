//! How a window slides along one dim.

use serde::{Deserialize, Serialize};

/// A window of `size` elements at distances of `dilation`. Window `i` starts `before` elements ahead of element
/// `i · stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// Elements in a window.
    pub size: usize,
    /// Elements from one window to the next.
    pub stride: usize,
    /// Padding before the first element.
    pub before: usize,
    /// Padding after the last element.
    pub after: usize,
    /// Elements from one of a window to the next.
    pub dilation: usize,
}

impl Window {
    /// A window of one element that visits each.
    pub const ONE: Self = Self::new(1);

    /// Windows of `size` neighbours, one at each element, without padding.
    pub const fn new(size: usize) -> Self {
        Self {
            size,
            stride: 1,
            before: 0,
            after: 0,
            dilation: 1,
        }
    }

    /// The elements that a window spans; `None` for a window that is none, or beyond what can be represented.
    pub fn extent(self) -> Option<usize> {
        if self.stride == 0 || self.dilation == 0 {
            return None;
        }
        let extent = self.size.checked_sub(1)?.checked_mul(self.dilation)?;
        // Positions are computed with signs.
        let extent = extent.checked_add(1)?;
        (extent <= isize::MAX as usize / 4).then_some(extent)
    }

    /// The number of windows in a dim, and with `ceil` one more if it is cut off at the end and starts before it.
    /// `None` if not even one fits, or beyond what can be represented.
    pub fn count(self, size: usize, ceil: bool) -> Option<usize> {
        let start = size.checked_add(self.before)?;
        let padded = start.checked_add(self.after)?;
        if padded > isize::MAX as usize / 4 || self.stride > isize::MAX as usize / 4 {
            return None;
        }
        let free = padded.checked_sub(self.extent()?)?;
        let count = free / self.stride + 1;
        let more = ceil && free % self.stride != 0 && count * self.stride < start;
        Some(count + usize::from(more))
    }

    /// Whether every window of a dim that has windows holds an element beside padding, or the dim is never padded.
    pub(crate) fn meets_elements(self, size: usize) -> bool {
        let reach = self.extent().unwrap_or(0).saturating_sub(1);
        let unpadded = self.before == 0 && self.after == 0;
        // A window that starts in the padding meets an element within one step of dilation, if its last is that far.
        unpadded || (self.before <= reach && self.after <= reach && size >= self.dilation)
    }

    /// Whether windows are the elements themselves.
    pub fn is_one(self) -> bool {
        self == Self::ONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_counted_as_they_are_visited() {
        for (size, window_size, stride, before, after, dilation, whole, with_cut) in [
            (5, 2, 2, 0, 0, 1, 2, 3),
            // The third window would start in the padding behind the last element.
            (5, 2, 3, 1, 1, 1, 2, 2),
            (7, 3, 2, 1, 0, 2, 2, 3),
            (6, 3, 3, 0, 2, 1, 2, 2),
            (1, 1, 4, 0, 0, 1, 1, 1),
        ] {
            let window = Window {
                size: window_size,
                stride,
                before,
                after,
                dilation,
            };
            assert_eq!(window.count(size, false), Some(whole), "{window:?}");
            assert_eq!(window.count(size, true), Some(with_cut), "{window:?}");
        }
    }

    #[test]
    fn a_window_that_fits_nowhere_has_no_count() {
        assert_eq!(Window::new(3).count(2, true), None);
        assert_eq!(
            Window {
                stride: 0,
                ..Window::ONE
            }
            .count(2, false),
            None
        );
        assert_eq!(
            Window {
                dilation: 0,
                ..Window::ONE
            }
            .count(2, false),
            None
        );
        assert_eq!(Window::new(0).count(2, false), None);
        assert_eq!(
            Window {
                after: usize::MAX,
                ..Window::ONE
            }
            .count(2, false),
            None
        );
    }
}
