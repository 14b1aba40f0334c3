//! Products whose elements are computed one by one, by a unit each.

use crate::ops::cast::converted;
use crate::ops::epilogue::{Epilogue, write};
use crate::ops::kernel::place;
use crate::ops::reduce::{combine, element};
use burn_ir::BinaryOp;
use burn_std::DType;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// `layout` holds the sizes of the batch, then for both operands the offset, the strides in the batch and in the matrix.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn dot<E: Numeric, A: Numeric, I: Int>(
    lhs: &[Vector<E, Const<1>>],
    rhs: &[Vector<E, Const<1>>],
    epilogue: &mut Epilogue,
    layout: &Sequence<InputScalar>,
    len: usize,
    rows: usize,
    columns: usize,
    inner: usize,
    #[comptime] dtype: DType,
    #[comptime] rank: usize,
    #[define(E)] _elem: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < len {
        let column = ABSOLUTE_POS % columns;
        let row = ABSOLUTE_POS / columns % rows;
        let batch = ABSOLUTE_POS / columns / rows;
        let lhs_at = comptime!(rank);
        let rhs_at = comptime!(2 * rank + 3);
        let lhs_start = place::<I>(batch, layout, 0usize, rank, lhs_at, false);
        let rhs_start = place::<I>(batch, layout, 0usize, rank, rhs_at, false);
        let row_stride = layout[comptime!(lhs_at + 1 + rank)].get::<I>();
        let lhs_stride = layout[comptime!(lhs_at + 2 + rank)].get::<I>();
        let rhs_stride = layout[comptime!(rhs_at + 1 + rank)].get::<I>();
        let column_stride = layout[comptime!(rhs_at + 2 + rank)].get::<I>();
        let mut lhs_place = I::cast_from(lhs_start) + I::cast_from(row) * row_stride;
        let mut rhs_place = I::cast_from(rhs_start) + I::cast_from(column) * column_stride;
        let mut sum = Vector::<A, Const<1>>::new(A::from_int(0));
        for _ in 0..inner {
            let left = element::<E, Const<1>, A, I>(lhs, lhs_place);
            let right = element::<E, Const<1>, A, I>(rhs, rhs_place);
            let product = combine::<A, Const<1>>(left, right, BinaryOp::Mul, dtype);
            sum = combine::<A, Const<1>>(sum, product, BinaryOp::Add, dtype);
            lhs_place += lhs_stride;
            rhs_place += rhs_stride;
        }
        write::<E, Const<1>, I>(epilogue, converted::<A, E, Const<1>>(sum), ABSOLUTE_POS);
    }
}
