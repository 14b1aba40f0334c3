//! What the tensor-core kernels share: how a cube finds its block, brings parts of the operands to shared memory and stores
//! the result. Which kernel runs when is in [`matmul`](super).

use crate::ops::kernel::place;
use cubecl::prelude::*;

/// Blocks are walked in strips of this many rows of blocks, so that cubes that run together read the same operands.
const STRIP: usize = 8;

/// How the product is cut: the block of a cube, the depth of a step, and the part of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    /// Rows of a cube's block.
    pub(crate) rows: usize,
    /// Columns of a cube's block.
    pub(crate) columns: usize,
    /// What of the inner dim lies in shared memory at a time.
    pub(crate) depth: usize,
    /// Rows of a plane's part.
    pub(crate) plane_rows: usize,
    /// Columns of a plane's part.
    pub(crate) plane_columns: usize,
}

impl Tile {
    /// The units of a cube; a plane has 32.
    pub(crate) const fn units(&self) -> usize {
        self.rows / self.plane_rows * (self.columns / self.plane_columns) * 32
    }
}

/// How an operand lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Side {
    /// Neighbours in the buffer differ in the inner dim of the product.
    pub(crate) deep: bool,
    /// Every 16 bytes can be read at once.
    pub(crate) wide: bool,
}

/// What a kernel knows of its operands before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) lhs: Side,
    pub(crate) rhs: Side,
    /// Some blocks or steps reach beyond the operands.
    pub(crate) masked: bool,
    /// The number of dims of the batch.
    pub(crate) rank: usize,
    /// Two columns are stored at once.
    pub(crate) pairs: bool,
}

/// How a cube loads one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Load {
    pub(crate) side: Side,
    pub(crate) masked: bool,
    /// Rows or columns of the block.
    pub(crate) extent: usize,
    pub(crate) depth: usize,
    /// Elements of 16 bytes.
    pub(crate) lanes: usize,
    pub(crate) units: usize,
}

impl Load {
    /// The 16 bytes in a line of the stage.
    pub(crate) const fn chunks(&self) -> usize {
        if self.side.deep {
            self.depth / self.lanes
        } else {
            self.extent / self.lanes
        }
    }

    /// The loads of a unit in a step.
    pub(crate) const fn count(&self) -> usize {
        self.extent * self.depth / self.lanes / self.units
    }

    /// The elements from one line of a padded stage to the next: units of a plane read eight elements of one dim by four
    /// of the other, which then lie in different banks.
    pub(crate) const fn pitch(&self) -> usize {
        if self.side.deep {
            self.depth + 4
        } else {
            self.extent + 8
        }
    }

    /// The elements of a padded stage.
    pub(crate) const fn padded(&self) -> usize {
        self.pitch()
            * if self.side.deep {
                self.extent
            } else {
                self.depth
            }
    }
}

/// Where the part of an operand is that a cube needs.
#[derive(CubeType, Clone, Copy)]
pub(crate) struct Source {
    /// The first element of the matrix in the buffer.
    start: usize,
    /// The first row, or column, of the block.
    first: usize,
    /// The rows, or columns, of the matrix.
    extent: usize,
    /// The inner dim.
    inner: usize,
    /// From a row, or column, to the next, in elements.
    stride: usize,
    /// From one step in the inner dim to the next, in elements.
    inner_stride: usize,
}

/// The operand whose arguments are in `layout` from `at` on: the offset, the strides of `rank` batch dims and of the two
/// dims of the matrix.
#[cube]
pub(crate) fn source<I: Int>(
    layout: &Sequence<InputScalar>,
    batch: usize,
    first: usize,
    extent: usize,
    inner: usize,
    #[comptime] at: usize,
    #[comptime] rank: usize,
    #[comptime] inner_is_last: bool,
) -> Source {
    let one = usize::cast_from(layout[comptime!(at + 1 + rank)].get::<I>());
    let two = usize::cast_from(layout[comptime!(at + 2 + rank)].get::<I>());
    let (stride, inner_stride) = if comptime!(inner_is_last) {
        (one, two)
    } else {
        (two, one)
    };
    Source {
        start: place::<I>(batch, layout, 0usize, rank, at, false),
        first,
        extent,
        inner,
        stride,
        inner_stride,
    }
}

