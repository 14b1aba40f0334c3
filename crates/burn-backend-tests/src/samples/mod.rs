//! The table: every leaf of every family, with its meaning, its element types and inputs that probe it.
//!
//! Tolerances are in units in the last place of f64 and f32. Operations of IEEE 754 that round correctly have none (f32
//! results compared with f64 ones rounded once are exact for `+ - × ÷ √`, Figueroa 1995). The others get what a good
//! library function and the reference may be off together.

mod activation;
mod binary;
mod cast;
mod compare;
mod create;
mod index;
mod join;
mod matmul;
mod module;
mod movement;
mod quant;
mod reduce;
mod scan;
mod select;
mod sort;
mod unary;

use crate::Sample;
use burn_std::{BoolStore, DType};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

const NATIVE: DType = DType::Bool(BoolStore::Native);
const FLOATS: &[DType] = &[DType::F64, DType::F32, DType::F16, DType::BF16];
const INTS: &[DType] = &[
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
];
const BOOLS: &[DType] = &[
    NATIVE,
    DType::Bool(BoolStore::U8),
    DType::Bool(BoolStore::U32),
];
const ANY: &[DType] = &[
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
    NATIVE,
    DType::Bool(BoolStore::U8),
    DType::Bool(BoolStore::U32),
];
const NUMERIC: &[DType] = ANY.split_at(12).0;
const BITS: &[DType] = ANY.split_at(4).1;

/// Elementwise samples have this shape where values are compared: longer than a vector register, and no multiple of
/// one.
const WIDE: [usize; 3] = [2, 3, 19];

/// The table.
pub fn all() -> Vec<Sample> {
    [
        create::samples(),
        cast::samples(),
        unary::samples(),
        binary::samples(),
        compare::samples(),
        select::samples(),
        reduce::samples(),
        movement::samples(),
        matmul::samples(),
        activation::samples(),
        join::samples(),
        index::samples(),
        scan::samples(),
        sort::samples(),
        module::samples(),
        quant::samples(),
    ]
    .concat()
}
