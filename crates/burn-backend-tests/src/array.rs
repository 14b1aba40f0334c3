//! Tensors of the reference: wide numbers in row-major order, with the rounding of each element type.

use burn_std::{BoolStore, DType, Kind, QuantScheme, TensorData, bf16, f16};
use core::cmp::Ordering;

/// A number wide enough for any element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    /// A float.
    Float(f64),
    /// An integer.
    Int(i128),
    /// A truth value.
    Bool(bool),
}

/// What formulas compute with.
pub trait Value: Copy + 'static {
    /// The kind of element that the formula takes.
    const KIND: Kind;
    /// The value of a number of this kind.
    fn of(num: Num) -> Self;
    /// The value as a number.
    fn num(self) -> Num;
}

macro_rules! values {
    ($($ty:ty => $variant:ident),*) => {
        $(impl Value for $ty {
            const KIND: Kind = Kind::$variant;

            fn of(num: Num) -> Self {
                match num {
                    Num::$variant(value) => value,
                    other => panic!("a formula over {} met {other:?}", Self::KIND.as_str()),
                }
            }

            fn num(self) -> Num {
                Num::$variant(self)
            }
        })*
    };
}

values!(f64 => Float, i128 => Int, bool => Bool);

impl Num {
    /// The number as a float, truth values as 0 and 1.
    pub fn float(self) -> f64 {
        match self {
            Self::Float(value) => value,
            Self::Int(value) => value as f64,
            Self::Bool(value) => f64::from(u8::from(value)),
        }
    }

    /// The number as an element of `dtype`, exactly as far as the type can hold it: floats round to nearest even,
    /// integers wrap.
    ///
    /// # Panics
    /// If the number is of another kind.
    pub fn stored_as(self, dtype: DType) -> Self {
        match (self, dtype.kind()) {
            (Self::Float(value), Kind::Float) if dtype.is_quantized() => match dtype {
                DType::QFloat(scheme) => Self::Float(code(value / SCALE, scheme) * SCALE),
                _ => unreachable!("it is quantized"),
            },
            (Self::Float(value), Kind::Float) => Self::Float(Format::of(dtype).round(value)),
            (Self::Int(value), Kind::Int) => Self::Int(wrap(value, dtype)),
            (Self::Bool(_), Kind::Bool) => self,
            (other, _) => panic!("{other:?} is no element of type {}", dtype.name()),
        }
    }

    /// The smaller first; NaN is above everything.
    pub fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(lhs), Self::Int(rhs)) => lhs.cmp(&rhs),
            (lhs, rhs) => {
                let (lhs, rhs) = (lhs.float(), rhs.float());
                lhs.partial_cmp(&rhs)
                    .unwrap_or_else(|| lhs.is_nan().cmp(&rhs.is_nan()))
            }
        }
    }
}

/// The scale of quantized inputs: a power of two, so that what codes stand for is exact in every float type.
const SCALE: f64 = 0.0625;

/// The nearest integer of the range of a scheme, ties to even; NaN gives 0.
pub fn code(value: f64, scheme: QuantScheme) -> f64 {
    let (low, high) = scheme.value.range();
    match value.is_nan() {
        true => 0.0,
        false => value.round_ties_even().clamp(low.into(), high.into()),
    }
}

/// The least and greatest integer of a type.
pub fn int_limits(dtype: DType) -> (i128, i128) {
    let bits = dtype.size() as u32 * 8;
    match dtype.is_uint() {
        true => (0, (1i128 << bits) - 1),
        false => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
    }
}

/// Modulo `2^bits`, into the range of the type.
fn wrap(value: i128, dtype: DType) -> i128 {
    let (low, high) = int_limits(dtype);
    (value.wrapping_sub(low)).rem_euclid(high - low + 1) + low
}

/// A binary float format of IEEE 754-2019, table 3.5 (bf16: the upper half of binary32).
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Digits of the significand, the leading one included.
    pub precision: i32,
    /// The least exponent of a normal number.
    pub least: i32,
    /// The greatest exponent.
    pub greatest: i32,
}

impl Format {
    /// The format of a float type.
    pub fn of(dtype: DType) -> Self {
        let (precision, least, greatest) = match dtype {
            DType::F64 => (53, -1022, 1023),
            // What codes stand for is read as f32.
            DType::F32 | DType::Flex32 | DType::QFloat(_) => (24, -126, 127),
            DType::F16 => (11, -14, 15),
            DType::BF16 => (8, -126, 127),
            other => panic!("{} is no float type", other.name()),
        };
        Self {
            precision,
            least,
            greatest,
        }
    }

