//! The description: what a code is, how it is packed, and what shares a scale.

use crate::{bf16, f16};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use num_traits::Float;
use serde::{Deserialize, Serialize};

/// Numbers that a code stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuantValue {
    /// All integers of 8 bits.
    Q8F,
    /// Floats with 5 bits of exponent and 2 of mantissa.
    E5M2,
    /// Floats with 4 bits of exponent and 3 of mantissa.
    E4M3,
    /// All integers of 4 bits.
    Q4F,
    /// Floats with 2 bits of exponent and 1 of mantissa.
    E2M1,
    /// All integers of 2 bits.
    Q2F,
    /// The integers of 8 bits but the smallest, as many below 0 as above.
    Q8S,
    /// The integers of 4 bits but the smallest, as many below 0 as above.
    Q4S,
    /// The integers of 2 bits but the smallest: -1, 0 and 1.
    Q2S,
}

impl QuantValue {
    /// Bits of a code.
    pub const fn size_bits(&self) -> usize {
        match self {
            Self::Q8F | Self::Q8S | Self::E4M3 | Self::E5M2 => 8,
            Self::Q4F | Self::Q4S | Self::E2M1 => 4,
            Self::Q2F | Self::Q2S => 2,
        }
    }

    /// The smallest and the largest number.
    pub const fn range(&self) -> (f32, f32) {
        match self {
            Self::Q8F => (-128.0, 127.0),
            Self::Q4F => (-8.0, 7.0),
            Self::Q2F => (-2.0, 1.0),
            Self::Q8S => (-127.0, 127.0),
            Self::Q4S => (-7.0, 7.0),
            Self::Q2S => (-1.0, 1.0),
            Self::E4M3 => (-448.0, 448.0),
            Self::E5M2 => (-57344.0, 57344.0),
            Self::E2M1 => (-6.0, 6.0),
        }
    }

    /// Whether there is a negative number for each positive one.
    pub const fn is_symmetric(&self) -> bool {
        !matches!(self, Self::Q8F | Self::Q4F | Self::Q2F)
    }

    pub(super) const fn is_integer(self) -> bool {
        !matches!(self, Self::E5M2 | Self::E4M3 | Self::E2M1)
    }
}

/// How codes lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuantStore {
    /// Each in a byte of its own.
    Native,
    /// Several in a byte, along the dim that is counted from the last one.
    PackedNative(usize),
    /// Several in a `u32`, the first in its lowest bits, along the dim that is counted from the last one.
    PackedU32(usize),
}

/// How a code stands for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuantMode {
    /// By a scale alone: 0 stays 0.
    Symmetric,
}

/// How a scale is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ScaleDtype {
    /// `f32`
    F32,
    /// `f16`
    F16,
    /// `bf16`
    BF16,
    /// A power of two, by its exponent in 8 bits (OCP Microscaling Formats 1.0, section 5.4.1).
    UE8M0,
    /// A positive float with 4 bits of exponent and 3 of mantissa (OCP 8-bit Floating Point 1.0, table 2).
    UE4M3,
}

impl ScaleDtype {
    /// The code of the smallest scale that is not below `scale`, or of the largest there is.
    pub(super) fn encode(self, scale: f32) -> u32 {
        match self {
            Self::F32 => scale.to_bits(),
            Self::F16 => {
                let bits = u32::from(f16::from_f32(scale).to_bits());
                self.up(bits, scale, u32::from(f16::MAX.to_bits()))
            }
            Self::BF16 => {
                let bits = u32::from(bf16::from_f32(scale).to_bits());
                self.up(bits, scale, u32::from(bf16::MAX.to_bits()))
            }
            Self::UE8M0 | Self::UE4M3 => {
                if scale.is_nan() {
                    return self.nan();
                }
                // Codes grow with their scales: the first that is large enough is found by halves.
                let (mut low, mut high) = (0, self.nan() - 1);
                while low < high {
                    let middle = (low + high) / 2;
                    match self.decode(middle) >= scale {
                        true => high = middle,
                        false => low = middle + 1,
                    }
                }
                low
            }
        }
    }

    /// A code that was rounded to the nearest, raised if that was below.
    fn up(self, bits: u32, scale: f32, largest: u32) -> u32 {
        if scale.is_nan() {
            return bits;
        }
        let raised = if self.decode(bits) < scale {
            bits + 1
        } else {
            bits
        };
        raised.min(largest)
    }

    /// The scale of a code.
    pub(super) fn decode(self, code: u32) -> f32 {
        match self {
            Self::F32 => f32::from_bits(code),
            Self::F16 => f16::from_bits(code as u16).to_f32(),
            Self::BF16 => bf16::from_bits(code as u16).to_f32(),
            Self::UE8M0 if code == self.nan() => f32::NAN,
            Self::UE8M0 => Float::powi(2f32, code as i32 - 127),
            Self::UE4M3 if code == self.nan() => f32::NAN,
            Self::UE4M3 => {
                let (exponent, mantissa) = (code as i32 >> 3, (code & 7) as f32);
                match exponent {
                    0 => mantissa * Float::powi(2f32, -9),
                    exponent => (8.0 + mantissa) * Float::powi(2f32, exponent - 10),
                }
            }
        }
    }

    const fn nan(self) -> u32 {
        match self {
            Self::UE4M3 => 0x7F,
            _ => 0xFF,
        }
    }
}

/// The most dims that a block counts.
const DIMS: usize = 5;

