//! Numbers in few bits: how they are described and how they are stored. Which values become which codes is the business of
//! whoever quantizes: a backend. Here are the bytes of [`TensorData`](crate::TensorData) with such elements.

mod bytes;
mod scheme;

pub use bytes::{
    BlockLayout, DecodedScales, QPARAM_ALIGN, QParamTensor, QuantizedBytes, decode_codes,
    decode_scales, encode, pack_i8s_to_u32s, quantized_data_len,
};
pub(crate) use bytes::{quantized_len, values};
pub use scheme::{
    BlockScale, BlockSize, QuantMode, QuantScheme, QuantStore, QuantValue, ScaleDtype,
};

use crate::Shape;
use serde::{Deserialize, Serialize};

/// How the range of the values is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Calibration {
    /// From the smallest and the largest value.
    MinMax,
    /// From the mean of the absolute values, as ternary weights are (Ma and others 2024, "The era of 1-bit LLMs",
    /// equation 3).
    AbsMean,
}

/// The element type that products of quantized numbers are summed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuantAcc {
    /// `f32`
    F32,
    /// `f16`
    F16,
    /// `bf16`
    BF16,
}

/// Whether what is computed from quantized numbers is quantized again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuantPropagation {
    /// It is.
    Propagate,
    /// It is not.
    Inhibit,
}

/// How a device quantizes where a program does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuantConfig {
    /// How numbers are stored.
    pub scheme: QuantScheme,
    /// Whether results are quantized again.
    pub propagation: QuantPropagation,
}

impl Default for QuantConfig {
    /// Integers of 8 bits, each in a byte; results stay floats.
    fn default() -> Self {
        let scheme = QuantScheme::default().with_store(QuantStore::Native);
        Self::new(scheme, QuantPropagation::Inhibit)
    }
}

impl QuantConfig {
    /// The two together.
    pub fn new(scheme: QuantScheme, propagation: QuantPropagation) -> Self {
        Self {
            scheme,
            propagation,
        }
    }
}

/// What turns codes back into values: `value = code · scale · global`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QParams<S> {
    /// The scale of the tensor, or of each block.
    pub scales: S,
    /// With two levels, the scale of all scales.
    pub global: Option<S>,
}

/// The sizes of the scales of a tensor: one for each block, and a single one without blocks.
pub fn params_shape(shape: &Shape, scheme: &QuantScheme) -> Shape {
    match scheme.block_size() {
        Some(size) => BlockLayout::new(shape, &size).grid().clone(),
        None => Shape::new([1]),
    }
}

/// Whether the codes of a scheme are integers, which is what can be encoded here; small floats cannot.
pub fn quantizable(scheme: &QuantScheme) -> bool {
    scheme.value.is_integer()
}

/// How the scale of all scales is stored, for a scheme of two levels.
pub fn global_scale_dtype(scheme: &QuantScheme) -> Option<ScaleDtype> {
    scheme.block_scale().and_then(|_| scheme.tensor_scale())
}

/// Bytes of the scale of all scales; 0 for a scheme of one level.
pub fn global_scale_size(scheme: &QuantScheme) -> usize {
    global_scale_dtype(scheme).map_or(0, scale_size)
}

/// Bytes of one scale.
pub fn scale_size(dtype: ScaleDtype) -> usize {
    match dtype {
        ScaleDtype::F32 => 4,
        ScaleDtype::F16 | ScaleDtype::BF16 => 2,
        ScaleDtype::UE8M0 | ScaleDtype::UE4M3 => 1,
    }
}

/// The scale that is stored for `scale`: the smallest of the type that is not below it, so that no value falls out of the
/// range; the largest there is for those beyond.
pub fn scale_to_dtype(scale: f32, dtype: ScaleDtype) -> f32 {
    dtype.decode(dtype.encode(scale))
}