    /// The distance between neighbours around a finite value.
    pub fn ulp(self, value: f64) -> f64 {
        let exponent = match value == 0.0 {
            true => self.least,
            false => exponent(value).clamp(self.least, self.greatest),
        };
        power_of_two(exponent - self.precision + 1)
    }

    /// The unit roundoff: half the distance between neighbours around 1.
    pub fn unit(self) -> f64 {
        power_of_two(-self.precision)
    }

    /// The nearest value of the format, ties to even.
    pub fn round(self, value: f64) -> f64 {
        if self.precision == 53 || !value.is_finite() || value == 0.0 {
            return value;
        }
        // Both scalings are by powers of two and, for these formats, without overflow: exact.
        let ulp = self.ulp(value);
        let rounded = (value / ulp).round_ties_even() * ulp;
        match exponent(rounded) > self.greatest {
            true => f64::INFINITY.copysign(value),
            false => rounded,
        }
    }
}

/// The exponent of a finite value other than 0.
fn exponent(value: f64) -> i32 {
    let biased = (value.to_bits() >> 52 & 0x7ff) as i32;
    match biased {
        // A subnormal: its exponent is the position of its first digit.
        0 => -1023 - (value.to_bits() << 12).leading_zeros() as i32,
        biased => biased - 1023,
    }
}

fn power_of_two(exponent: i32) -> f64 {
    // `powi` is not correctly rounded for subnormals; the product of two normal powers is.
    let half = exponent / 2;
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    power(half) * power(exponent - half)
}

/// A tensor of the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The size of each dim.
    pub shape: Vec<usize>,
    /// The element type.
    pub dtype: DType,
    /// The elements in row-major order.
    pub data: Vec<Num>,
}

impl Array {
    /// An array from its elements, each as `dtype` stores it.
    pub fn new(shape: impl Into<Vec<usize>>, dtype: DType, data: Vec<Num>) -> Self {
        let shape = shape.into();
        assert_eq!(
            shape.iter().product::<usize>(),
            data.len(),
            "{shape:?} holds another number of elements"
        );
        let data = data.into_iter().map(|num| num.stored_as(dtype)).collect();
        Self { shape, dtype, data }
    }

    /// An array of floats.
    pub fn floats(shape: impl Into<Vec<usize>>, data: impl IntoIterator<Item = f64>) -> Self {
        Self::new(
            shape,
            DType::F64,
            data.into_iter().map(Num::Float).collect(),
        )
    }

    /// An array whose element at each position `f` gives.
    pub fn from_fn(
        shape: impl Into<Vec<usize>>,
        dtype: DType,
        mut f: impl FnMut(&[usize]) -> Num,
    ) -> Self {
        let shape = shape.into();
        let data = positions(&shape).map(|position| f(&position)).collect();
        Self { shape, dtype, data }
    }

    /// The element at a position; dims of size 1 stretch.
    pub fn at(&self, position: &[usize]) -> Num {
        let mut flat = 0;
        for (size, at) in self.shape.iter().zip(position) {
            flat = flat * size + if *size == 1 { 0 } else { *at };
        }
        self.data[flat]
    }

    /// The array as engines take it.
    pub fn to_data(&self) -> TensorData {
        let shape = self.shape.clone();
        let float = || self.data.iter().map(|num| num.float());
        let int = || {
            self.data.iter().map(|num| match num {
                Num::Int(value) => *value,
                other => panic!("{other:?} is no integer"),
            })
        };
        macro_rules! ints {
            ($ty:ty) => {
                TensorData::new(int().map(|value| value as $ty).collect(), shape)
            };
        }
        match self.dtype {
            DType::F64 => TensorData::new(float().collect(), shape),
            DType::F32 => TensorData::new(float().map(|value| value as f32).collect(), shape),
            DType::F16 => TensorData::new(float().map(f16::from_f64).collect(), shape),
            DType::BF16 => TensorData::new(float().map(bf16::from_f64).collect(), shape),
            DType::I64 => ints!(i64),
            DType::I32 => ints!(i32),
            DType::I16 => ints!(i16),
            DType::I8 => ints!(i8),
            DType::U64 => ints!(u64),
            DType::U32 => ints!(u32),
            DType::U16 => ints!(u16),
            DType::U8 => ints!(u8),
            DType::Bool(store) => {
                let bytes = self.data.iter().flat_map(|num| {
                    let value = u32::from(num.float() != 0.0);
                    match store {
                        BoolStore::U32 => value.to_ne_bytes().to_vec(),
                        BoolStore::Native | BoolStore::U8 => vec![value as u8],
                    }
                });
                TensorData::from_bytes_vec(bytes.collect(), shape, self.dtype)
            }
            DType::Flex32 => panic!("no device of the table has flexible floats"),
            DType::QFloat(scheme) => {
                let codes = float().map(|value| (value / SCALE) as i8).collect();
                TensorData::quantized(codes, shape, scheme, &[SCALE as f32], None)
            }
        }
    }

