//! Codes and their scales in one run of bytes: the codes, the scales of blocks, the scale of scales.

use super::{QuantScheme, QuantStore, global_scale_dtype, params_shape, quantizable, scale_size};
use crate::quantization::{BlockSize, ScaleDtype};
use crate::{Bytes, DType, Metadata, Shape};
use alloc::vec::Vec;
use bytemuck::{NoUninit, checked::CheckedBitPattern};
use core::ops::Range;

/// The largest alignment of a scale, in bytes: what a device puts its scales to, where they have a place of their own. In
/// the bytes of a tensor they follow the codes directly.
pub const QPARAM_ALIGN: usize = 4;

/// Which elements share a scale. Blocks at the end of a dim may be smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLayout {
    shape: Shape,
    block: Shape,
    grid: Shape,
}

impl BlockLayout {
    /// The blocks of a tensor.
    ///
    /// # Panics
    /// If the block has more dims than the tensor.
    #[track_caller]
    pub fn new(shape: &Shape, size: &BlockSize) -> Self {
        let block: Shape = size
            .to_dim_vec(shape.rank())
            .into_iter()
            .map(usize::from)
            .collect();
        let grid = shape
            .iter()
            .zip(&block)
            .map(|(size, block)| size.div_ceil(*block))
            .collect();
        Self {
            shape: shape.clone(),
            block,
            grid,
        }
    }

    /// The size of a block in each dim.
    pub fn block(&self) -> &Shape {
        &self.block
    }

    /// The number of blocks along each dim.
    pub fn grid(&self) -> &Shape {
        &self.grid
    }

    /// The number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.grid.num_elements()
    }

    /// Whether all blocks are whole.
    pub fn divides(&self) -> bool {
        let mut dims = self.shape.iter().zip(&self.block);
        dims.all(|(size, block)| size.is_multiple_of(*block))
    }

    /// The block of an element; both are counted in row-major order.
    pub fn block_of(&self, element: usize) -> usize {
        let (mut rest, mut block, mut stride) = (element, 0, 1);
        for dim in (0..self.shape.rank()).rev() {
            block += rest % self.shape[dim] / self.block[dim] * stride;
            rest /= self.shape[dim];
            stride *= self.grid[dim];
        }
        block
    }
}

/// The scales of a tensor as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedScales {
    /// One for each block, or a single one.
    pub block: Vec<f32>,
    /// The scale of the scales.
    pub global: Option<f32>,
}

impl DecodedScales {
    /// The whole scale of a block.
    pub fn of(&self, block: usize) -> f32 {
        self.block[block] * self.global.unwrap_or(1.0)
    }
}

/// A quantized tensor as it is stored.
#[derive(Clone, Debug)]
pub struct QuantizedBytes {
    /// Codes and scales.
    pub bytes: Bytes,
    /// The sizes of the tensor.
    pub shape: Shape,
    /// How it is quantized.
    pub scheme: QuantScheme,
}

/// One of the runs of scales of a tensor where its device keeps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QParamTensor {
    /// The first byte, from the start of the tensor's buffer.
    pub offset_start: usize,
    /// The byte behind the last.
    pub offset_end: usize,
    /// How many scales there are along each dim.
    pub metadata: Metadata,
    /// How a scale is stored.
    pub dtype: DType,
}

/// Bytes of a tensor: its codes and all its scales.
///
/// # Panics
/// If blocks have more dims than the tensor, or the bytes cannot be counted.
#[track_caller]
pub fn quantized_data_len(scheme: &QuantScheme, shape: &Shape) -> usize {
    quantized_len(scheme, shape).unwrap_or_else(|| {
        panic!("a tensor of shape {shape} cannot be quantized as {scheme:?}\n  legal: at most as many sizes of a block as dims, and codes of integers")
    })
}

/// As [`quantized_data_len`], for a description that nobody has checked.
pub(crate) fn quantized_len(scheme: &QuantScheme, shape: &[usize]) -> Option<usize> {
    let own = scheme.block_size();
    if !quantizable(scheme) || own.is_some_and(|size| size.as_slice().len() > shape.len()) {
        return None;
    }
    let count = shape
        .iter()
        .try_fold(1usize, |count, size| count.checked_mul(*size))?;
    let codes = codes_len(scheme, count)?;
    let block = params_shape(&shape.into(), scheme).num_elements();
    let scales = block.checked_mul(scale_size(scheme.scale_dtype()))?;
    codes
        .checked_add(scales)?
        .checked_add(super::global_scale_size(scheme))
}

/// Bytes of the codes of `count` elements, without scales.
fn codes_len(scheme: &QuantScheme, count: usize) -> Option<usize> {
    count
        .div_ceil(scheme.num_quants())
        .checked_mul(scheme.size_bits_stored() / 8)
}

/// Four codes in each number, the first in its lowest bits; zeros fill the last one.
pub fn pack_i8s_to_u32s(values: Vec<i8>) -> Vec<u32> {
    pack(&values, 8, 4)
}

/// `per_word` codes of `bits` in each number.
fn pack(values: &[i8], bits: usize, per_word: usize) -> Vec<u32> {
    let mask = u32::MAX >> (32 - bits);
    values
        .chunks(per_word)
        .map(|codes| {
            codes.iter().enumerate().fold(0, |word, (at, code)| {
                word | (i32::from(*code) as u32 & mask) << (at * bits)
            })
        })
        .collect()
}

