//! Walks over strided layouts, row by row. Knows positions only, no elements.

use burn_std::{Shape, Strides};
use core::ops::Range;
use smallvec::SmallVec;

/// A strided layout with dims of size 1 dropped and neighbours merged where they are one dim in memory.
///
/// Elements are counted in row-major order; a row is what the last dim runs through.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Size and stride of each dim; at least one.
    dims: SmallVec<[(usize, isize); 4]>,
    offset: isize,
}

/// Elements at equal distances: `len` from position `start`, in steps of `stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub start: isize,
    pub stride: isize,
    pub len: usize,
}

impl Rows {
    /// The layout with these strides that starts at `offset`.
    pub(crate) fn new(shape: &[usize], strides: &[isize], offset: usize) -> Self {
        let mut dims: SmallVec<[(usize, isize); 4]> = SmallVec::new();
        for (size, stride) in shape.iter().copied().zip(strides.iter().copied()) {
            match dims.last_mut() {
                _ if size == 1 => {}
                Some((outer, step)) if *step == stride * size as isize => {
                    (*outer, *step) = (*outer * size, stride);
                }
                _ => dims.push((size, stride)),
            }
        }
        if dims.is_empty() {
            dims.push((1, 1));
        }
        Self {
            dims,
            offset: offset as isize,
        }
    }

    /// Size and stride of each dim, the innermost last.
    pub(crate) fn dims(&self) -> &[(usize, isize)] {
        &self.dims
    }

    /// Size and stride of the innermost dim.
    pub(crate) fn inner(&self) -> (usize, isize) {
        self.dims[self.dims.len() - 1]
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.dims.iter().map(|(size, _)| size).product()
    }

    /// The position of an element.
    pub(crate) fn at(&self, mut index: usize) -> isize {
        let mut position = self.offset;
        for (size, stride) in self.dims[1..].iter().rev() {
            position += (index % size) as isize * stride;
            index /= size;
        }
        position + index as isize * self.dims[0].1
    }

    /// Visits the rows of a range of elements in order; the first and the last may be parts.
    #[inline]
    pub(crate) fn each(&self, range: Range<usize>, mut visit: impl FnMut(Row)) {
        let (size, stride) = self.inner();
        let mut index = range.start;
        while index < range.end {
            let len = (size - index % size).min(range.end - index);
            visit(Row {
                start: self.at(index),
                stride,
                len,
            });
            index += len;
        }
    }
}

/// The strides with which a tensor of `shape` is read as one of the larger shape `to`.
pub(crate) fn broadcast(shape: &Shape, strides: &Strides, to: &Shape) -> Strides {
    let sizes = shape.iter().zip(strides.iter()).zip(to.iter());
    sizes
        .map(|((from, stride), to)| if from == to { *stride } else { 0 })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn dense_dims_merge_and_others_stay() {
        assert_eq!(Rows::new(&[2, 1, 3], &[3, 7, 1], 0).dims(), [(6, 1)]);
        assert_eq!(Rows::new(&[3, 2], &[1, 3], 0).dims(), [(3, 1), (2, 3)]);
        assert_eq!(Rows::new(&[4, 5], &[0, 0], 0).dims(), [(20, 0)]);
        assert_eq!(Rows::new(&[], &[], 3).dims(), [(1, 1)]);
    }

    #[test]
    fn rows_of_a_range_start_and_end_inside_rows() {
        let rows = Rows::new(&[3, 4], &[10, -2], 6);
        let mut seen = Vec::new();
        rows.each(2..9, |row| seen.push((row.start, row.stride, row.len)));
        assert_eq!(seen, [(2, -2, 2), (16, -2, 4), (26, -2, 1)]);
    }
}
