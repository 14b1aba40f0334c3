//! Columns of windows: made of an image, and added back to one.

use super::geometry::Tile;
use super::{Float, Geometry, Matrix};
use alloc::vec::Vec;
use core::ops::Range;
use num_traits::Zero;

/// Memory for the columns of a tile, used again by the next.
pub(super) struct Scratch<T>(Vec<T>);

impl<T: Float> Scratch<T> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// The columns of a tile over some channels of a group: a row for each element of each channel's window.
    ///
    /// # Safety
    /// `input` is a whole tensor of the geometry, and outlives the use of the result, as does `self`.
    pub(super) unsafe fn columns(
        &mut self,
        g: &Geometry,
        group: usize,
        channels: Range<usize>,
        tile: &Tile,
        input: *const T,
    ) -> Matrix<T> {
        let elements = g.elements();
        let plane = |n: usize, channel: usize| {
            let plane = (n * g.groups + group) * g.channels + channel;
            input.wrapping_add(plane * elements)
        };
        if g.is_pointwise() && tile.images.len() == 1 {
            let first = plane(tile.images.start, channels.start);
            return Matrix::rows(first.wrapping_add(tile.positions.start), elements);
        }
        let (width, area) = (tile.width(), g.area());
        self.0
            .resize(channels.len() * area * width, <T as Zero>::zero());
        let to = self.0.as_mut_ptr();
        for (at, channel) in channels.enumerate() {
            for (image, n) in tile.images.clone().enumerate() {
                // SAFETY: the rows of this channel, in them the columns of this image, and a plane of the input.
                unsafe {
                    let to = to.add(at * area * width + image * tile.positions.len());
                    load(g, plane(n, channel), tile.positions.clone(), to, width);
                }
            }
        }
        Matrix::rows(to, width)
    }
}

/// Writes the windows of a channel at some positions: a row for each element of the window, `width` elements apart.
///
/// # Safety
/// `plane` is a channel of the geometry, and rows of as many elements as there are positions are writable.
pub(in crate::ops) unsafe fn load<T: Copy + Zero>(
    g: &Geometry,
    plane: *const T,
    positions: Range<usize>,
    to: *mut T,
    width: usize,
) {
    let stride = g.windows[2].stride;
    walk(g, positions, &mut |row, column, len, inside, from| {
        // SAFETY: the walk stays inside the rows, and inside the channel.
        unsafe {
            let line = core::slice::from_raw_parts_mut(to.add(row * width + column), len);
            let (before, rest) = line.split_at_mut(inside.start);
            let (middle, after) = rest.split_at_mut(inside.len());
            before.fill(T::zero());
            after.fill(T::zero());
            let from = plane.wrapping_offset(from);
            match stride {
                1 => middle
                    .as_mut_ptr()
                    .copy_from_nonoverlapping(from, middle.len()),
                2 => middle
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, x)| *x = *from.add(2 * i)),
                _ => middle
                    .iter_mut()
                    .enumerate()
                    .for_each(|(i, x)| *x = *from.add(stride * i)),
            }
        }
    });
}

/// Adds what [`load`] would have read to where it would have read it from. Rows are as long as there are positions.
///
/// # Safety
/// As for [`load`], with the plane writable and the rows readable.
pub(in crate::ops) unsafe fn add<T: Float>(
    g: &Geometry,
    from: *const T,
    positions: Range<usize>,
    plane: *mut T,
) {
    let (stride, width) = (g.windows[2].stride, positions.len());
    walk(g, positions, &mut |row, column, _, inside, to| {
        // SAFETY: as in `load`.
        unsafe {
            let line = from.add(row * width + column + inside.start);
            let line = core::slice::from_raw_parts(line, inside.len());
            let to = plane.wrapping_offset(to);
            match stride {
                1 => {
                    let to = core::slice::from_raw_parts_mut(to, line.len());
                    to.iter_mut().zip(line).for_each(|(to, x)| *to = *to + *x);
                }
                _ => line.iter().enumerate().for_each(|(i, x)| {
                    let to = to.add(stride * i);
                    *to = *to + *x;
                }),
            }
        }
    });
}

/// Visits the lines of the output that a range of positions has parts of, for each element of the window: the row of the
/// element, the first column and the number of columns, which of them meet the input, and where the first that does
/// meets it.
fn walk(
    g: &Geometry,
    positions: Range<usize>,
    visit: &mut dyn FnMut(usize, usize, usize, Range<usize>, isize),
) {
    let [_, rows, line] = g.counts;
    let [_, height, breadth] = g.sizes.map(|size| size as isize);
    let mut row = 0;
    for depth_at in 0..g.windows[0].size {
        let (depths, depth_offset) = g.inside(0, depth_at);
        for row_at in 0..g.windows[1].size {
            let (heights, row_offset) = g.inside(1, row_at);
            for at in 0..g.windows[2].size {
                let (inside, offset) = g.inside(2, at);
                let mut position = positions.start;
                while position < positions.end {
                    let (outer, start) = (position / line, position % line);
                    let (depth, high) = (outer / rows, outer % rows);
                    let end = line.min(start + positions.end - position);
                    let column = position - positions.start;
                    position += end - start;
                    if !depths.contains(&depth) || !heights.contains(&high) {
                        visit(row, column, end - start, 0..0, 0);
                        continue;
                    }
                    let first = inside.start.clamp(start, end);
                    let last = inside.end.clamp(first, end);
                    let source = |index: usize, dim: usize, offset: isize| {
                        (index * g.windows[dim].stride) as isize + offset
                    };
                    let from = (source(depth, 0, depth_offset) * height
                        + source(high, 1, row_offset))
                        * breadth
                        + source(first, 2, offset);
                    visit(row, column, end - start, first - start..last - start, from);
                }
                row += 1;
            }
        }
    }
}
