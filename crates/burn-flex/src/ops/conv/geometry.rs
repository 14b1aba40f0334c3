//! Sizes of a convolution, always with three spatial dims, and how its output is cut into tiles.

use burn_ir::Window;
use core::ops::Range;

/// Sizes of a convolution. Channels are those of one group.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Geometry {
    pub batch: usize,
    pub groups: usize,
    /// Input channels of a group.
    pub channels: usize,
    /// Output channels of a group.
    pub out: usize,
    /// Spatial sizes of the input.
    pub sizes: [usize; 3],
    /// Spatial sizes of the output.
    pub counts: [usize; 3],
    pub windows: [Window; 3],
}

/// Output positions that are computed together: some of one image, or all of several.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Tile {
    pub images: Range<usize>,
    pub positions: Range<usize>,
}

impl Tile {
    /// The number of columns.
    pub(in crate::ops) fn width(&self) -> usize {
        self.images.len() * self.positions.len()
    }
}

/// The tiles of one group.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Tiles {
    batch: usize,
    positions: usize,
    /// Columns of a tile, at most.
    pub width: usize,
    /// Images of a tile.
    images: usize,
    /// Tiles of an image, if a tile has one image.
    parts: usize,
}

impl Tiles {
    pub(in crate::ops) fn len(&self) -> usize {
        self.batch.div_ceil(self.images) * self.parts
    }

    pub(in crate::ops) fn get(&self, at: usize) -> Tile {
        let (image, part) = (at / self.parts * self.images, at % self.parts);
        let start = part * self.width;
        Tile {
            images: image..self.batch.min(image + self.images),
            positions: match self.parts {
                1 => 0..self.positions,
                _ => start..self.positions.min(start + self.width),
            },
        }
    }
}

/// Sizes with ones in front.
fn three<T: Copy>(list: &[T], one: T) -> [T; 3] {
    let mut three = [one; 3];
    three[3 - list.len()..].copy_from_slice(list);
    three
}

impl Geometry {
    /// The convolution from an image of shape `input` to one of shape `output`.
    pub(in crate::ops) fn new(
        input: &[usize],
        output: &[usize],
        windows: &[Window],
        groups: usize,
    ) -> Self {
        Self {
            batch: input[0],
            groups,
            channels: input[1] / groups,
            out: output[1] / groups,
            sizes: three(&input[2..], 1),
            counts: three(&output[2..], 1),
            windows: three(windows, Window::ONE),
        }
    }

    /// Elements of a window.
    pub(in crate::ops) fn area(&self) -> usize {
        self.windows.iter().map(|window| window.size).product()
    }

    /// Elements of a column: the windows of all channels.
    pub(in crate::ops) fn rows(&self) -> usize {
        self.channels * self.area()
    }

    /// Elements of a channel of the output.
    pub(in crate::ops) fn positions(&self) -> usize {
        self.counts.iter().product()
    }

    /// Elements of a channel of the input.
    pub(in crate::ops) fn elements(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Whether columns are the input itself.
    pub(in crate::ops) fn is_pointwise(&self) -> bool {
        self.windows.iter().all(|window| window.is_one())
    }

    /// The number of columns of `rows` elements that stay in the second level of cache beside the weights.
    pub(in crate::ops) fn width(&self, rows: usize) -> usize {
        const ELEMENTS: usize = 64 * 1024;
        let most = (ELEMENTS / rows.max(1)).clamp(64, 1024);
        let positions = self.positions();
        let parts = positions.div_ceil(most).max(1);
        positions.div_ceil(parts).next_multiple_of(16)
    }

    /// Tiles with columns of `rows` elements.
    pub(in crate::ops) fn tiles(&self, rows: usize) -> Tiles {
        let (positions, width) = (self.positions(), self.width(rows));
        let images = match positions {
            0 => 1,
            few if few < 64 => (128 / few).clamp(1, self.batch.max(1)),
            _ => 1,
        };
        let parts = match images {
            1 => positions.div_ceil(width.max(1)),
            _ => 1,
        };
        Tiles {
            batch: if positions == 0 { 0 } else { self.batch },
            positions,
            width: if images == 1 {
                width
            } else {
                images * positions
            },
            images,
            parts: parts.max(1),
        }
    }

    /// The positions of one dim where an element of the window meets the input: in which `i · stride + offset` is below
    /// the size; and that offset.
    pub(in crate::ops) fn inside(&self, dim: usize, at: usize) -> (Range<usize>, isize) {
        let window = &self.windows[dim];
        let offset = (at * window.dilation) as isize - window.before as isize;
        let first = (-offset).max(0) as usize;
        let end = (self.sizes[dim] as isize - offset).max(0) as usize;
        let count = self.counts[dim];
        let start = first.div_ceil(window.stride).min(count);
        let end = end.div_ceil(window.stride).clamp(start, count);
        (start..end, offset)
    }
}
