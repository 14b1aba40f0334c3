//! Data as another element type. The rules are those of [`ElementConversion`](crate::ElementConversion).

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{DataError, TensorData};
use crate::cast::ToElement;
use crate::quantization::{self, QuantScheme};
use crate::{BoolStore, Bytes, DType, Element, ElementConversion, bf16, f16, flex32};

/// Runs `$body` with `$elems` as the slice of the stored elements, whatever their type; of quantized ones, as the numbers
/// that they stand for, unless another body says what to do with them.
macro_rules! with_elements {
    ($data:expr, $elems:ident => $body:expr) => {
        $crate::data::convert::with_elements!($data, $elems => $body, scheme => {
            let values = $crate::data::convert::values($data, &scheme);
            let $elems = &values[..];
            $body
        })
    };
    ($data:expr, $elems:ident => $body:expr, $scheme:ident => $quantized:expr) => {
        $crate::data::convert::with_elements!(@arms $data, $elems => $body, $scheme => $quantized,
            F64 f64, F32 f32, F16 half::f16, BF16 half::bf16, Flex32 $crate::flex32, I64 i64,
            I32 i32, I16 i16, I8 i8, U64 u64, U32 u32, U16 u16, U8 u8)
    };
    (@arms $data:expr, $elems:ident => $body:expr, $scheme:ident => $quantized:expr,
        $($dtype:ident $ty:ty),+) => {
        match $data.dtype() {
            $($crate::DType::$dtype => {
                let $elems = $crate::data::convert::stored::<$ty>($data);
                $body
            })+
            $crate::DType::Bool($crate::BoolStore::Native) => {
                let $elems = $crate::data::convert::stored::<bool>($data);
                $body
            }
            $crate::DType::Bool($crate::BoolStore::U8) => {
                let $elems = $crate::data::convert::stored::<u8>($data);
                $body
            }
            $crate::DType::Bool($crate::BoolStore::U32) => {
                let $elems = $crate::data::convert::stored::<u32>($data);
                $body
            }
            $crate::DType::QFloat($scheme) => $quantized,
        }
    };
}

pub(super) use with_elements;

pub(super) fn stored<E: Element>(data: &TensorData) -> &[E] {
    data.as_slice()
        .expect("the type was chosen by the dtype, and data is always valid")
}

/// The numbers that quantized elements stand for.
pub(super) fn values(data: &TensorData, scheme: &QuantScheme) -> Vec<f32> {
    quantization::values(&data.bytes, scheme, &data.shape)
}

/// The elements of an iterator, stored as `dtype`.
pub(super) fn store_as<T: ToElement, I: Iterator<Item = T>>(
    dtype: DType,
    elems: impl FnOnce() -> I,
) -> Bytes {
    fn collect<E: Element>(elems: impl Iterator<Item = impl ToElement>) -> Bytes {
        Bytes::from_elems(elems.map(E::from_elem).collect::<Vec<E>>())
    }
    let elems = elems();
    match dtype {
        DType::F64 => collect::<f64>(elems),
        DType::F32 => collect::<f32>(elems),
        DType::F16 => collect::<f16>(elems),
        DType::BF16 => collect::<bf16>(elems),
        DType::Flex32 => collect::<flex32>(elems),
        DType::I64 => collect::<i64>(elems),
        DType::I32 => collect::<i32>(elems),
        DType::I16 => collect::<i16>(elems),
        DType::I8 => collect::<i8>(elems),
        DType::U64 => collect::<u64>(elems),
        DType::U32 => collect::<u32>(elems),
        DType::U16 => collect::<u16>(elems),
        DType::U8 => collect::<u8>(elems),
        DType::Bool(BoolStore::Native) => collect::<bool>(elems),
        DType::Bool(BoolStore::U8) => collect::<u8>(elems.map(|elem| elem.to_bool())),
        DType::Bool(BoolStore::U32) => collect::<u32>(elems.map(|elem| elem.to_bool())),
        DType::QFloat(scheme) => panic!(
            "elements cannot be converted to {scheme:?}\n  legal: `TensorData::quantized`, or `Tensor::quantize` on a device"
        ),
    }
}

/// Conversion.
impl TensorData {
    /// The elements converted to `E`, one after the other.
    ///
    /// Of quantized data: the numbers that codes stand for.
    pub fn iter<E: Element>(&self) -> Box<dyn Iterator<Item = E> + '_> {
        with_elements!(self, elems => Box::new(elems.iter().map(|elem| elem.elem())),
            scheme => Box::new(values(self, &scheme).into_iter().map(ElementConversion::elem)))
    }

    /// The data with elements of type `E`.
    pub fn convert<E: Element>(self) -> Self {
        self.convert_dtype(E::dtype())
    }

    /// The data stored as `dtype`.
    ///
    /// # Panics
    /// If `dtype` is quantized and not that of the data.
    #[track_caller]
    pub fn convert_dtype(self, dtype: DType) -> Self {
        if self.dtype == dtype {
            return self;
        }
        let bytes = with_elements!(&self, elems => store_as(dtype, || elems.iter().copied()));
        Self {
            bytes,
            shape: self.shape,
            dtype,
        }
    }

    /// The data stored as `dtype`.
    ///
    /// # Errors
    /// [`DataError::UnsupportedConversion`] if `dtype` is quantized and not that of the data: which scale to use is not a
    /// matter of conversion.
    pub fn try_cast(self, dtype: DType) -> Result<TensorData, DataError> {
        match dtype.is_quantized() && dtype != self.dtype {
            true => Err(DataError::UnsupportedConversion {
                from: self.dtype,
                to: dtype,
            }),
            false => Ok(self.convert_dtype(dtype)),
        }
    }

    /// The data with elements of type `E`.
    ///
    /// # Errors
    /// None today: every dtype converts to every other.
    pub fn try_cast_as<E: Element>(self) -> Result<TensorData, DataError> {
        self.try_cast(E::dtype())
    }

    /// A copy of the elements, where `E` is how they are stored.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] for another type.
    pub fn try_to_vec<E: Element>(&self) -> Result<Vec<E>, DataError> {
        Ok(self.as_slice()?.to_vec())
    }

    /// The elements, where `E` is how they are stored; without a copy where the buffer allows it.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] for another type.
    pub fn try_into_vec<E: Element>(self) -> Result<Vec<E>, DataError> {
        self.check_dtype::<E>()?;
        match self.bytes.try_into_vec() {
            Ok(elems) => Ok(elems),
            Err(bytes) => Self { bytes, ..self }.try_to_vec(),
        }
    }

    /// A copy of the elements, converted to `E`.
    ///
    /// # Errors
    /// None today: every dtype converts to every other.
    pub fn try_to_vec_as<E: Element>(&self) -> Result<Vec<E>, DataError> {
        with_elements!(self, elems => Ok(elems.iter().map(|elem| elem.elem()).collect()))
    }

    /// The elements, converted to `E`.
    ///
    /// # Errors
    /// None today: every dtype converts to every other.
    pub fn try_into_vec_as<E: Element>(self) -> Result<Vec<E>, DataError> {
        self.try_cast_as::<E>()?.try_into_vec()
    }

    /// [`TensorData::try_to_vec`] under its shorter name.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] for another type.
    pub fn to_vec<E: Element>(&self) -> Result<Vec<E>, DataError> {
        self.try_to_vec()
    }

    /// [`TensorData::try_into_vec`] under its shorter name.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] for another type.
    pub fn into_vec<E: Element>(self) -> Result<Vec<E>, DataError> {
        self.try_into_vec()
    }
}