/// The sizes of a block in the last dims; earlier dims have size 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
// Through a vector, so that a file cannot name a block that there is not.
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct BlockSize {
    sizes: [u8; DIMS],
    rank: u8,
}

impl TryFrom<Vec<u8>> for BlockSize {
    type Error = String;

    fn try_from(given: Vec<u8>) -> Result<Self, String> {
        if given.len() > DIMS || given.contains(&0) {
            return Err(format!(
                "{given:?} is no block\n  legal: at most {DIMS} sizes, each at least 1"
            ));
        }
        let mut sizes = [1; DIMS];
        sizes[..given.len()].copy_from_slice(&given);
        Ok(Self {
            sizes,
            rank: given.len() as u8,
        })
    }
}

impl From<BlockSize> for Vec<u8> {
    fn from(size: BlockSize) -> Self {
        size.as_slice().to_vec()
    }
}

impl BlockSize {
    /// A block of the given sizes.
    ///
    /// # Panics
    /// If there are more than 5, or one is 0.
    #[track_caller]
    pub fn new(sizes: impl AsRef<[u8]>) -> Self {
        match Self::try_from(sizes.as_ref().to_vec()) {
            Ok(size) => size,
            Err(error) => panic!("{error}"),
        }
    }

    /// The sizes that were given.
    pub fn as_slice(&self) -> &[u8] {
        &self.sizes[..usize::from(self.rank)]
    }

    /// The size in each of `rank` dims.
    ///
    /// # Panics
    /// If the block has more dims.
    #[track_caller]
    pub fn to_dim_vec(&self, rank: usize) -> Vec<u8> {
        let own = self.as_slice();
        assert!(
            own.len() <= rank,
            "a block of sizes {own:?} does not fit rank {rank}\n  legal: at most as many sizes as dims"
        );
        let mut sizes = alloc::vec![1; rank];
        sizes[rank - own.len()..].copy_from_slice(own);
        sizes
    }
}

impl fmt::Debug for BlockSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// Scales of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockScale {
    /// What shares a scale.
    pub size: BlockSize,
    /// How the scale is stored.
    pub dtype: ScaleDtype,
}

/// How a tensor is quantized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuantScheme {
    /// Numbers that a code stands for.
    pub value: QuantValue,
    /// How codes lie in memory.
    pub store: QuantStore,
    /// How a code stands for a value.
    pub mode: QuantMode,
    tensor: Option<ScaleDtype>,
    block: Option<BlockScale>,
}

impl Default for QuantScheme {
    /// Integers of 8 bits, four in a `u32`, with one scale in `f32`.
    fn default() -> Self {
        Self {
            value: QuantValue::Q8F,
            store: QuantStore::PackedU32(0),
            mode: QuantMode::Symmetric,
            tensor: None,
            block: None,
        }
    }
}

impl QuantScheme {
    /// The same with other codes.
    pub fn with_value(self, value: QuantValue) -> Self {
        Self { value, ..self }
    }

    /// The same, stored otherwise.
    pub fn with_store(self, store: QuantStore) -> Self {
        Self { store, ..self }
    }

    /// The same in another mode.
    pub fn with_mode(self, mode: QuantMode) -> Self {
        Self { mode, ..self }
    }

    /// The same with a scale for the whole tensor; with blocks too, the scale of their scales.
    pub fn per_tensor(self, dtype: ScaleDtype) -> Self {
        Self {
            tensor: Some(dtype),
            ..self
        }
    }

    /// The same with a scale for each block.
    ///
    /// # Panics
    /// If `size` has more than 5 dims, or one of size 0.
    #[track_caller]
    pub fn per_block(self, size: impl AsRef<[u8]>, dtype: ScaleDtype) -> Self {
        Self {
            block: Some(BlockScale {
                size: BlockSize::new(size),
                dtype,
            }),
            ..self
        }
    }

    /// The scale of the whole tensor: `f32` where nothing else was said.
    pub fn tensor_scale(&self) -> Option<ScaleDtype> {
        match self.block {
            None => Some(self.tensor.unwrap_or(ScaleDtype::F32)),
            Some(_) => self.tensor,
        }
    }

    /// The scales of blocks.
    pub fn block_scale(&self) -> Option<BlockScale> {
        self.block
    }

    /// What shares a scale, if not the whole tensor.
    pub fn block_size(&self) -> Option<BlockSize> {
        self.block.map(|block| block.size)
    }

    /// How the scales nearest to the codes are stored.
    pub fn scale_dtype(&self) -> ScaleDtype {
        match self.block {
            Some(block) => block.dtype,
            None => self.tensor.unwrap_or(ScaleDtype::F32),
        }
    }

    /// 1, or 2 where scales have a scale.
    pub fn num_levels(&self) -> usize {
        usize::from(self.block_scale().is_some()) + usize::from(self.tensor_scale().is_some())
    }

    /// Bits of a unit of storage.
    pub const fn size_bits_stored(&self) -> usize {
        match self.store {
            QuantStore::Native | QuantStore::PackedNative(_) => 8,
            QuantStore::PackedU32(_) => 32,
        }
    }

    /// Bits of a code.
    pub const fn size_bits_value(&self) -> usize {
        self.value.size_bits()
    }

    /// Codes in a unit of storage.
    pub const fn num_quants(&self) -> usize {
        match self.store {
            QuantStore::Native => 1,
            _ => self.size_bits_stored() / self.size_bits_value(),
        }
    }
}
