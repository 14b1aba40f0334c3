//! Tensors on the host: bytes with a shape and a dtype, on their way in or out of a device.
//!
//! Conversion is in `convert`, comparison for tests in `compare`, indexing in `view`. There is no
//! arithmetic here.

mod compare;
mod convert;
mod error;
mod view;

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use bytemuck::checked::{CheckedCastError, try_cast_slice, try_cast_slice_mut};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::quantization::{QuantScheme, QuantizedBytes};
use crate::{BoolStore, Bytes, DType, Distribution, Element, Scalar, Shape};
pub use compare::Tolerance;
pub use error::{DataError, TensorReadError};
pub use view::{TensorDataView, TensorDataViewMut};

/// The elements of a tensor in row-major order, with shape and dtype.
///
/// Always valid: as many bytes as shape and dtype ask for, aligned for the dtype, and truth values
/// stored as 0 or 1. Deserialization refuses anything else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct TensorData {
    bytes: Bytes,
    shape: Shape,
    dtype: DType,
}

/// What arrives by deserialization, before it is checked.
#[derive(Deserialize)]
#[serde(rename = "TensorData")]
struct Parts {
    bytes: Bytes,
    shape: Shape,
    dtype: DType,
}

impl TryFrom<Parts> for TensorData {
    type Error = DataError;

    fn try_from(parts: Parts) -> Result<Self, DataError> {
        Self::try_from_bytes(parts.bytes, parts.shape, parts.dtype)
    }
}

/// Creation.
impl TensorData {
    /// Data from its elements, without a copy.
    ///
    /// # Panics
    /// If there are more or fewer elements than `shape` has.
    #[track_caller]
    pub fn new<E: Element, S: Into<Shape>>(elems: Vec<E>, shape: S) -> Self {
        let shape = shape.into();
        let count = elems.len();
        assert!(
            shape.num_elements() == count,
            "shape {shape} does not fit {count} elements"
        );
        Self {
            bytes: Bytes::from_elems(elems),
            shape,
            dtype: E::dtype(),
        }
    }

    /// Data from the bytes of its elements, in native byte order.
    ///
    /// Copies only if the bytes are not aligned for the dtype.
    ///
    /// # Errors
    /// - [`DataError::InvalidByteLength`] if the length is not what shape and dtype ask for;
    /// - [`DataError::InvalidRepresentation`] if a truth value is stored as anything but 0 or 1.
    pub fn try_from_bytes<S: Into<Shape>>(
        bytes: Bytes,
        shape: S,
        dtype: DType,
    ) -> Result<Self, DataError> {
        let shape = shape.into();
        let expected = dtype.size_of(&shape);
        if expected != Some(bytes.len()) {
            return Err(DataError::InvalidByteLength {
                shape,
                dtype,
                len: bytes.len(),
            });
        }
        // The alignment of every element type is its size or, on some targets, less.
        let aligned = bytes.as_ptr().addr().is_multiple_of(dtype.size());
        let bytes = if aligned { bytes } else { bytes.clone() };
        if !has_valid_bools(&bytes, dtype) {
            return Err(DataError::InvalidRepresentation(
                CheckedCastError::InvalidBitPattern,
            ));
        }
        Ok(Self {
            bytes,
            shape,
            dtype,
        })
    }

    /// Data from the bytes of its elements; see [`TensorData::try_from_bytes`].
    ///
    /// # Errors
    /// Those of [`TensorData::try_from_bytes`].
    pub fn try_from_bytes_vec<S: Into<Shape>>(
        bytes: Vec<u8>,
        shape: S,
        dtype: DType,
    ) -> Result<Self, DataError> {
        Self::try_from_bytes(Bytes::from_bytes_vec(bytes), shape, dtype)
    }

    /// Data from the bytes of its elements, in native byte order.
    ///
    /// # Panics
    /// Where [`TensorData::try_from_bytes`] gives an error.
    #[track_caller]
    pub fn from_bytes<S: Into<Shape>>(bytes: Bytes, shape: S, dtype: DType) -> Self {
        match Self::try_from_bytes(bytes, shape, dtype) {
            Ok(data) => data,
            Err(error) => panic!("{error}"),
        }
    }

