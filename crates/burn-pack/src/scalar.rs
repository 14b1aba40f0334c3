//! Single values that a file stores beside its tensors.

use core::fmt;

use serde::{Deserialize, Serialize};

/// A single value in a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A floating point number.
    Float(f64),
}

/// The value of a [`Scalar`] does not fit the requested type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarConversionError;

impl fmt::Display for ScalarConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value of the scalar does not fit the requested type")
    }
}

impl core::error::Error for ScalarConversionError {}

macro_rules! from {
    ($variant:ident as $stored:ty: $($ty:ty),+) => {
        $(
            impl From<$ty> for Scalar {
                fn from(value: $ty) -> Self {
                    Self::$variant(value as $stored)
                }
            }
        )+
    };
}

from!(Bool as bool: bool);
from!(Int as i64: i8, i16, i32, i64, isize);
from!(UInt as u64: u8, u16, u32, u64, usize);
from!(Float as f64: f32, f64);

macro_rules! into_int {
    ($($ty:ty),+) => {
        $(
            /// Integers convert where they are in range; nothing else does.
            impl TryFrom<Scalar> for $ty {
                type Error = ScalarConversionError;

                fn try_from(scalar: Scalar) -> Result<Self, Self::Error> {
                    match scalar {
                        Scalar::Int(value) => value.try_into().map_err(|_| ScalarConversionError),
                        Scalar::UInt(value) => value.try_into().map_err(|_| ScalarConversionError),
                        Scalar::Bool(_) | Scalar::Float(_) => Err(ScalarConversionError),
                    }
                }
            }
        )+
    };
}

into_int!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

macro_rules! into_float {
    ($($ty:ty),+) => {
        $(
            /// Numbers convert to the nearest value; truth values do not.
            impl TryFrom<Scalar> for $ty {
                type Error = ScalarConversionError;

                fn try_from(scalar: Scalar) -> Result<Self, Self::Error> {
                    match scalar {
                        Scalar::Int(value) => Ok(value as $ty),
                        Scalar::UInt(value) => Ok(value as $ty),
                        Scalar::Float(value) => Ok(value as $ty),
                        Scalar::Bool(_) => Err(ScalarConversionError),
                    }
                }
            }
        )+
    };
}

into_float!(f32, f64);

/// Truth values convert; numbers do not.
impl TryFrom<Scalar> for bool {
    type Error = ScalarConversionError;

    fn try_from(scalar: Scalar) -> Result<Self, Self::Error> {
        match scalar {
            Scalar::Bool(value) => Ok(value),
            Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) => Err(ScalarConversionError),
        }
    }
}