    /// The array that an engine gave.
    pub fn from_data(data: &TensorData) -> Self {
        macro_rules! read {
            ($ty:ty, $num:expr) => {
                data.as_slice::<$ty>()
                    .expect("the type is that of the data")
                    .iter()
                    .map($num)
                    .collect()
            };
        }
        let elements: Vec<Num> = match data.dtype() {
            DType::F64 => read!(f64, |it| Num::Float(*it)),
            DType::F32 => read!(f32, |it| Num::Float(f64::from(*it))),
            DType::F16 => read!(f16, |it| Num::Float(it.to_f64())),
            DType::BF16 => read!(bf16, |it| Num::Float(it.to_f64())),
            DType::I64 => read!(i64, |it| Num::Int(i128::from(*it))),
            DType::I32 => read!(i32, |it| Num::Int(i128::from(*it))),
            DType::I16 => read!(i16, |it| Num::Int(i128::from(*it))),
            DType::I8 => read!(i8, |it| Num::Int(i128::from(*it))),
            DType::U64 => read!(u64, |it| Num::Int(i128::from(*it))),
            DType::U32 => read!(u32, |it| Num::Int(i128::from(*it))),
            DType::U16 => read!(u16, |it| Num::Int(i128::from(*it))),
            DType::U8 => read!(u8, |it| Num::Int(i128::from(*it))),
            DType::Bool(BoolStore::Native) => read!(bool, |it| Num::Bool(*it)),
            DType::Bool(BoolStore::U8) => read!(u8, |it| Num::Bool(*it != 0)),
            DType::Bool(BoolStore::U32) => read!(u32, |it| Num::Bool(*it != 0)),
            DType::Flex32 | DType::QFloat(_) => data.iter::<f64>().map(Num::Float).collect(),
        };
        Self {
            shape: data.shape().to_vec(),
            dtype: data.dtype(),
            data: elements,
        }
    }
}

/// Every position of a shape, in row-major order.
pub fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let shape = shape.to_vec();
    let count: usize = shape.iter().product();
    (0..count).map(move |mut flat| {
        let mut position = vec![0; shape.len()];
        for dim in (0..shape.len()).rev() {
            position[dim] = flat % shape[dim];
            flat /= shape[dim];
        }
        position
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_agrees_with_the_conversion_of_the_language() {
        let mut generator = crate::Generator::new("rounding");
        let edges = [
            f64::MIN_POSITIVE,
            1e-45,
            7e-46,
            1.5e-45,
            3.4028235677973366e38,
            1e39,
            -1e-40,
        ];
        let random = (0..2000)
            .map(|_| generator.uniform(-1.0, 1.0) * 10f64.powf(generator.uniform(-46.0, 39.0)));
        for value in edges.into_iter().chain(random.collect::<Vec<_>>()) {
            let rounded = Format::of(DType::F32).round(value);
            assert_eq!(rounded, f64::from(value as f32), "{value:e}");
        }
    }

    #[test]
    fn neighbours_of_one_are_one_ulp_apart() {
        assert_eq!(Format::of(DType::F64).ulp(1.0), f64::EPSILON);
        assert_eq!(Format::of(DType::F32).ulp(1.5), f64::from(f32::EPSILON));
        assert_eq!(Format::of(DType::F64).ulp(0.0), f64::from_bits(1));
    }

    #[test]
    fn integers_wrap_into_their_type() {
        assert_eq!(Num::Int(200).stored_as(DType::I8), Num::Int(-56));
        assert_eq!(
            Num::Int(-1).stored_as(DType::U64),
            Num::Int(u64::MAX.into())
        );
        assert_eq!(
            Num::Int(i64::MAX as i128 + 1).stored_as(DType::I64),
            Num::Int(i64::MIN.into())
        );
    }
}