    /// Data from the bytes of its elements, in native byte order.
    ///
    /// # Panics
    /// Where [`TensorData::try_from_bytes`] gives an error.
    #[track_caller]
    pub fn from_bytes_vec<S: Into<Shape>>(bytes: Vec<u8>, shape: S, dtype: DType) -> Self {
        Self::from_bytes(Bytes::from_bytes_vec(bytes), shape, dtype)
    }

    /// Data with one value everywhere.
    pub fn full<E: Element, S: Into<Shape>>(shape: S, value: E) -> TensorData {
        let shape = shape.into();
        Self::new(vec![value; shape.num_elements()], shape)
    }

    /// Data of a dtype known only at run time, with one value everywhere.
    pub fn full_dtype<E: Into<Scalar>, S: Into<Shape>>(
        shape: S,
        value: E,
        dtype: DType,
    ) -> TensorData {
        let (shape, value) = (shape.into(), value.into());
        let count = shape.num_elements();
        let bytes = convert::store_as(dtype, || core::iter::repeat_n(value, count));
        Self {
            bytes,
            shape,
            dtype,
        }
    }

    /// Quantized data: codes as `i8`, one for each element in row-major order, or as they are stored; with the scales of
    /// the blocks, and the scale of the scales for a scheme of two levels.
    ///
    /// # Panics
    /// If the scheme's codes are no integers, or the numbers of codes or scales do not fit.
    #[track_caller]
    pub fn quantized<E: Element, S: Into<Shape>>(
        values: Vec<E>,
        shape: S,
        scheme: QuantScheme,
        scales: &[f32],
        global: Option<f32>,
    ) -> Self {
        let stored = QuantizedBytes::new(values, shape, scheme, scales, global);
        Self::from_bytes(stored.bytes, stored.shape, DType::QFloat(scheme))
    }

    /// Data of zeros.
    pub fn zeros<E: Element, S: Into<Shape>>(shape: S) -> TensorData {
        Self::full(shape, E::zeroed())
    }

    /// Data of ones.
    pub fn ones<E: Element, S: Into<Shape>>(shape: S) -> TensorData {
        Self::full(shape, E::from_elem(1u8))
    }

    /// Data of random elements.
    ///
    /// # Panics
    /// If the parameters of `distribution` are none; see [`Distribution::sampler`].
    #[track_caller]
    pub fn random<E: Element, R: Rng, S: Into<Shape>>(
        shape: S,
        distribution: Distribution,
        rng: &mut R,
    ) -> Self {
        let shape = shape.into();
        let elems = (0..shape.num_elements())
            .map(|_| E::random(distribution, rng))
            .collect();
        Self::new(elems, shape)
    }
}

/// Access.
impl TensorData {
    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many dimensions there are.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// How many elements there are.
    pub fn num_elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// The buffer.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The bytes of the elements, in native byte order.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The buffer, without a copy.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Buffer, shape and dtype, without a copy.
    pub fn into_parts(self) -> (Bytes, Shape, DType) {
        (self.bytes, self.shape, self.dtype)
    }

    /// The elements, where `E` is how they are stored.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] for another type: there is no conversion here. Truth values in
    /// `u8` or `u32` are read as such.
    pub fn as_slice<E: Element>(&self) -> Result<&[E], DataError> {
        self.check_dtype::<E>()?;
        try_cast_slice(&self.bytes).map_err(DataError::InvalidRepresentation)
    }

    /// The elements, to change them; where `E` is how they are stored.
    ///
    /// # Errors
    /// [`DataError::DTypeMismatch`] for another type, and for truth values that are not stored as
    /// `bool`, as anything could be written to them.
    pub fn as_mut_slice<E: Element>(&mut self) -> Result<&mut [E], DataError> {
        if self.dtype != E::dtype() {
            return Err(DataError::DTypeMismatch {
                expected: E::dtype(),
                actual: self.dtype,
            });
        }
        try_cast_slice_mut(&mut self.bytes).map_err(DataError::InvalidRepresentation)
    }

