//! Products whose elements are computed one by one, by a plane each.

use crate::ops::epilogue::{Epilogue, write};
use crate::ops::kernel::place;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// A plane has 32 units. `layout` is as for [`dot`](super::dot). Rows of `lhs` and columns of `rhs` are read `N` elements at a time, which
/// needs them to be contiguous unless that is one.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn planes<E: Float, A: Float, N: Size, I: Int>(
    lhs: &[Vector<E, N>],
    rhs: &[Vector<E, N>],
    epilogue: &mut Epilogue,
    layout: &Sequence<InputScalar>,
    len: usize,
    rows: usize,
    columns: usize,
    inner: usize,
    #[comptime] rank: usize,
    #[comptime] lanes: usize,
    #[define(E)] _elem: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(N)] _width: usize,
    #[define(I)] _index: ElemType,
) {
    let plane = ABSOLUTE_POS / 32;
    let lane = ABSOLUTE_POS % 32;
    if plane < len {
        let column = plane % columns;
        let row = plane / columns % rows;
        let batch = plane / columns / rows;
        let rhs_at = comptime!(2 * rank + 3);
        let row_stride = usize::cast_from(layout[comptime!(2 * rank + 1)].get::<I>());
        let lhs_stride = usize::cast_from(layout[comptime!(2 * rank + 2)].get::<I>());
        let rhs_stride = usize::cast_from(layout[comptime!(rhs_at + 1 + rank)].get::<I>());
        let column_stride = usize::cast_from(layout[comptime!(rhs_at + 2 + rank)].get::<I>());
        let lhs_start = place::<I>(batch, layout, 0usize, rank, rank, false) + row * row_stride;
        let rhs_start =
            place::<I>(batch, layout, 0usize, rank, rhs_at, false) + column * column_stride;
        let mut sum = Vector::<A, N>::new(A::from_int(0));
        let count = inner / lanes;
        // As many loads ahead as registers allow.
        let ahead = comptime!(if lanes == 1 { 4usize } else { 2 });
        let whole = count / comptime!(ahead * 32);
        for step in 0..whole {
            let mut left = Array::<Vector<E, N>>::new(ahead);
            let mut right = Array::<Vector<E, N>>::new(ahead);
            #[unroll]
            for i in 0..ahead {
                let at = step * comptime!(ahead * 32) + comptime!(i * 32) + lane;
                if comptime!(lanes == 1) {
                    left[i] = lhs[lhs_start + at * lhs_stride];
                    right[i] = rhs[rhs_start + at * rhs_stride];
                } else {
                    left[i] = lhs[lhs_start / lanes + at];
                    right[i] = rhs[rhs_start / lanes + at];
                }
            }
            #[unroll]
            for i in 0..ahead {
                sum = fma(Vector::cast_from(left[i]), Vector::cast_from(right[i]), sum);
            }
        }
        let mut at = whole * comptime!(ahead * 32) + lane;
        while at < count {
            if comptime!(lanes == 1) {
                let left = Vector::cast_from(lhs[lhs_start + at * lhs_stride]);
                let right = Vector::cast_from(rhs[rhs_start + at * rhs_stride]);
                sum = fma(left, right, sum);
            } else {
                let left = Vector::cast_from(lhs[lhs_start / lanes + at]);
                let right = Vector::cast_from(rhs[rhs_start / lanes + at]);
                sum = fma(left, right, sum);
            }
            at += 32;
        }
        let mut total = sum.extract(0usize);
        #[unroll]
        for e in 1..lanes {
            total += sum.extract(e);
        }
        let total = plane_sum(total);
        if lane == 0 {
            write::<E, Const<1>, I>(epilogue, Vector::new(E::cast_from(total)), plane);
        }
    }
}
