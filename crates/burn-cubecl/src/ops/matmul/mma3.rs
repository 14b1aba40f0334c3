//! Products of f32 on tensor cores, to the accuracy of f32.
//!
//! A tensor core rounds f32 to the 10 bits of tf32. So each factor is split without error into `high + low`, where `high`
//! holds its first bits and `low` the rest, and the product is `low·high + high·low + high·high`: what is dropped,
//! `low·low` and the last bits of `low`, is below 2⁻²¹ of the product (Ootomo and Yokota, "Recovering single precision
//! accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance", 2022, equations 5 to 8). Tensor
//! cores also truncate their sums, so only eight products are summed inside; all other sums are rounded additions of f32.
//! Measured against f64 on an inner dim of 4,096, the largest error is a third of that of plain multiply-adds.
//!
//! An infinity has no such split, and neither has what overflows: pairs of results with one that is not finite are computed
//! again by plain multiply-adds.

use super::stage::{
    Form, Load, Source, Sums, Tile, Work, element, fetch, pair_at, store, store_all, work, zeros,
};
use crate::ops::epilogue::Epilogue;
use cubecl::cmma::MmaDefinition;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::tf32;

#[cube]
fn tf<T: Numeric>(x: f32) -> T {
    T::reinterpret(x)
}

/// The first bits and the rest.
#[cube]
fn split(x: f32) -> (tf32, tf32) {
    let high = f32::reinterpret(u32::reinterpret(x) & 0xffff_e000u32);
    let low = x - high;
    (tf::<tf32>(high), tf::<tf32>(low))
}

#[cube]
fn put(
    from: &Array<Vector<f32, Const<4>>>,
    stage: &mut [Vector<f32, Const<4>>],
    base: usize,
    #[comptime] load: Load,
) {
    let chunks = comptime!(load.chunks());
    #[unroll]
    for i in 0..comptime!(load.count()) {
        let id = UNIT_POS as usize + comptime!(i * load.units);
        stage[base + id / chunks * comptime!(load.pitch() / 4) + id % chunks] = from[i];
    }
}

/// The place in a stage of this unit's first element (PTX ISA, "Matrix Fragments for mma.m16n8k8") of rows, or columns, from
/// `first` on. What is the same for all units is added last, as a constant of the instruction that loads.
#[cube]
fn own(first: usize, #[comptime] load: Load) -> usize {
    let lane = UNIT_POS as usize % 32;
    let (major, depth) = (first + lane / 4, lane % 4);
    if comptime!(load.side.deep) {
        major * comptime!(load.pitch()) + depth
    } else {
        depth * comptime!(load.pitch()) + major
    }
}

/// An element by plain multiply-adds. NaN stays NaN, so it ends the loop.
#[cube]
fn exact<L: Size, R: Size>(
    lhs: &[Vector<f32, L>],
    rhs: &[Vector<f32, R>],
    left: &Source,
    right: &Source,
    row: usize,
    column: usize,
) -> f32 {
    let mut sum = 0.0f32;
    let mut depth = 0usize;
    while depth < left.inner {
        let x = element::<f32, L>(lhs, left, row, depth);
        let y = element::<f32, R>(rhs, right, column, depth);
        sum = fma(x, y, sum);
        depth += 1;
        if u32::reinterpret(sum) & 0x7fff_ffffu32 > 0x7f80_0000u32 {
            depth = left.inner;
        }
    }
    sum
}

/// A factor in tf32, in two parts.
#[derive(CubeType)]
struct Halves {
    high: Array<Vector<tf32, Const<1>>>,
    low: Array<Vector<tf32, Const<1>>>,
}

/// This unit's share of an 8-deep part of an operand: of eight rows, or columns, from `first` on, or of sixteen. `own` is
/// where the share would be if `first` and `depth` were 0.
#[cube]
fn halves(
    stage: &[Vector<f32, Const<1>>],
    own: usize,
    #[comptime] first: usize,
    #[comptime] depth: usize,
    #[comptime] load: Load,
    #[comptime] lines: usize,
) -> Halves {
    let eights = comptime!(lines / 8);
    let mut high = Array::<Vector<tf32, Const<1>>>::new(comptime!(2 * eights));
    let mut low = Array::<Vector<tf32, Const<1>>>::new(comptime!(2 * eights));
    #[unroll]
    for r in 0..comptime!(2 * eights) {
        let place = own + comptime!(load.place(first + r % eights * 8, depth + r / eights * 4));
        let (h, l) = split(stage[place].extract(0usize));
        high[r] = Vector::new(h);
        low[r] = Vector::new(l);
    }
    Halves { high, low }
}

