//! What the elements of a tensor mean, as types. How they are stored is a [`DType`].

use burn_std::{DType, DeviceSettings};
use core::fmt::Debug;

/// What the elements of a tensor mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Floating point numbers.
    Float,
    /// Integers.
    Int,
}

impl Kind {
    /// The name of the kind, like `"Float"`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Bool => "Bool",
            Self::Float => "Float",
            Self::Int => "Int",
        }
    }

    /// The element type that a device prefers for the kind.
    pub(crate) fn dtype(self, settings: DeviceSettings) -> DType {
        match self {
            Self::Bool => settings.bool_dtype.into(),
            Self::Float => settings.float_dtype.into(),
            Self::Int => settings.int_dtype.into(),
        }
    }
}

impl From<DType> for Kind {
    fn from(dtype: DType) -> Self {
        match dtype.kind() {
            burn_std::Kind::Bool => Self::Bool,
            burn_std::Kind::Float => Self::Float,
            burn_std::Kind::Int => Self::Int,
        }
    }
}

/// Truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bool;

/// Floating point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Float;

/// Integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Int;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Bool {}
    impl Sealed for super::Float {}
    impl Sealed for super::Int {}
}

/// A kind as a type.
pub trait TensorKind: sealed::Sealed + Clone + Send + Sync + Debug + 'static {
    /// The kind as a value.
    const KIND: Kind;

    /// The name of the kind, like `"Float"`.
    fn name() -> &'static str {
        Self::KIND.as_str()
    }
}

impl TensorKind for Bool {
    const KIND: Kind = Kind::Bool;
}

impl TensorKind for Float {
    const KIND: Kind = Kind::Float;
}

impl TensorKind for Int {
    const KIND: Kind = Kind::Int;
}

/// Kinds of tensors: all of them.
pub trait Basic: TensorKind {}
impl<K: TensorKind> Basic for K {}

/// Kinds that live on autodiff devices: all of them, though gradients flow through floats only.
pub trait Autodiff: Basic {}
impl<K: Basic> Autodiff for K {}

/// Kinds that a [`Transaction`](crate::Transaction) reads: all of them.
pub trait Transaction: Basic {}
impl<K: Basic> Transaction for K {}

/// Kinds with arithmetic: [`Float`] and [`Int`].
pub trait Numeric: Basic {}
impl Numeric for Float {}
impl Numeric for Int {}

/// Kinds with an order: [`Float`] and [`Int`].
pub trait Ordered: Numeric {}
impl Ordered for Float {}
impl Ordered for Int {}

/// Kinds with transcendental functions: [`Float`].
pub trait FloatMath: Ordered {}
impl FloatMath for Float {}
