//! Products with few rows: each cube computes some columns of one row, its units share the inner dim.

use super::epilogue::{Epilogue, write};
use super::kernel::place;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// How a cube is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slices {
    /// The columns of a cube.
    pub(crate) columns: usize,
    /// Neighbours of a row that a unit reads at once.
    pub(crate) lanes: usize,
    pub(crate) units: usize,
    /// The rows that a unit reads before it uses the first.
    pub(crate) ahead: usize,
}

impl Slices {
    /// The units beside each other along a row.
    const fn beside(&self) -> usize {
        self.columns / self.lanes
    }

    /// The rows that the units read together.
    const fn rows(&self) -> usize {
        self.units / self.beside()
    }
}

/// The sum of a unit's slice. `left` and `right` are where its first element is, and how far the next is from it.
#[cube]
fn slice<E: Float, A: Float, N: Size>(
    lhs: &[E],
    rhs: &[Vector<E, N>],
    left: (usize, usize),
    right: (usize, usize),
    k: usize,
    #[comptime] slices: Slices,
) -> Vector<A, N> {
    let rows = comptime!(slices.rows());
    let ahead = comptime!(slices.ahead);
    let first = UNIT_POS as usize / comptime!(slices.beside());
    let mut sum = Vector::<A, N>::new(A::from_int(0));
    let steps = k / comptime!(rows * ahead);
    if steps > 0 {
        let mut read = Array::<Vector<E, N>>::new(ahead);
        let mut factor = Array::<E>::new(ahead);
        #[unroll]
        for i in 0..ahead {
            let at = first + comptime!(i * rows);
            read[i] = rhs[right.0 + at * right.1];
            factor[i] = lhs[left.0 + at * left.1];
        }
        // What is used was read a whole round before. A compiler that saves registers cannot delay reads to their use, as it
        // would if they were of the same round, and the memory stays busy.
        for step in 1..steps {
            #[unroll]
            for i in 0..ahead {
                sum = fma(
                    Vector::new(A::cast_from(factor[i])),
                    Vector::cast_from(read[i]),
                    sum,
                );
                let at = step * comptime!(rows * ahead) + first + comptime!(i * rows);
                read[i] = rhs[right.0 + at * right.1];
                factor[i] = lhs[left.0 + at * left.1];
            }
        }
        #[unroll]
        for i in 0..ahead {
            sum = fma(
                Vector::new(A::cast_from(factor[i])),
                Vector::cast_from(read[i]),
                sum,
            );
        }
    }
    let mut at = steps * comptime!(rows * ahead) + first;
    while at < k {
        let factor = A::cast_from(lhs[left.0 + at * left.1]);
        let read = Vector::cast_from(rhs[right.0 + at * right.1]);
        sum = fma(Vector::new(factor), read, sum);
        at += rows;
    }
    sum
}

/// `layout` holds the sizes of the batch, then for both operands the offset, the strides in the batch and in the matrix.
///
/// The sum of an element is that of its slices in their order, whatever runs beside it.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn gemv<E: Float, A: Float, N: Size, I: Int>(
    lhs: &[E],
    rhs: &[Vector<E, N>],
    epilogue: &mut Epilogue,
    layout: &Sequence<InputScalar>,
    cubes: usize,
    m: usize,
    n: usize,
    k: usize,
    #[comptime] rank: usize,
    #[comptime] slices: Slices,
    #[define(E)] _elem: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(N)] _width: usize,
    #[define(I)] _index: ElemType,
) {
    let lanes = comptime!(slices.lanes);
    let beside = comptime!(slices.beside());
    let rows = comptime!(slices.rows());
    let mut parts = Shared::<[A]>::new_slice(comptime!(rows * slices.columns));
    // The same for all units of a cube: barriers inside are met by all or none.
    if CUBE_POS < cubes {
        let blocks = (n + comptime!(slices.columns - 1)) / slices.columns;
        let first = CUBE_POS % blocks * slices.columns;
        let row = CUBE_POS / blocks % m;
        let batch = CUBE_POS / blocks / m;
        let lhs_at = comptime!(rank);
        let rhs_at = comptime!(2 * rank + 3);
        let row_stride = usize::cast_from(layout[comptime!(lhs_at + 1 + rank)].get::<I>());
        let lhs_stride = usize::cast_from(layout[comptime!(lhs_at + 2 + rank)].get::<I>());
        let rhs_stride = usize::cast_from(layout[comptime!(rhs_at + 1 + rank)].get::<I>());
        let column_stride = usize::cast_from(layout[comptime!(rhs_at + 2 + rank)].get::<I>());
        let lhs_start = place::<I>(batch, layout, 0usize, rank, lhs_at, false) + row * row_stride;
        let rhs_start = place::<I>(batch, layout, 0usize, rank, rhs_at, false);
        let unit = UNIT_POS as usize;
        // Units beyond the last column read the last ones again, and store nothing.
        let column = min(first + unit % beside * lanes, n - lanes);
        let (start, pitch) = if comptime!(lanes == 1) {
            (rhs_start + column * column_stride, rhs_stride)
        } else {
            ((rhs_start + column) / lanes, rhs_stride / lanes)
        };
        let left = (lhs_start, lhs_stride);
        let sum = slice::<E, A, N>(lhs, rhs, left, (start, pitch), k, slices);
        #[unroll]
        for e in 0..lanes {
            let place = unit / beside * slices.columns + unit % beside * lanes + e;
            parts[place] = sum.extract(e);
        }
        sync_cube();
        if unit < slices.columns && first + unit < n {
            let mut total = A::from_int(0);
            for slice in 0..rows {
                total += parts[slice * slices.columns + unit];
            }
            let at = (batch * m + row) * n + first + unit;
            write::<E, Const<1>, I>(epilogue, Vector::new(E::cast_from(total)), at);
        }
    }
}
