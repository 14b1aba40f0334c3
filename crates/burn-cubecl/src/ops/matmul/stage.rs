//! What the tensor-core kernels share: how a cube finds its block, brings parts of the operands to shared memory and hands
//! on the result. Which kernel runs when is in [`matmul`](super).

use crate::ops::epilogue::{Epilogue, write};
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
    /// How a cube loads the first operand.
    pub(crate) const fn left(&self, form: Form, lanes: usize) -> Load {
        Load {
            side: form.lhs,
            masked: form.masked,
            extent: self.rows,
            depth: self.depth,
            lanes,
            units: self.units(),
        }
    }

    /// How a cube loads the second operand.
    pub(crate) const fn right(&self, form: Form, lanes: usize) -> Load {
        Load {
            side: form.rhs,
            extent: self.columns,
            ..self.left(form, lanes)
        }
    }

    /// The 16 by 8 parts of a plane's, along its rows and its columns.
    pub(crate) const fn parts(&self) -> [usize; 2] {
        [self.plane_rows / 16, self.plane_columns / 8]
    }

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
    /// Two columns are computed and stored at once.
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

    /// The place in a padded stage of row, or column, `major` at `depth` of the inner dim.
    pub(crate) const fn place(&self, major: usize, depth: usize) -> usize {
        if self.side.deep {
            major * self.pitch() + depth
        } else {
            depth * self.pitch() + major
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
    pub(crate) extent: usize,
    /// The inner dim.
    pub(crate) inner: usize,
    /// From a row, or column, to the next, in elements.
    stride: usize,
    /// From one step in the inner dim to the next, in elements.
    inner_stride: usize,
}

/// What a plane computes, of which operands.
#[derive(CubeType, Clone, Copy)]
pub(crate) struct Work {
    /// Which product of the batch.
    batch: usize,
    /// The first row of the plane's part, in the block of its cube.
    pub(crate) plane_row: usize,
    /// The first column of the plane's part, in the block of its cube.
    pub(crate) plane_column: usize,
    pub(crate) left: Source,
    pub(crate) right: Source,
}

/// The work of this plane. `layout` holds the sizes of the batch, then what [`source`] reads of both operands.
#[cube]
pub(crate) fn work<I: Int>(
    layout: &Sequence<InputScalar>,
    m: usize,
    n: usize,
    k: usize,
    #[comptime] tile: Tile,
    #[comptime] rank: usize,
) -> Work {
    let rows = (m + comptime!(tile.rows - 1)) / tile.rows;
    let columns = (n + comptime!(tile.columns - 1)) / tile.columns;
    let batch = CUBE_POS / (rows * columns);
    let (block_row, block_column) = block(CUBE_POS % (rows * columns), rows, columns);
    let (row, column) = (block_row * tile.rows, block_column * tile.columns);
    let plane = UNIT_POS as usize / 32;
    let planes = comptime!(tile.columns / tile.plane_columns);
    let rhs_at = comptime!(2 * rank + 3);
    Work {
        batch,
        plane_row: plane / planes * tile.plane_rows,
        plane_column: plane % planes * tile.plane_columns,
        left: source::<I>(layout, batch, row, m, k, rank, rank, true),
        right: source::<I>(layout, batch, column, n, k, rhs_at, rank, false),
    }
}

/// The row and the column of the block at `position` among `rows` by `columns` blocks.
#[cube]
fn block(position: usize, rows: usize, columns: usize) -> (usize, usize) {
    let strip = position / (STRIP * columns);
    let first = strip * STRIP;
    let height = min(rows - first, STRIP);
    let inside = position - first * columns;
    (first + inside % height, inside / height)
}

/// The operand whose arguments are in `layout` from `at` on: the offset, the strides of `rank` batch dims and of the two
/// dims of the matrix.
#[cube]
fn source<I: Int>(
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
    // What steps have in common is added last, so that it is computed once.
    let pitch = line_stride / lanes;
    let base = from.start / lanes + line * pitch + chunk;
    #[unroll]
    for i in 0..comptime!(load.count()) {
        let id = UNIT_POS as usize + comptime!(i * load.units);
        let at = base + (id / chunks * pitch + id % chunks);
        let line = line + id / chunks;
        let chunk = chunk + id % chunks;
        if comptime!(load.side.wide) {
            let buffer = buffer.with_vector_size::<N>();
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

/// The sums of a plane: two rows of pairs for each of its parts.
pub(crate) type Sums = Sequence<Array<Vector<f32, Const<2>>>>;

#[cube]
pub(crate) fn zeros(#[comptime] tile: Tile) -> Sums {
    let mut sums = Sequence::<Array<Vector<f32, Const<2>>>>::new();
    #[unroll]
    for _ in 0..comptime!(tile.parts()[0] * tile.parts()[1]) {
        let mut zero = Array::<Vector<f32, Const<2>>>::new(2usize);
        zero[0] = Vector::new(0.0);
        zero[1] = Vector::new(0.0);
        sums.push(zero);
    }
    sums
}

/// The row and the column of this unit's pair `half` in part `i`, `j` of its plane (PTX ISA, "Matrix Fragments for
/// mma.m16n8k16", whose accumulators lie as those of m16n8k8).
#[cube]
pub(crate) fn pair_at(work: &Work, i: usize, j: usize, half: usize) -> (usize, usize) {
    let lane = UNIT_POS as usize % 32;
    let row = work.left.first + work.plane_row + i * 16 + half * 8 + lane / 4;
    let column = work.right.first + work.plane_column + j * 8 + lane % 4 * 2;
    (row, column)
}

#[cube]
fn is_finite(x: f32) -> bool {
    u32::reinterpret(x) & 0x7f80_0000u32 != 0x7f80_0000u32
}

/// Stores the sums. Returns a bit for each pair with a sum that is not finite, if there are at most 32 pairs.
#[cube]
pub(crate) fn store_all<E: Float, I: Int>(
    epilogue: &mut Epilogue,
    sums: &Sums,
    work: &Work,
    #[comptime] tile: Tile,
    #[comptime] form: Form,
) -> u32 {
    let [rows, columns] = comptime!(tile.parts());
    let mut broken = 0u32;
    #[unroll]
    for i in 0..rows {
        #[unroll]
        for j in 0..columns {
            let sum = sums.index(comptime!(i * columns + j));
            #[unroll]
            for half in 0..2usize {
                let (row, column) = pair_at(work, i, j, half);
                let value = sum[half];
                if comptime!(rows * columns <= 16) {
                    let bit = comptime!(1u32 << ((i * columns + j) * 2 + half));
                    if !(is_finite(value.extract(0usize)) && is_finite(value.extract(1usize))) {
                        broken = broken | bit;
                    }
                }
                store::<E, I>(epilogue, work, row, column, value, form);
            }
        }
    }
    broken
}

/// Stores two neighbours of a row of the output, or what the epilogue makes of them.
#[cube]
pub(crate) fn store<E: Float, I: Int>(
    epilogue: &mut Epilogue,
    work: &Work,
    row: usize,
    column: usize,
    value: Vector<f32, Const<2>>,
    #[comptime] form: Form,
) {
    let (rows, columns) = (work.left.extent, work.right.extent);
    let at = (work.batch * rows + row) * columns + column;
    if comptime!(form.pairs) {
        if comptime!(form.masked) {
            if row < rows && column < columns {
                write::<E, Const<2>, I>(epilogue, Vector::cast_from(value), at / 2);
            }
        } else {
            write::<E, Const<2>, I>(epilogue, Vector::cast_from(value), at / 2);
        }
    } else {
        #[unroll]
        for e in 0..2usize {
            if row < rows && column + e < columns {
                let element = Vector::new(E::cast_from(value.extract(e)));
                write::<E, Const<1>, I>(epilogue, element, at + e);
            }
        }
    }
}