/// Adds the products of a step, whose operands start at `bases` in the stages.
#[cube]
fn multiply(
    left_stage: &[Vector<f32, Const<4>>],
    right_stage: &[Vector<f32, Const<4>>],
    bases: (usize, usize),
    work: &Work,
    sums: &mut Sums,
    #[comptime] tile: Tile,
    #[comptime] form: Form,
) {
    let definition = MmaDefinition::<tf32, tf32, f32>::new(16usize, 8usize, 8usize);
    let left = comptime!(tile.left(form, 4));
    let right = comptime!(tile.right(form, 4));
    let [tiles_m, tiles_n] = comptime!(tile.parts());
    let left_now = left_stage.with_vector_size::<Const<1>>();
    let right_now = right_stage.with_vector_size::<Const<1>>();
    let left_own = bases.0 + own(work.plane_row, left);
    let right_own = bases.1 + own(work.plane_column, right);
    #[unroll]
    for s in 0..comptime!(tile.depth / 8) {
        let mut columns = Sequence::<Halves>::new();
        #[unroll]
        for j in 0..tiles_n {
            columns.push(halves(
                right_now,
                right_own,
                comptime!(j * 8),
                comptime!(s * 8),
                right,
                8usize,
            ));
        }
        #[unroll]
        for i in 0..tiles_m {
            let rows = halves(
                left_now,
                left_own,
                comptime!(i * 16),
                comptime!(s * 8),
                left,
                16usize,
            );
            #[unroll]
            for j in 0..tiles_n {
                let mut part = Array::<Vector<f32, Const<2>>>::new(2usize);
                part[0] = Vector::new(0.0);
                part[1] = Vector::new(0.0);
                let column = columns.index(j);
                definition.execute_inplace(&rows.low, &column.high, &mut part);
                definition.execute_inplace(&rows.high, &column.low, &mut part);
                definition.execute_inplace(&rows.high, &column.high, &mut part);
                let sum = sums.index_mut(comptime!(i * tiles_n + j));
                sum[0] = sum[0] + part[0];
                sum[1] = sum[1] + part[1];
            }
        }
    }
}

/// Computes the pairs again whose bits are set.
#[cube]
fn repair<L: Size, R: Size, I: Int>(
    lhs: &[Vector<f32, L>],
    rhs: &[Vector<f32, R>],
    epilogue: &mut Epilogue,
    broken: u32,
    work: &Work,
    #[comptime] tile: Tile,
    #[comptime] form: Form,
) {
    let columns = comptime!(tile.parts()[1]);
    let mut rest = broken;
    let mut pair = 0usize;
    while rest != 0 {
        if rest & 1 == 1 {
            let (i, j) = (pair / comptime!(columns * 2), pair / 2 % columns);
            let (row, column) = pair_at(work, i, j, pair % 2);
            if row < work.left.extent && column < work.right.extent {
                // The neighbour of the last column is not stored.
                let second = min(column + 1, work.right.extent - 1);
                let one = exact::<L, R>(lhs, rhs, &work.left, &work.right, row, column);
                let two = exact::<L, R>(lhs, rhs, &work.left, &work.right, row, second);
                let mut value = Vector::<f32, Const<2>>::new(0.0);
                value.insert(0usize, one);
                value.insert(1usize, two);
                store::<f32, I>(epilogue, work, row, column, value, form);
            }
        }
        rest = rest >> 1;
        pair += 1;
    }
}

/// The product of the matrices of each batch. `layout` is that of [`work`].
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn mma3<L: Size, R: Size, I: Int>(
    lhs: &[Vector<f32, L>],
    rhs: &[Vector<f32, R>],
    epilogue: &mut Epilogue,
    layout: &Sequence<InputScalar>,
    m: usize,
    n: usize,
    k: usize,
    #[comptime] tile: Tile,
    #[comptime] form: Form,
    #[define(L, R)] _widths: [usize; 2],
    #[define(I)] _index: ElemType,
) {
    let left = comptime!(tile.left(form, 4));
    let right = comptime!(tile.right(form, 4));
    let left_size = comptime!(left.padded());
    let right_size = comptime!(right.padded());
    let mut left_stage = Shared::<[Vector<f32, Const<4>>]>::new_slice(comptime!(left_size / 2));
    let mut right_stage = Shared::<[Vector<f32, Const<4>>]>::new_slice(comptime!(right_size / 2));
    let work = work::<I>(layout, m, n, k, tile, form.rank);
    let mut sums = zeros(tile);
    let mut left_next = Array::<Vector<f32, Const<4>>>::new(comptime!(left.count()));
    let mut right_next = Array::<Vector<f32, Const<4>>>::new(comptime!(right.count()));
    fetch::<f32, L, Const<4>>(lhs, &mut left_next, &work.left, 0usize, left);
    fetch::<f32, R, Const<4>>(rhs, &mut right_next, &work.right, 0usize, right);
    put(&left_next, &mut left_stage, 0usize, left);
    put(&right_next, &mut right_stage, 0usize, right);
    sync_cube();

    let steps = (k + comptime!(tile.depth - 1)) / tile.depth;
    for step in 0..steps {
        let next = step + 1;
        if next < steps {
            fetch::<f32, L, Const<4>>(lhs, &mut left_next, &work.left, next, left);
            fetch::<f32, R, Const<4>>(rhs, &mut right_next, &work.right, next, right);
        }
        let bases = (step % 2 * left_size, step % 2 * right_size);
        multiply(
            &left_stage,
            &right_stage,
            bases,
            &work,
            &mut sums,
            tile,
            form,
        );
        if next < steps {
            put(
                &left_next,
                &mut left_stage,
                next % 2 * comptime!(left_size / 4),
                left,
            );
            put(
                &right_next,
                &mut right_stage,
                next % 2 * comptime!(right_size / 4),
                right,
            );
        }
        sync_cube();
    }
    let broken = store_all::<f32, I>(epilogue, &sums, &work, tile, form);
    repair::<L, R, I>(lhs, rhs, epilogue, broken, &work, tile, form);
}
