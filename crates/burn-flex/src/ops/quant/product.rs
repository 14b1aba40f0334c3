//! Matrix products that read codes.
//!
//! - Codes of one byte under one scale on both sides: products of integers, exact in `i32`, and one product of scales.
//! - Few rows of floats, codes on the right: each code is read once, and widened in registers.
//! - Else the floats that the codes stand for are multiplied.

use super::{Scales, codes, dequantized, part, scheme_of, slice};
use crate::FlexTensor;
use crate::ops::matmul::run;
use crate::ops::module::cast;
use crate::parallel::{NANOSECOND, Shared, split};
use crate::simd::simd;
use alloc::vec::Vec;
use burn_ir::TensorMeta;
use burn_std::quantization::{decode_codes, decode_scales};
use burn_std::{Bytes, DType};

/// Rows of floats up to which reading codes in place is faster than making floats of them first.
const FEW: usize = 8;

/// Terms of a sum of products of codes that an `i32` holds: `2^31 / 128²`.
const TERMS: usize = 1 << 17;

/// Rows and columns that a part of an integer product goes through while they are in cache.
const TILE: usize = 16;

/// `lhs · rhs`, at least one of them quantized.
pub(in crate::ops) fn matmul(lhs: FlexTensor, rhs: FlexTensor, output: &TensorMeta) -> FlexTensor {
    if output.dtype == DType::F64 {
        return run(plain(lhs, DType::F64), plain(rhs, DType::F64), output);
    }
    let product = TensorMeta::new(output.shape.clone(), DType::F32);
    let rank = output.rank();
    let (m, k) = (lhs.shape()[rank - 2], lhs.shape()[rank - 1]);
    let single = |side: &FlexTensor| side.shape()[..rank - 2].iter().all(|size| *size == 1);
    let values = match (lhs.dtype(), rhs.dtype()) {
        (DType::QFloat(left), DType::QFloat(right))
            if single(&lhs)
                && single(&rhs)
                && k < TERMS
                && left.block_size().is_none()
                && right.block_size().is_none() =>
        {
            Some(integers(&lhs, &rhs))
        }
        (left, DType::QFloat(_))
            if !left.is_quantized() && single(&lhs) && single(&rhs) && m <= FEW =>
        {
            Some(few(&super::floats(lhs.clone()), &rhs))
        }
        _ => None,
    };
    let values = match values {
        Some(values) => FlexTensor::contiguous(product, Bytes::from_elems(values)),
        None => run(plain(lhs, DType::F32), plain(rhs, DType::F32), &product),
    };
    cast(values, output.dtype)
}

/// A side as floats.
fn plain(side: FlexTensor, dtype: DType) -> FlexTensor {
    let floats = match side.dtype() {
        DType::QFloat(_) => {
            let meta = TensorMeta::new(side.shape().clone(), DType::F32);
            FlexTensor::contiguous(meta, Bytes::from_elems(dequantized(&side)))
        }
        _ => side,
    };
    cast(floats, dtype)
}

/// Products of codes, whose sums are exact.
fn integers(lhs: &FlexTensor, rhs: &FlexTensor) -> Vec<f32> {
    let scale = |side: &FlexTensor| {
        let scales = decode_scales(side.bytes(), &scheme_of(side), side.shape());
        scales.of(0)
    };
    let rank = lhs.shape().len();
    let (m, k, n) = (
        lhs.shape()[rank - 2],
        lhs.shape()[rank - 1],
        rhs.shape()[rank - 1],
    );
    let scale = scale(lhs) * scale(rhs);
    let wide = |code: i8| i16::from(code);
    let rows: Vec<i16> = codes(lhs).into_iter().map(wide).collect();
    let right = codes(rhs);
    let mut columns = alloc::vec![0i16; k * n];
    for (row, line) in right.chunks(n.max(1)).enumerate() {
        for (column, code) in line.iter().enumerate() {
            columns[column * k + row] = wide(*code);
        }
    }
    let mut out = alloc::vec![0.0f32; m * n];
    let to = Shared(out.as_mut_ptr());
    split(
        m.div_ceil(TILE),
        1,
        TILE * n * k * NANOSECOND / 16,
        &|tiles| {
            for tile in tiles {
                let range = tile * TILE..m.min((tile + 1) * TILE);
                for first in (0..n).step_by(TILE) {
                    for row in range.clone() {
                        let many = TILE.min(n - first);
                        // SAFETY: each tile of rows is written by one part of the work.
                        let to = unsafe { part(to, row * n + first, many) };
                        let left = &rows[row * k..(row + 1) * k];
                        let right = &columns[first * k..(first + many) * k];
                        simd(
                            #[inline(always)]
                            || dots(left, right, scale, to),
                        );
                    }
                }
            }
        },
    );
    out
}

/// The product of one row with each column.
#[inline(always)]
fn dots(row: &[i16], columns: &[i16], scale: f32, out: &mut [f32]) {
    for (column, out) in out.iter_mut().enumerate() {
        let column = &columns[column * row.len()..(column + 1) * row.len()];
        let sum: i32 = row
            .iter()
            .zip(column)
            .map(|(x, y)| i32::from(*x) * i32::from(*y))
            .sum();
        *out = sum as f32 * scale;
    }
}

/// Few rows of floats times codes, which are read once: a part of the columns at a time, row by row.
fn few(lhs: &FlexTensor, rhs: &FlexTensor) -> Vec<f32> {
    const COLUMNS: usize = 256;
    let rank = rhs.shape().len();
    let (m, k, n) = (
        lhs.shape()[rank - 2],
        lhs.shape()[rank - 1],
        rhs.shape()[rank - 1],
    );
    let (scheme, bytes): (_, &[u8]) = (scheme_of(rhs), rhs.bytes());
    let by = Scales::new(
        &scheme,
        rhs.shape(),
        &decode_scales(bytes, &scheme, rhs.shape()),
    );
    let left = slice(lhs);
    let mut out = alloc::vec![0.0f32; m * n];
    let to = Shared(out.as_mut_ptr());
    split(n.div_ceil(COLUMNS), 1, COLUMNS * k * (m + 1), &|parts| {
        for first in parts.map(|part| part * COLUMNS) {
            let many = COLUMNS.min(n - first);
            let mut line = alloc::vec![0i8; many];
            let mut sums = alloc::vec![0.0f32; m * many];
            let mut wide = alloc::vec![0.0f32; many];
            by.rows(0..k, &mut |row, scales| {
                let at = row * n + first;
                decode_codes(bytes, &scheme, at..at + many, &mut line);
                simd(
                    #[inline(always)]
                    || {
                        let scales = &scales[first..first + many];
                        for ((wide, code), scale) in wide.iter_mut().zip(&line).zip(scales) {
                            *wide = f32::from(*code) * scale;
                        }
                        for (of, sums) in sums.chunks_exact_mut(many).enumerate() {
                            let x = left[of * k + row];
                            for (sum, weight) in sums.iter_mut().zip(&wide) {
                                *sum += x * weight;
                            }
                        }
                    },
                );
            });
            for (row, sums) in sums.chunks_exact(many).enumerate() {
                // SAFETY: each part of the columns is written by one part of the work.
                unsafe { part(to, row * n + first, many) }.copy_from_slice(sums);
            }
        }
    });
    out
}
