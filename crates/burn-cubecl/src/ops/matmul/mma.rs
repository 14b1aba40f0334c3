//! Products of f16 and bf16 on tensor cores, summed in f32.
//!
//! Both operands go through shared memory in 16-byte chunks whose order is swizzled, so that `ldmatrix` meets no bank twice.
//! While a step is computed, the next one is on its way into registers.

use super::stage::{Form, Load, Sums, Tile, Work, fetch, store_all, work, zeros};
use crate::ops::epilogue::Epilogue;
use cubecl::cmma::{MatrixIdent, MmaDefinition};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The place of a chunk in its stage: eight lines with the same chunk lie in different banks.
#[cube]
fn swizzled(line: usize, chunk: usize, #[comptime] chunks: usize) -> usize {
    if comptime!(chunks >= 8) {
        line * chunks + (chunk ^ (line % 8))
    } else {
        line * chunks + (chunk ^ (line / comptime!(8 / chunks) % chunks))
    }
}

#[cube]
fn put<E: Float>(
    from: &Array<Vector<E, Const<8>>>,
    stage: &mut [Vector<E, Const<8>>],
    base: usize,
    #[comptime] load: Load,
) {
    let chunks = comptime!(load.chunks());
    #[unroll]
    for i in 0..comptime!(load.count()) {
        let id = UNIT_POS as usize + comptime!(i * load.units);
        stage[base + swizzled(id / chunks, id % chunks, chunks)] = from[i];
    }
}

/// The place of the chunk from which this unit's part of four 8 by 8 matrices comes: 16 rows, or columns, from `first` on,
/// and 16 of the inner dim at `depth`. `transposed` matrices are the second operand's.
#[cube]
fn chunk_of(
    first: usize,
    #[comptime] depth: usize,
    #[comptime] load: Load,
    #[comptime] rhs: bool,
) -> usize {
    let chunks = comptime!(load.chunks());
    let lane = UNIT_POS as usize % 32;
    // The first operand's matrices follow each other along its rows, the second's along the inner dim.
    let (low, high) = (lane % 16, lane / 16);
    let (near, far) = (lane % 8 + lane / 16 * 8, lane / 8 % 2);
    if comptime!(load.side.deep) {
        let (line, chunk) = if comptime!(rhs) {
            (near, far)
        } else {
            (low, high)
        };
        swizzled(first + line, comptime!(depth / 8) + chunk, chunks)
    } else {
        let (line, chunk) = if comptime!(rhs) {
            (low, high)
        } else {
            (near, far)
        };
        swizzled(depth + line, first / 8 + chunk, chunks)
    }
}

/// Adds the products of a step, whose operands start at `bases` in the stages.
#[cube]
fn multiply<E: Float>(
    left_stage: &[Vector<E, Const<8>>],
    right_stage: &[Vector<E, Const<8>>],
    bases: (usize, usize),
    work: &Work,
    sums: &mut Sums,
    #[comptime] tile: Tile,
    #[comptime] form: Form,
) {
    let definition = MmaDefinition::<E, E, f32>::new(16usize, 8usize, 16usize);
    let left = comptime!(tile.left(form, 8));
    let right = comptime!(tile.right(form, 8));
    let [tiles_m, tiles_n] = comptime!(tile.parts());
    #[unroll]
    for s in 0..comptime!(tile.depth / 16) {
        let mut columns = Sequence::<Array<Vector<E, Const<2>>>>::new();
        #[unroll]
        for j in 0..comptime!(tiles_n / 2) {
            let first = work.plane_column + comptime!(j * 16);
            let at = bases.1 + chunk_of(first, comptime!(s * 16), right, true);
            let four = definition.load_matrix::<_, Const<2>>(
                &right_stage[at..at + 1],
                MatrixIdent::B,
                4usize,
                comptime!(!form.rhs.deep),
            );
            let mut one = Array::<Vector<E, Const<2>>>::new(2usize);
            one[0] = four[0];
            one[1] = four[1];
            let mut two = Array::<Vector<E, Const<2>>>::new(2usize);
            two[0] = four[2];
            two[1] = four[3];
            columns.push(one);
            columns.push(two);
        }
        #[unroll]
        for i in 0..tiles_m {
            let first = work.plane_row + comptime!(i * 16);
            let at = bases.0 + chunk_of(first, comptime!(s * 16), left, false);
            let rows = definition.load_matrix::<_, Const<2>>(
                &left_stage[at..at + 1],
                MatrixIdent::A,
                4usize,
                comptime!(!form.lhs.deep),
            );
            #[unroll]
            for j in 0..tiles_n {
                let sum = sums.index_mut(comptime!(i * tiles_n + j));
                definition.execute_inplace(&rows, columns.index(j), sum);
            }
        }
    }
}

/// The product of the matrices of each batch. `layout` is that of [`work`].
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn mma<E: Float, L: Size, R: Size, I: Int>(
    lhs: &[Vector<E, L>],
    rhs: &[Vector<E, R>],
    epilogue: &mut Epilogue,
    layout: &Sequence<InputScalar>,
    m: usize,
    n: usize,
    k: usize,
    #[comptime] tile: Tile,
    #[comptime] form: Form,
    #[define(E)] _elem: ElemType,
    #[define(L, R)] _widths: [usize; 2],
    #[define(I)] _index: ElemType,
) {
    let left = comptime!(tile.left(form, 8));
    let right = comptime!(tile.right(form, 8));
    let left_size = comptime!(tile.rows * tile.depth / 8);
    let right_size = comptime!(tile.columns * tile.depth / 8);
    let mut left_stage = Shared::<[Vector<E, Const<8>>]>::new_slice(comptime!(2 * left_size));
    let mut right_stage = Shared::<[Vector<E, Const<8>>]>::new_slice(comptime!(2 * right_size));
    let work = work::<I>(layout, m, n, k, tile, form.rank);
    let mut sums = zeros(tile);
    let mut left_next = Array::<Vector<E, Const<8>>>::new(comptime!(left.count()));
    let mut right_next = Array::<Vector<E, Const<8>>>::new(comptime!(right.count()));
    fetch::<E, L, Const<8>>(lhs, &mut left_next, &work.left, 0usize, left);
    fetch::<E, R, Const<8>>(rhs, &mut right_next, &work.right, 0usize, right);
    put::<E>(&left_next, &mut left_stage, 0usize, left);
    put::<E>(&right_next, &mut right_stage, 0usize, right);
    sync_cube();

    let steps = (k + comptime!(tile.depth - 1)) / tile.depth;
    for step in 0..steps {
        let next = step + 1;
        if next < steps {
            fetch::<E, L, Const<8>>(lhs, &mut left_next, &work.left, next, left);
            fetch::<E, R, Const<8>>(rhs, &mut right_next, &work.right, next, right);
        }
        let bases = (step % 2 * left_size, step % 2 * right_size);
        multiply::<E>(
            &left_stage,
            &right_stage,
            bases,
            &work,
            &mut sums,
            tile,
            form,
        );
        if next < steps {
            put::<E>(&left_next, &mut left_stage, next % 2 * left_size, left);
            put::<E>(&right_next, &mut right_stage, next % 2 * right_size, right);
        }
        sync_cube();
    }
    store_all::<E, I>(epilogue, &sums, &work, tile, form);
}