    /// Gives the buffers of several data to `run` at once and returns its result.
    ///
    /// # Panics
    /// If a buffer no longer holds valid data afterwards; see [`TensorData::try_from_bytes`].
    #[track_caller]
    pub fn with_bytes_mut<'a, R>(
        all: impl IntoIterator<Item = &'a mut TensorData>,
        run: impl FnOnce(Vec<&mut Bytes>) -> R,
    ) -> R {
        let mut all: Vec<_> = all.into_iter().collect();
        let result = run(all.iter_mut().map(|data| &mut data.bytes).collect());
        for data in all {
            let Self {
                bytes,
                shape,
                dtype,
            } = data;
            *data = Self::from_bytes(core::mem::take(bytes), shape.clone(), *dtype);
        }
        result
    }

    /// Whether `E` is how the elements are stored.
    fn check_dtype<E: Element>(&self) -> Result<(), DataError> {
        let stored = match self.dtype {
            DType::Bool(BoolStore::U8) => DType::U8,
            DType::Bool(BoolStore::U32) => DType::U32,
            dtype => dtype,
        };
        if stored == E::dtype() {
            Ok(())
        } else {
            Err(DataError::DTypeMismatch {
                expected: E::dtype(),
                actual: self.dtype,
            })
        }
    }
}

/// Whether all truth values are 0 or 1; true for other dtypes.
fn has_valid_bools(bytes: &[u8], dtype: DType) -> bool {
    match dtype {
        DType::Bool(BoolStore::Native | BoolStore::U8) => bytes.iter().all(|byte| *byte <= 1),
        DType::Bool(BoolStore::U32) => {
            let (words, _) = bytes.as_chunks::<4>();
            words.iter().all(|word| u32::from_ne_bytes(*word) <= 1)
        }
        _ => true,
    }
}

/// How many elements are shown before the rest is left out.
const SHOWN: usize = 16;

impl fmt::Display for TensorData {
    /// The first elements, flat.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.num_elements().min(SHOWN);
        f.write_str("[")?;
        convert::with_elements!(self, elems => for (i, elem) in elems[..shown].iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{elem:?}")?;
        });
        f.write_str(if self.num_elements() > shown {
            ", …]"
        } else {
            "]"
        })
    }
}

impl<E: Element, const A: usize> From<[E; A]> for TensorData {
    fn from(elems: [E; A]) -> Self {
        Self::new(elems.to_vec(), [A])
    }
}

impl<E: Element, const A: usize, const B: usize> From<[[E; B]; A]> for TensorData {
    fn from(elems: [[E; B]; A]) -> Self {
        Self::new(elems.as_flattened().to_vec(), [A, B])
    }
}

impl<E: Element, const A: usize, const B: usize, const C: usize> From<[[[E; C]; B]; A]>
    for TensorData
{
    fn from(elems: [[[E; C]; B]; A]) -> Self {
        Self::new(elems.as_flattened().as_flattened().to_vec(), [A, B, C])
    }
}

impl<E: Element, const A: usize, const B: usize, const C: usize, const D: usize>
    From<[[[[E; D]; C]; B]; A]> for TensorData
{
    fn from(elems: [[[[E; D]; C]; B]; A]) -> Self {
        let flat = elems.as_flattened().as_flattened().as_flattened();
        Self::new(flat.to_vec(), [A, B, C, D])
    }
}

impl<T: Element, const A: usize, const B: usize, const C: usize, const D: usize, const E: usize>
    From<[[[[[T; E]; D]; C]; B]; A]> for TensorData
{
    fn from(elems: [[[[[T; E]; D]; C]; B]; A]) -> Self {
        let flat = elems
            .as_flattened()
            .as_flattened()
            .as_flattened()
            .as_flattened();
        Self::new(flat.to_vec(), [A, B, C, D, E])
    }
}

impl<E: Element> From<&[E]> for TensorData {
    fn from(elems: &[E]) -> Self {
        Self::new(elems.to_vec(), [elems.len()])
    }
}

/// As `i64`: no dtype has the width of an address.
impl<const A: usize> From<[usize; A]> for TensorData {
    fn from(elems: [usize; A]) -> Self {
        Self::from(&elems[..])
    }
}

/// As `i64`: no dtype has the width of an address.
impl From<&[usize]> for TensorData {
    fn from(elems: &[usize]) -> Self {
        Self::new(
            elems.iter().map(|elem| *elem as i64).collect(),
            [elems.len()],
        )
    }
}
