//! How elements are stored: float, int, bool and quantized dtypes and the kind they belong to.

use serde::{Deserialize, Serialize};

use crate::quantization::{QuantScheme, quantized_len};
use crate::{bf16, f16};

/// What the elements of a tensor mean to the user; a [`DType`] is how they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Floating point numbers.
    Float,
    /// Integers, signed or not.
    Int,
    /// Truth values.
    Bool,
}

impl Kind {
    /// The kind in messages: `"float"`, `"int"` or `"bool"`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::Bool => "bool",
        }
    }
}

/// How a truth value is stored. Whatever the width, 0 is false and 1 is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BoolStore {
    /// As the `bool` of Rust, in one byte.
    Native,
    /// As `u8`.
    U8,
    /// As `u32`.
    U32,
}

/// The dtypes of bool tensors.
pub type BoolDType = BoolStore;

/// How one element of a tensor is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DType {
    /// IEEE 754 binary64.
    F64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// Stored as a binary32, computed with in any precision down to that of a binary16.
    Flex32,
    /// Signed, 64 bits.
    I64,
    /// Signed, 32 bits.
    I32,
    /// Signed, 16 bits.
    I16,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 64 bits.
    U64,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 8 bits.
    U8,
    /// A truth value.
    Bool(BoolStore),
    /// A number in few bits, as a scheme says; scales lie behind the codes of all elements.
    QFloat(QuantScheme),
}

impl DType {
    /// Bytes of one element; of a unit of storage, which may hold several, for quantized ones.
    #[inline]
    pub const fn size(&self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::Flex32 => 4,
            Self::I32 | Self::U32 | Self::Bool(BoolStore::U32) => 4,
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 | Self::Bool(BoolStore::Native | BoolStore::U8) => 1,
            Self::QFloat(scheme) => scheme.size_bits_stored() / 8,
        }
    }

    /// Bytes of all elements of a shape, the scales of quantized ones included; `None` beyond what can be counted, and for
    /// blocks of more dims than the shape has.
    pub fn size_of(&self, shape: &[usize]) -> Option<usize> {
        match self {
            Self::QFloat(scheme) => quantized_len(scheme, shape),
            _ if shape.contains(&0) => Some(0),
            _ => shape
                .iter()
                .try_fold(self.size(), |len, size| len.checked_mul(*size)),
        }
    }

    /// The name in messages and file formats, as `"f32"`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::Flex32 => "flex32",
            Self::I64 => "i64",
            Self::I32 => "i32",
            Self::I16 => "i16",
            Self::I8 => "i8",
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::U16 => "u16",
            Self::U8 => "u8",
            Self::Bool(BoolStore::Native) => "bool",
            Self::Bool(BoolStore::U8) => "bool(u8)",
            Self::Bool(BoolStore::U32) => "bool(u32)",
            Self::QFloat(_) => "qfloat",
        }
    }

    /// What the elements mean.
    #[inline]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::F64 | Self::F32 | Self::F16 | Self::BF16 => Kind::Float,
            Self::Flex32 | Self::QFloat(_) => Kind::Float,
            Self::I64 | Self::I32 | Self::I16 | Self::I8 => Kind::Int,
            Self::U64 | Self::U32 | Self::U16 | Self::U8 => Kind::Int,
            Self::Bool(_) => Kind::Bool,
        }
    }

    /// Whether it is a float that is computed with as it is; see [`DType::is_quantized`] for others.
    pub const fn is_float(&self) -> bool {
        matches!(self.kind(), Kind::Float) && !self.is_quantized()
    }

    /// Whether its elements are codes with scales, which stand for floats.
    pub const fn is_quantized(&self) -> bool {
        matches!(self, Self::QFloat(_))
    }

    /// Whether it is a signed integer.
    pub const fn is_int(&self) -> bool {
        matches!(self, Self::I64 | Self::I32 | Self::I16 | Self::I8)
    }

    /// Whether it is an unsigned integer.
    pub const fn is_uint(&self) -> bool {
        matches!(self, Self::U64 | Self::U32 | Self::U16 | Self::U8)
    }

    /// Whether it is a truth value.
    pub const fn is_bool(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// The limits of a float dtype, `None` for others.
    pub const fn finfo(&self) -> Option<FloatInfo> {
        match self {
            Self::F64 => Some(FloatDType::F64.finfo()),
            Self::F32 => Some(FloatDType::F32.finfo()),
            Self::F16 => Some(FloatDType::F16.finfo()),
            Self::BF16 => Some(FloatDType::BF16.finfo()),
            Self::Flex32 => Some(FloatDType::Flex32.finfo()),
            _ => None,
        }
    }
}

/// The dtypes of float tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FloatDType {
    /// IEEE 754 binary64.
    F64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// Stored as a binary32, computed with in any precision down to that of a binary16.
    Flex32,
}

/// The limits of a float dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatInfo {
    /// Distance from 1 to the next larger number.
    pub epsilon: f64,
    /// Largest finite number.
    pub max: f64,
    /// Smallest finite number.
    pub min: f64,
    /// Smallest positive normal number.
    pub min_positive: f64,
}

impl FloatDType {
    /// The limits of the dtype.
    pub const fn finfo(self) -> FloatInfo {
        // The constants of the type, widened without loss.
        macro_rules! info {
            ($ty:ty, $widen:expr) => {
                FloatInfo {
                    epsilon: $widen(<$ty>::EPSILON),
                    max: $widen(<$ty>::MAX),
                    min: $widen(<$ty>::MIN),
                    min_positive: $widen(<$ty>::MIN_POSITIVE),
                }
            };
        }
        const fn same(value: f64) -> f64 {
            value
        }
        const fn widen(value: f32) -> f64 {
            value as f64
        }
        match self {
            Self::F64 => info!(f64, same),
            Self::F32 | Self::Flex32 => info!(f32, widen),
            Self::F16 => info!(f16, f16::to_f64_const),
            Self::BF16 => info!(bf16, bf16::to_f64_const),
        }
    }
}

/// The dtypes of int tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum IntDType {
    /// Signed, 64 bits.
    I64,
    /// Signed, 32 bits.
    I32,
    /// Signed, 16 bits.
    I16,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 64 bits.
    U64,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 8 bits.
    U8,
}

/// Widens a dtype of one kind to [`DType`], and narrows it back with a panic for other kinds.
macro_rules! narrow {
    ($ty:ident, $kind:literal, $($variant:ident),+) => {
        impl From<$ty> for DType {
            fn from(dtype: $ty) -> Self {
                match dtype {
                    $($ty::$variant => Self::$variant,)+
                }
            }
        }

        /// Panics if the dtype is of another kind.
        impl From<DType> for $ty {
            #[track_caller]
            fn from(dtype: DType) -> Self {
                match dtype {
                    $(DType::$variant => Self::$variant,)+
                    other => panic!(concat!("expected a ", $kind, " dtype, got {}"), other.name()),
                }
            }
        }
    };
}

narrow!(FloatDType, "float", F64, F32, F16, BF16, Flex32);
narrow!(IntDType, "int", I64, I32, I16, I8, U64, U32, U16, U8);

impl From<BoolStore> for DType {
    fn from(store: BoolStore) -> Self {
        Self::Bool(store)
    }
}

/// Panics if the dtype is of another kind.
impl From<DType> for BoolStore {
    #[track_caller]
    fn from(dtype: DType) -> Self {
        match dtype {
            DType::Bool(store) => store,
            other => panic!("expected a bool dtype, got {}", other.name()),
        }
    }
}
