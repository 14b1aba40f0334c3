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

use super::stage::{Form, Load, Source, Tile, block, element, fetch, source, store};
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

/// The place in a stage of row, or column, `major` at `depth` of the inner dim.
#[cube]
fn at(major: usize, depth: usize, #[comptime] load: Load) -> usize {
    if comptime!(load.side.deep) {
        major * comptime!(load.pitch()) + depth
    } else {
        depth * comptime!(load.pitch()) + major
    }
}

#[cube]
fn is_finite(x: f32) -> bool {
    u32::reinterpret(x) & 0x7f80_0000u32 != 0x7f80_0000u32
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
    k: usize,
) -> f32 {
    let mut sum = 0.0f32;
    let mut depth = 0usize;
    while depth < k {
        let x = element::<f32, L>(lhs, left, row, depth);
        let y = element::<f32, R>(rhs, right, column, depth);
        sum = fma(x, y, sum);
        depth += 1;
        if u32::reinterpret(sum) & 0x7fff_ffffu32 > 0x7f80_0000u32 {
            depth = k;
        }
    }
    sum
}

/// The product of the matrices of each batch. `layout` holds the sizes of the batch, then what [`source`] reads of both
/// operands.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn mma3<L: Size, R: Size, O: Size, I: Int>(
    lhs: &[Vector<f32, L>],
    rhs: &[Vector<f32, R>],
    output: &mut [Vector<f32, O>],
    layout: &Sequence<InputScalar>,
    m: usize,
    n: usize,
    k: usize,
    #[comptime] tile: Tile,
    #[comptime] form: Form,
    #[define(L, R, O)] _widths: [usize; 3],
    #[define(I)] _index: ElemType,
) {
    let left = comptime!(Load {
        side: form.lhs,
        masked: form.masked,
        extent: tile.rows,
        depth: tile.depth,
        lanes: 4,
        units: tile.units(),
    });
    let right = comptime!(Load {
        side: form.rhs,
        extent: tile.columns,
        ..left
    });
    let left_size = comptime!(left.padded());
    let right_size = comptime!(right.padded());
    let mut left_stage = Shared::<[Vector<f32, Const<4>>]>::new_slice(comptime!(left_size / 2));
    let mut right_stage = Shared::<[Vector<f32, Const<4>>]>::new_slice(comptime!(right_size / 2));
    let definition = MmaDefinition::<tf32, tf32, f32>::new(16usize, 8usize, 8usize);

    let blocks_m = (m + comptime!(tile.rows - 1)) / tile.rows;
    let blocks_n = (n + comptime!(tile.columns - 1)) / tile.columns;
    let batch = CUBE_POS / (blocks_m * blocks_n);
    let (block_m, block_n) = block(CUBE_POS % (blocks_m * blocks_n), blocks_m, blocks_n);
    let (row0, column0) = (block_m * tile.rows, block_n * tile.columns);
    let rank = comptime!(form.rank);
    let left_from = source::<I>(layout, batch, row0, m, k, rank, rank, true);
    let right_from = source::<I>(
        layout,
        batch,
        column0,
        n,
        k,
        comptime!(2 * rank + 3),
        rank,
        false,
    );

    let plane = UNIT_POS as usize / 32;
    let lane = UNIT_POS as usize % 32;
    // A unit's place in the fragments of `mma.m16n8k8` (PTX ISA, "Matrix Fragments for mma.m16n8k8").
    let (g, q) = (lane / 4, lane % 4);
    let planes_n = comptime!(tile.columns / tile.plane_columns);
    let plane_m = plane / planes_n * tile.plane_rows;
    let plane_n = plane % planes_n * tile.plane_columns;
    let tiles_m = comptime!(tile.plane_rows / 16);
    let tiles_n = comptime!(tile.plane_columns / 8);

    let mut sums = Sequence::<Array<Vector<f32, Const<2>>>>::new();
    #[unroll]
    for _ in 0..tiles_m * tiles_n {
        let mut zero = Array::<Vector<f32, Const<2>>>::new(2usize);
        zero[0] = Vector::new(0.0);
        zero[1] = Vector::new(0.0);
        sums.push(zero);
    }

    let mut left_next = Array::<Vector<f32, Const<4>>>::new(comptime!(left.count()));
    let mut right_next = Array::<Vector<f32, Const<4>>>::new(comptime!(right.count()));
    fetch::<f32, L, Const<4>>(lhs, &mut left_next, &left_from, 0usize, left);
    fetch::<f32, R, Const<4>>(rhs, &mut right_next, &right_from, 0usize, right);
    put(&left_next, &mut left_stage, 0usize, left);
    put(&right_next, &mut right_stage, 0usize, right);
    sync_cube();

    let steps = (k + comptime!(tile.depth - 1)) / tile.depth;
    for step in 0..steps {
        let next = step + 1;
        if next < steps {
            fetch::<f32, L, Const<4>>(lhs, &mut left_next, &left_from, next, left);
            fetch::<f32, R, Const<4>>(rhs, &mut right_next, &right_from, next, right);
        }
        let left_now = left_stage.with_vector_size::<Const<1>>();
        let right_now = right_stage.with_vector_size::<Const<1>>();
        let left_base = step % 2 * left_size;
        let right_base = step % 2 * right_size;
        #[unroll]
        for s in 0..comptime!(tile.depth / 8) {
            let mut columns_high = Sequence::<Array<Vector<tf32, Const<1>>>>::new();
            let mut columns_low = Sequence::<Array<Vector<tf32, Const<1>>>>::new();
            #[unroll]
            for j in 0..tiles_n {
                let mut high = Array::<Vector<tf32, Const<1>>>::new(2usize);
                let mut low = Array::<Vector<tf32, Const<1>>>::new(2usize);
                #[unroll]
                for r in 0..2usize {
                    let column = plane_n + comptime!(j * 8) + g;
                    let place = at(column, comptime!(s * 8 + r * 4) + q, right);
                    let (h, l) = split(right_now[right_base + place].extract(0usize));
                    high[r] = Vector::new(h);
                    low[r] = Vector::new(l);
                }
                columns_high.push(high);
                columns_low.push(low);
            }
            #[unroll]
            for i in 0..tiles_m {
                let mut high = Array::<Vector<tf32, Const<1>>>::new(4usize);
                let mut low = Array::<Vector<tf32, Const<1>>>::new(4usize);
                #[unroll]
                for r in 0..4usize {
                    let row = plane_m + comptime!(i * 16 + r % 2 * 8) + g;
                    let place = at(row, comptime!(s * 8 + r / 2 * 4) + q, left);
                    let (h, l) = split(left_now[left_base + place].extract(0usize));
                    high[r] = Vector::new(h);
                    low[r] = Vector::new(l);
                }
                #[unroll]
                for j in 0..tiles_n {
                    let mut part = Array::<Vector<f32, Const<2>>>::new(2usize);
                    part[0] = Vector::new(0.0);
                    part[1] = Vector::new(0.0);
                    definition.execute_inplace(&low, columns_high.index(j), &mut part);
                    definition.execute_inplace(&high, columns_low.index(j), &mut part);
                    definition.execute_inplace(&high, columns_high.index(j), &mut part);
                    let sum = sums.index_mut(comptime!(i * tiles_n + j));
                    sum[0] = sum[0] + part[0];
                    sum[1] = sum[1] + part[1];
                }
            }
        }
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

    let start = batch * m * n;
    // One bit for each pair of this unit.
    let mut broken = 0u32;
    #[unroll]
    for i in 0..tiles_m {
        #[unroll]
        for j in 0..tiles_n {
            let sum = sums.index(comptime!(i * tiles_n + j));
            let column = column0 + plane_n + comptime!(j * 8) + q * 2;
            #[unroll]
            for half in 0..2usize {
                let row = row0 + plane_m + comptime!(i * 16 + half * 8) + g;
                let value = sum[half];
                if !(is_finite(value.extract(0usize)) && is_finite(value.extract(1usize))) {
                    broken = broken | comptime!(1u32 << ((i * tiles_n + j) * 2 + half));
                }
                store::<f32, O>(output, start, row, column, m, n, value, form);
            }
        }
    }
    let mut pair = 0usize;
    while broken != 0 {
        if broken & 1 == 1 {
            let (i, j) = (pair / comptime!(tiles_n * 2), pair / 2 % tiles_n);
            let column = column0 + plane_n + j * 8 + q * 2;
            let row = row0 + plane_m + i * 16 + pair % 2 * 8 + g;
            if row < m && column < n {
                // The neighbour of the last column is not stored.
                let second = min(column + 1, n - 1);
                let mut value = Vector::<f32, Const<2>>::new(0.0);
                let one = exact::<L, R>(lhs, rhs, &left_from, &right_from, row, column, k);
                let two = exact::<L, R>(lhs, rhs, &left_from, &right_from, row, second, k);
                value.insert(0usize, one);
                value.insert(1usize, two);
                store::<f32, O>(output, start, row, column, m, n, value, form);
            }
        }
        broken = broken >> 1;
        pair += 1;
    }
}
