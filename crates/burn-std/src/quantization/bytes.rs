//! Codes and their scales in one run of bytes: the codes, zeros up to [`QPARAM_ALIGN`], the scales, the scale of scales.

use super::{QuantScheme, QuantStore, global_scale_dtype, params_shape, quantizable, scale_size};
use crate::quantization::{BlockSize, ScaleDtype};
use crate::{Bytes, Shape};
use alloc::vec::Vec;
use bytemuck::{NoUninit, checked::CheckedBitPattern};

/// Scales begin at a multiple of so many bytes.
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

    /// The number of blocks along each dim.
    pub(super) fn grid(&self) -> &Shape {
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

/// Bytes of the codes of a tensor, without its scales.
pub fn quantized_data_len(scheme: &QuantScheme, shape: &Shape) -> usize {
    let units = shape.num_elements().div_ceil(scheme.num_quants());
    units * scheme.size_bits_stored() / 8
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
        let mut bytes = Self::codes(&values, &shape, &scheme);
        bytes.resize(bytes.len().next_multiple_of(QPARAM_ALIGN), 0);
        let levels = [
            (scales, Some(scheme.scale_dtype())),
            (global.as_slice(), global_scale_dtype(&scheme)),
        ];
        for (scales, dtype) in levels {
            for (scale, dtype) in scales.iter().zip(dtype.into_iter().cycle()) {
                let code = dtype.encode(*scale).to_le_bytes();
                bytes.extend_from_slice(&code[..scale_size(dtype)]);
            }
        }
        Self {
            bytes: Bytes::from_bytes_vec(bytes),
            shape,
            scheme,
        }
    }

    #[track_caller]
    fn codes<E: NoUninit>(values: &[E], shape: &Shape, scheme: &QuantScheme) -> Vec<u8> {
        let stored = quantized_data_len(scheme, shape);
        let raw: &[u8] = bytemuck::cast_slice(values);
        if size_of::<E>() == 1 && values.len() == shape.num_elements() {
            let values: &[i8] = bytemuck::cast_slice(raw);
            let bits = scheme.size_bits_value();
            return match scheme.store {
                QuantStore::Native => raw.to_vec(),
                QuantStore::PackedNative(_) => pack(values, bits, 8 / bits)
                    .iter()
                    .map(|word| *word as u8)
                    .collect(),
                QuantStore::PackedU32(_) => pack(values, bits, 32 / bits)
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect(),
            };
        }
        assert!(
            raw.len() == stored,
            "{} values of {} bytes for {shape}\n  legal: a byte for each element, or {stored} bytes of packed codes",
            values.len(),
            size_of::<E>()
        );
        raw.to_vec()
    }

    /// The number of elements.
    pub fn num_elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// The codes in row-major order, and the scales.
    pub fn into_vec_i8(self) -> (Vec<i8>, DecodedScales) {
        let bytes: &[u8] = &self.bytes;
        let (bits, len) = (self.scheme.size_bits_value(), self.num_elements());
        let data = quantized_data_len(&self.scheme, &self.shape);
        // A byte holds whole codes, lowest bits first, whatever the unit: words are little-endian.
        let per_byte = match self.scheme.store {
            QuantStore::Native => 1,
            QuantStore::PackedNative(_) | QuantStore::PackedU32(_) => 8 / bits,
        };
        let code = |at: usize| {
            let byte = bytes[at / per_byte] >> (at % per_byte * bits);
            // The sign is the highest bit of the code.
            ((byte << (8 - bits)) as i8) >> (8 - bits)
        };
        let codes = (0..len).map(code).collect();
        let count = params_shape(&self.shape, &self.scheme).num_elements();
        let mut rest = &bytes[data.next_multiple_of(QPARAM_ALIGN)..];
        let mut next = |dtype: ScaleDtype| {
            let (scale, behind) = rest.split_at(scale_size(dtype));
            rest = behind;
            let mut code = [0; 4];
            code[..scale.len()].copy_from_slice(scale);
            dtype.decode(u32::from_le_bytes(code))
        };
        let block = (0..count)
            .map(|_| next(self.scheme.scale_dtype()))
            .collect();
        let global = global_scale_dtype(&self.scheme).map(next);
        (codes, DecodedScales { block, global })
    }
}
