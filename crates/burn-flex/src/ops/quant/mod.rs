//! Floats as codes of few bits and back. Products that read codes are in [`product`]; which floats make which scales is
//! not known here.
//!
//! The storage of a quantized tensor is what [`burn_std::quantization`] says: codes in row-major order, scales behind them.
//! Its layout is always dense.

mod product;
#[cfg(test)]
mod tests;

pub(super) use product::matmul;

use super::module::cast;
use crate::FlexTensor;
use crate::parallel::{Shared, split};
use crate::simd::simd;
use crate::tensor::Layout;
use alloc::vec::Vec;
use burn_ir::{MovementOp, TensorMeta};
use burn_std::quantization::{
    BlockLayout, DecodedScales, QuantScheme, QuantStore, decode_codes, decode_scales, encode,
    global_scale_dtype, params_shape, scale_to_dtype,
};
use burn_std::{Bytes, DType, Shape};

/// The scheme of a quantized tensor.
fn scheme_of(tensor: &FlexTensor) -> QuantScheme {
    match tensor.dtype() {
        DType::QFloat(scheme) => scheme,
        other => unreachable!("the check admits quantized elements only, not {other:?}"),
    }
}

/// The floats of a tensor in row-major order.
fn floats(tensor: FlexTensor) -> FlexTensor {
    cast(tensor, DType::F32).into_contiguous()
}

/// Dense floats as a slice.
fn slice(tensor: &FlexTensor) -> &[f32] {
    let from = tensor.layout().offset * size_of::<f32>();
    bytemuck::cast_slice(&tensor.bytes()[from..from + tensor.len() * size_of::<f32>()])
}

/// The whole scale of each block, row by row: a row is what the last dim runs through.
struct Scales {
    /// By block.
    values: Vec<f32>,
    /// None where one scale serves all.
    layout: Option<BlockLayout>,
    /// Elements of a row.
    row: usize,
    /// Elements of a block in a row.
    block: usize,
}

impl Scales {
    fn new(scheme: &QuantScheme, shape: &Shape, scales: &DecodedScales) -> Self {
        let layout = scheme
            .block_size()
            .map(|size| BlockLayout::new(shape, &size));
        let values = (0..scales.block.len()).map(|at| scales.of(at)).collect();
        let row = shape.last().copied().unwrap_or(1).max(1);
        let block = layout
            .as_ref()
            .map_or(row, |it| it.block()[shape.len() - 1]);
        Self {
            values,
            layout,
            row,
            block,
        }
    }

    /// The first block of a row.
    fn first(&self, row: usize) -> usize {
        let layout = self.layout.as_ref();
        layout.map_or(0, |layout| layout.block_of(row * self.row))
    }

    /// Calls `f` for each row with the scale of each of its elements.
    fn rows(&self, rows: core::ops::Range<usize>, f: &mut dyn FnMut(usize, &[f32])) {
        let mut line = alloc::vec![self.values.first().copied().unwrap_or(1.0); self.row];
        let mut known = self.layout.is_none().then_some(0);
        for row in rows {
            let first = self.first(row);
            if known != Some(first) {
                known = Some(first);
                for (part, scale) in line.chunks_mut(self.block).zip(&self.values[first..]) {
                    part.fill(*scale);
                }
            }
            f(row, &line);
        }
    }
}

/// The elements from `start` on, to write.
///
/// # Safety
/// They are inside the buffer, valid, and nobody else reads or writes them.
unsafe fn part<'a, T>(to: Shared<T>, start: usize, len: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts_mut(to.get().add(start), len) }
}

/// Codes of floats, by the scales as they are stored.
pub(super) fn quantize(
    input: FlexTensor,
    scales: FlexTensor,
    global: Option<FlexTensor>,
    scheme: QuantScheme,
    output: &TensorMeta,
) -> FlexTensor {
    let (input, scales) = (floats(input), floats(scales));
    let stored = |scale: &f32| scale_to_dtype(*scale, scheme.scale_dtype());
    let scales = DecodedScales {
        block: slice(&scales).iter().map(stored).collect(),
        global: global.map(|global| {
            let dtype = global_scale_dtype(&scheme).expect("the check admits two levels only");
            scale_to_dtype(slice(&floats(global))[0], dtype)
        }),
    };
    let by = Scales::new(&scheme, &output.shape, &scales);
    let mut codes = alloc::vec![0i8; input.len()];
    let to = Shared(codes.as_mut_ptr());
    let input = slice(&input);
    let (low, high) = scheme.value.range();
    split(input.len() / by.row, 1, by.row * 8, &|rows| {
        by.rows(rows, &mut |row, scales| {
            let at = row * by.row;
            // SAFETY: each row is written by one part of the work.
            let to = unsafe { part(to, at, by.row) };
            simd(
                #[inline(always)]
                || nearest(&input[at..at + by.row], scales, (low, high), to),
            );
        });
    });
    FlexTensor::contiguous(
        output.clone(),
        Bytes::from_bytes_vec(encode(&codes, &scheme, &scales)),
    )
}