/// The element in row, or column, `major` at `depth` of the inner dim.
#[cube]
pub(crate) fn element<E: Float, L: Size>(
    buffer: &[Vector<E, L>],
    from: &Source,
    major: usize,
    depth: usize,
) -> E {
    let buffer = buffer.with_vector_size::<Const<1>>();
    buffer[from.start + major * from.stride + depth * from.inner_stride].extract(0usize)
}

/// The row and the column of the block at `position` among `rows` by `columns` blocks.
#[cube]
pub(crate) fn block(position: usize, rows: usize, columns: usize) -> (usize, usize) {
    let strip = position / (STRIP * columns);
    let first = strip * STRIP;
    let height = min(rows - first, STRIP);
    let inside = position - first * columns;
    (first + inside % height, inside / height)
}

/// Reads a unit's share of a step. What lies beyond the operand is zero.
#[cube]
pub(crate) fn fetch<E: Float, L: Size, N: Size>(
    buffer: &[Vector<E, L>],
    to: &mut Array<Vector<E, N>>,
    from: &Source,
    step: usize,
    #[comptime] load: Load,
) {
    let chunks = comptime!(load.chunks());
    let lanes = comptime!(load.lanes);
    // Lines of the stage, and the places of 16 bytes in a line.
    let (line, chunk, lines, places) = if comptime!(load.side.deep) {
        (
            from.first,
            step * comptime!(load.depth / lanes),
            from.extent,
            from.inner,
        )
    } else {
        (
            step * load.depth,
            from.first / lanes,
            from.inner,
            from.extent,
        )
    };
    let (line_stride, place_stride) = if comptime!(load.side.deep) {
        (from.stride, from.inner_stride)
    } else {
        (from.inner_stride, from.stride)
    };
    #[unroll]
    for i in 0..comptime!(load.count()) {
        let id = UNIT_POS as usize + comptime!(i * load.units);
        let line = line + id / chunks;
        let chunk = chunk + id % chunks;
        if comptime!(load.side.wide) {
            let buffer = buffer.with_vector_size::<N>();
            let at = from.start / lanes + line * (line_stride / lanes) + chunk;
            if comptime!(load.masked) {
                let mut value = Vector::<E, N>::new(E::from_int(0));
                if line < lines && chunk * lanes < places {
                    value = buffer[at];
                }
                to[i] = value;
            } else {
                to[i] = buffer[at];
            }
        } else {
            let buffer = buffer.with_vector_size::<Const<1>>();
            let mut value = Vector::<E, N>::new(E::from_int(0));
            #[unroll]
            for e in 0..lanes {
                let place = chunk * lanes + e;
                if line < lines && place < places {
                    let at = from.start + line * line_stride + place * place_stride;
                    value.insert(e, buffer[at].extract(0usize));
                }
            }
            to[i] = value;
        }
    }
}

/// Stores two neighbours of a row of the output, whose matrix starts at `start`.
#[cube]
pub(crate) fn store<E: Float, O: Size>(
    output: &mut [Vector<E, O>],
    start: usize,
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
    value: Vector<f32, Const<2>>,
    #[comptime] form: Form,
) {
    let at = start + row * columns + column;
    if comptime!(form.pairs) {
        let output = output.with_vector_size_mut::<Const<2>>();
        if comptime!(form.masked) {
            if row < rows && column < columns {
                output[at / 2] = Vector::cast_from(value);
            }
        } else {
            output[at / 2] = Vector::cast_from(value);
        }
    } else {
        let output = output.with_vector_size_mut::<Const<1>>();
        #[unroll]
        for e in 0..2usize {
            if row < rows && column + e < columns {
                output[at + e] = Vector::new(E::cast_from(value.extract(e)));
            }
        }
    }
}