/// The bytes of codes and their scales, which must be as many as the scheme asks for.
pub fn encode(codes: &[i8], scheme: &QuantScheme, scales: &DecodedScales) -> Vec<u8> {
    let bits = scheme.size_bits_value();
    let mut bytes: Vec<u8> = match scheme.store {
        QuantStore::Native => bytemuck::cast_slice(codes).to_vec(),
        QuantStore::PackedNative(_) => pack(codes, bits, 8 / bits)
            .iter()
            .map(|word| *word as u8)
            .collect(),
        QuantStore::PackedU32(_) => pack(codes, bits, 32 / bits)
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect(),
    };
    push_scales(&mut bytes, scheme, &scales.block, scales.global);
    bytes
}

fn push_scales(bytes: &mut Vec<u8>, scheme: &QuantScheme, scales: &[f32], global: Option<f32>) {
    let mut push = |scale: f32, dtype: ScaleDtype| {
        let code = dtype.encode(scale).to_le_bytes();
        bytes.extend_from_slice(&code[..scale_size(dtype)]);
    };
    scales
        .iter()
        .for_each(|scale| push(*scale, scheme.scale_dtype()));
    if let (Some(global), Some(dtype)) = (global, global_scale_dtype(scheme)) {
        push(global, dtype);
    }
}

/// The codes of some elements in row-major order, from the bytes of a tensor. A byte holds whole codes, lowest bits first,
/// whatever the unit: words are little-endian.
pub fn decode_codes(bytes: &[u8], scheme: &QuantScheme, range: Range<usize>, out: &mut [i8]) {
    let bits = scheme.size_bits_value();
    let per_byte = match scheme.store {
        QuantStore::Native => 1,
        QuantStore::PackedNative(_) | QuantStore::PackedU32(_) => 8 / bits,
    };
    if per_byte == 1 {
        out.copy_from_slice(bytemuck::cast_slice(&bytes[range]));
        return;
    }
    for (code, at) in out.iter_mut().zip(range) {
        let byte = bytes[at / per_byte] >> (at % per_byte * bits);
        // The sign is the highest bit of the code.
        *code = ((byte << (8 - bits)) as i8) >> (8 - bits);
    }
}

/// The scales from the bytes of a tensor.
pub fn decode_scales(bytes: &[u8], scheme: &QuantScheme, shape: &Shape) -> DecodedScales {
    let codes = codes_len(scheme, shape.num_elements()).expect("the codes are there");
    let mut rest = &bytes[codes..];
    let mut next = |dtype: ScaleDtype| {
        let (scale, behind) = rest.split_at(scale_size(dtype));
        rest = behind;
        let mut code = [0; 4];
        code[..scale.len()].copy_from_slice(scale);
        dtype.decode(u32::from_le_bytes(code))
    };
    let count = params_shape(shape, scheme).num_elements();
    let block = (0..count).map(|_| next(scheme.scale_dtype())).collect();
    let global = global_scale_dtype(scheme).map(next);
    DecodedScales { block, global }
}

/// The numbers that the codes stand for, from the bytes of a tensor.
pub(crate) fn values(bytes: &[u8], scheme: &QuantScheme, shape: &Shape) -> Vec<f32> {
    let mut codes = alloc::vec![0; shape.num_elements()];
    decode_codes(bytes, scheme, 0..codes.len(), &mut codes);
    let scales = decode_scales(bytes, scheme, shape);
    let layout = scheme
        .block_size()
        .map(|size| BlockLayout::new(shape, &size));
    let scale = |at| scales.of(layout.as_ref().map_or(0, |layout| layout.block_of(at)));
    codes
        .iter()
        .enumerate()
        .map(|(at, code)| f32::from(*code) * scale(at))
        .collect()
}

impl QuantizedBytes {
    /// Codes as `i8`, one for each element in row-major order, or as they are stored; with the scales of the blocks, and
    /// the scale of the scales for a scheme of two levels.
    ///
    /// # Panics
    /// If the scheme's codes are no integers, or the numbers of codes or scales do not fit.
    #[track_caller]
    pub fn new<E: CheckedBitPattern + NoUninit>(
        values: Vec<E>,
        shape: impl Into<Shape>,
        scheme: QuantScheme,
        scales: &[f32],
        global: Option<f32>,
    ) -> Self {
        let shape = shape.into();
        assert!(
            quantizable(&scheme),
            "codes of {:?} cannot be stored yet\n  legal: integer codes, Q8, Q4 and Q2",
            scheme.value
        );
        let count = params_shape(&shape, &scheme).num_elements();
        assert!(
            scales.len() == count && global.is_some() == global_scale_dtype(&scheme).is_some(),
            "{} scales and {} for all of them, for {shape} quantized as {scheme:?}\n  legal: {count} scales, and one more for two levels",
            scales.len(),
            usize::from(global.is_some())
        );
        let raw: &[u8] = bytemuck::cast_slice(&values);
        let bytes = if size_of::<E>() == 1 && values.len() == shape.num_elements() {
            let scales = DecodedScales {
                block: scales.to_vec(),
                global,
            };
            encode(bytemuck::cast_slice(raw), &scheme, &scales)
        } else {
            let stored = codes_len(&scheme, shape.num_elements());
            assert!(
                Some(raw.len()) == stored,
                "{} values of {} bytes for {shape}\n  legal: a byte for each element, or {stored:?} bytes of packed codes",
                values.len(),
                size_of::<E>()
            );
            let mut bytes = raw.to_vec();
            push_scales(&mut bytes, &scheme, scales, global);
            bytes
        };
        Self {
            bytes: Bytes::from_bytes_vec(bytes),
            shape,
            scheme,
        }
    }

    /// The number of elements.
    pub fn num_elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// The codes in row-major order, and the scales.
    pub fn into_vec_i8(self) -> (Vec<i8>, DecodedScales) {
        let mut codes = alloc::vec![0; self.num_elements()];
        decode_codes(&self.bytes, &self.scheme, 0..codes.len(), &mut codes);
        (codes, decode_scales(&self.bytes, &self.scheme, &self.shape))
    }
}