/// Added to a small number, leaves it rounded to the nearest integer, halves to even, in the low bits of the sum: `1.5 · 2^23`.
const ROUND: f32 = 12_582_912.0;

/// The nearest codes; NaN is the code 0.
#[inline(always)]
fn nearest(input: &[f32], scales: &[f32], (low, high): (f32, f32), out: &mut [i8]) {
    for ((out, x), scale) in out.iter_mut().zip(input).zip(scales) {
        let code = x / scale;
        let code = if code.is_nan() { 0.0 } else { code };
        *out = (code.max(low).min(high) + ROUND).to_bits() as i8;
    }
}

/// The floats that codes stand for.
pub(super) fn dequantize(input: FlexTensor, output: &TensorMeta) -> FlexTensor {
    let values = dequantized(&input);
    let meta = TensorMeta::new(output.shape.clone(), DType::F32);
    cast(
        FlexTensor::contiguous(meta, Bytes::from_elems(values)),
        output.dtype,
    )
}

fn dequantized(input: &FlexTensor) -> Vec<f32> {
    let (scheme, shape) = (scheme_of(input), input.shape());
    let bytes: &[u8] = input.bytes();
    let by = Scales::new(&scheme, shape, &decode_scales(bytes, &scheme, shape));
    let mut values = alloc::vec![0.0f32; input.len()];
    let to = Shared(values.as_mut_ptr());
    split(values.len() / by.row, 1, by.row * 8, &|rows| {
        let mut codes = alloc::vec![0i8; by.row];
        by.rows(rows, &mut |row, scales| {
            let at = row * by.row;
            decode_codes(bytes, &scheme, at..at + by.row, &mut codes);
            // SAFETY: each row is written by one part of the work.
            let to = unsafe { part(to, at, by.row) };
            simd(
                #[inline(always)]
                || {
                    for ((to, code), scale) in to.iter_mut().zip(&codes).zip(scales) {
                        *to = f32::from(*code) * scale;
                    }
                },
            );
        });
    });
    values
}

/// The codes of a tensor in row-major order.
fn codes(input: &FlexTensor) -> Vec<i8> {
    let mut codes = alloc::vec![0; input.len()];
    decode_codes(input.bytes(), &scheme_of(input), 0..codes.len(), &mut codes);
    codes
}

/// Codes elsewhere, with their scales.
pub(crate) fn movement(op: MovementOp, input: FlexTensor, output: &TensorMeta) -> FlexTensor {
    let DType::QFloat(to) = output.dtype else {
        unreachable!("the check keeps quantized elements quantized")
    };
    if let MovementOp::Reshape { shape } = op {
        let layout = Layout::contiguous(&shape);
        return input.view(shape, layout);
    }
    let scheme = scheme_of(&input);
    let mut scales = decode_scales(input.bytes(), &scheme, input.shape());
    if scheme.block_size().is_some() {
        let grid = params_shape(input.shape(), &scheme);
        let blocks = Bytes::from_elems(core::mem::take(&mut scales.block));
        let blocks = FlexTensor::contiguous(TensorMeta::new(grid, DType::F32), blocks);
        scales.block = slice(&moved(&op, blocks, params_shape(&output.shape, &to))).to_vec();
    }
    let meta = TensorMeta::new(input.shape().clone(), DType::I8);
    let plain = FlexTensor::contiguous(meta, Bytes::from_elems(codes(&input)));
    let plain = moved(&op, plain, output.shape.clone()).into_bytes();
    let bytes = match to.store {
        QuantStore::Native if scales.block.is_empty() => plain,
        _ => Bytes::from_bytes_vec(encode(bytemuck::cast_slice(&plain), &to, &scales)),
    };
    FlexTensor::contiguous(output.clone(), bytes)
}

fn moved(op: &MovementOp, input: FlexTensor, shape: Shape) -> FlexTensor {
    let meta = TensorMeta::new(shape, input.dtype());
    super::movement::run(op.clone(), input, &meta).into_contiguous()
}
