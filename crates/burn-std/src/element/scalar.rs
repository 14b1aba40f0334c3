//! One number of any element type, as an operand of an instruction.

use core::hash::{Hash, Hasher};

use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};

use super::cast::ToElement;
use crate::{DType, Element, ElementConversion, Kind, bf16, f16};

/// A number with its kind and no dtype; the tensor it meets decides how it is stored.
///
/// Two scalars are equal if they are of the same kind with the same bits: NaN equals itself, and
/// 0.0 differs from -0.0.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Scalar {
    /// A float.
    Float(#[serde(with = "float")] f64),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A truth value.
    Bool(bool),
}

impl Scalar {
    /// The value as an operand of tensors of `dtype`.
    pub fn new<E: ElementConversion>(value: E, dtype: &DType) -> Self {
        match dtype.kind() {
            Kind::Float => Self::Float(value.elem()),
            Kind::Int if dtype.is_uint() => Self::UInt(value.elem()),
            Kind::Int => Self::Int(value.elem()),
            Kind::Bool => Self::Bool(value.elem()),
        }
    }

    /// The value as an element.
    pub fn elem<E: Element>(self) -> E {
        E::from_elem(self)
    }

    /// The value as an integer, if it is one: a float with a fraction is not.
    pub fn try_as_integer(&self) -> Option<Self> {
        match *self {
            Self::Int(_) | Self::UInt(_) => Some(*self),
            Self::Bool(value) => Some(Self::Int(value.into())),
            // The comparison fails where the cast had to cut or saturate.
            Self::Float(value) if value as i64 as f64 == value && value < i64::MAX as f64 => {
                Some(Self::Int(value as i64))
            }
            Self::Float(_) => None,
        }
    }

    /// The variant and the bits, by which scalars are equal.
    fn bits(&self) -> (u8, u64) {
        match *self {
            Self::Float(value) => (0, value.to_bits()),
            Self::Int(value) => (1, value as u64),
            Self::UInt(value) => (2, value),
            Self::Bool(value) => (3, value.into()),
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

/// Floats in text: formats like JSON have no word for NaN and the infinities, so these are names there.
mod float {
    use alloc::string::String;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Name(String),
    }

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        match *value {
            value if value.is_finite() || !serializer.is_human_readable() => {
                serializer.serialize_f64(value)
            }
            f64::INFINITY => serializer.serialize_str("inf"),
            f64::NEG_INFINITY => serializer.serialize_str("-inf"),
            _ => serializer.serialize_str("nan"),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        if !deserializer.is_human_readable() {
            return f64::deserialize(deserializer);
        }
        match Written::deserialize(deserializer)? {
            Written::Number(value) => Ok(value),
            Written::Name(name) => match name.as_str() {
                "inf" => Ok(f64::INFINITY),
                "-inf" => Ok(f64::NEG_INFINITY),
                "nan" => Ok(f64::NAN),
                _ => Err(D::Error::custom(
                    "a float is a number, `inf`, `-inf` or `nan`",
                )),
            },
        }
    }
}

macro_rules! scalar_from {
    ($($variant:ident: $($ty:ty),+;)+) => {
        $($(impl From<$ty> for Scalar {
            fn from(value: $ty) -> Self {
                Self::$variant(value as _)
            }
        })+)+
    };
}

scalar_from! {
    Float: f32, f64;
    Int: i8, i16, i32, i64, isize;
    UInt: u8, u16, u32, u64, usize;
    Bool: bool;
}

impl From<f16> for Scalar {
    fn from(value: f16) -> Self {
        Self::Float(value.into())
    }
}

impl From<bf16> for Scalar {
    fn from(value: bf16) -> Self {
        Self::Float(value.into())
    }
}

impl ToPrimitive for Scalar {
    fn to_i64(&self) -> Option<i64> {
        match self {
            Self::Float(value) => ToPrimitive::to_i64(value),
            Self::Int(value) => Some(*value),
            Self::UInt(value) => ToPrimitive::to_i64(value),
            Self::Bool(value) => Some((*value).into()),
        }
    }

    fn to_u64(&self) -> Option<u64> {
        match self {
            Self::Float(value) => ToPrimitive::to_u64(value),
            Self::Int(value) => ToPrimitive::to_u64(value),
            Self::UInt(value) => Some(*value),
            Self::Bool(value) => Some((*value).into()),
        }
    }

    fn to_f64(&self) -> Option<f64> {
        Some(ToElement::to_f64(self))
    }
}
