//! The Rust types that elements of a tensor can have, and what each of them can do.

pub mod cast;
mod flexible;
mod scalar;

use core::cmp::Ordering;
use core::fmt::{Debug, Display};

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use rand::Rng;

use crate::distribution::random_half;
use crate::{BoolStore, DType, Distribution, bf16, f16};
use cast::ToElement;
pub use flexible::flex32;
pub use scalar::Scalar;

/// A Rust type that elements of a tensor can have.
pub trait Element:
    ToElement
    + ElementRandom
    + ElementConversion
    + ElementEq
    + CheckedBitPattern
    + NoUninit
    + Zeroable
    + Debug
    + Display
    + Default
    + Send
    + Sync
    + Copy
    + 'static
{
    /// The dtype that stores this type.
    fn dtype() -> DType;
}

/// Conversion between elements, which always succeeds.
///
/// Floats become integers by cutting the fraction, saturating at the limits; NaN becomes 0.
/// Integers keep their lower bits, as with `as`. Every number but 0 is true; true is 1.
pub trait ElementConversion {
    /// The element as another type.
    fn elem<E: Element>(self) -> E;

    /// This type from another one.
    fn from_elem<E: ToElement>(elem: E) -> Self;
}

/// Random elements.
pub trait ElementRandom {
    /// One element drawn from `distribution`.
    ///
    /// By default, floats are uniform in `[0, 1)`, integers over all their values, and truth
    /// values are a fair coin. Drawn numbers become integers and truth values by
    /// [`ElementConversion`].
    fn random<R: Rng>(distribution: Distribution, rng: &mut R) -> Self;
}

/// A total order of elements. Floats follow IEEE 754 `totalOrder`: NaN is above infinity.
pub trait ElementComparison {
    /// Compares two elements.
    fn cmp(&self, other: &Self) -> Ordering;
}

/// Equality of elements as `==` has it: NaN differs from itself.
pub trait ElementEq {
    /// Whether two elements are equal.
    fn eq(&self, other: &Self) -> bool;
}

/// The bounds of an element type.
pub trait ElementLimits {
    /// Smallest finite value.
    const MIN: Self;
    /// Largest finite value.
    const MAX: Self;
}

/// Addition of elements; integers wrap around.
pub trait ElementAdd {
    /// The sum.
    fn add(self, other: Self) -> Self;
}

/// An element with an order and bounds.
pub trait ElementOrdered: Element + ElementComparison + ElementLimits {}

macro_rules! element {
    ($ty:ty, $dtype:expr, to $to:ident, cmp $cmp:expr, limits $min:expr, $max:expr,
     random $random:expr $(, add $add:expr)?) => {
        impl Element for $ty {
            fn dtype() -> DType {
                $dtype
            }
        }

        impl ElementConversion for $ty {
            #[inline]
            fn elem<E: Element>(self) -> E {
                E::from_elem(self)
            }

            #[inline]
            fn from_elem<E: ToElement>(elem: E) -> Self {
                ToElement::$to(&elem).into()
            }
        }

        impl ElementRandom for $ty {
            fn random<R: Rng>(distribution: Distribution, rng: &mut R) -> Self {
                $random(distribution, rng)
            }
        }

        impl ElementComparison for $ty {
            fn cmp(&self, other: &Self) -> Ordering {
                $cmp(self, other)
            }
        }

        impl ElementEq for $ty {
            fn eq(&self, other: &Self) -> bool {
                self == other
            }
        }

        impl ElementLimits for $ty {
            const MIN: Self = $min;
            const MAX: Self = $max;
        }

        $(impl ElementAdd for $ty {
            fn add(self, other: Self) -> Self {
                $add(self, other)
            }
        })?

        impl ElementOrdered for $ty {}
    };
}

macro_rules! int_element {
    ($ty:ident, $dtype:ident, $to:ident) => {
        element!($ty, DType::$dtype, to $to, cmp Ord::cmp, limits <$ty>::MIN, <$ty>::MAX,
            random |distribution: Distribution, rng| distribution.sampler(rng).sample(),
            add <$ty>::wrapping_add);
    };
}

macro_rules! float_element {
    ($ty:ident, $dtype:ident, $to:ident, $random:expr) => {
        element!($ty, DType::$dtype, to $to, cmp <$ty>::total_cmp, limits <$ty>::MIN, <$ty>::MAX,
            random $random, add |lhs: $ty, rhs: $ty| lhs + rhs);
    };
}

int_element!(i8, I8, to_i8);
int_element!(i16, I16, to_i16);
int_element!(i32, I32, to_i32);
int_element!(i64, I64, to_i64);
int_element!(u8, U8, to_u8);
int_element!(u16, U16, to_u16);
int_element!(u32, U32, to_u32);
int_element!(u64, U64, to_u64);
float_element!(f64, F64, to_f64, |distribution: Distribution, rng| {
    distribution.sampler(rng).sample()
});
float_element!(f32, F32, to_f32, |distribution: Distribution, rng| {
    distribution.sampler(rng).sample()
});
float_element!(flex32, Flex32, to_f32, |distribution: Distribution, rng| {
    flex32::from_f32(distribution.sampler(rng).sample())
});
float_element!(f16, F16, to_f16, random_half);
float_element!(bf16, BF16, to_bf16, random_half);

element!(bool, DType::Bool(BoolStore::Native), to to_bool, cmp Ord::cmp, limits false, true,
random |distribution, rng| match distribution {
    Distribution::Default => Distribution::Bernoulli(0.5).sampler::<_, u8>(rng).sample() != 0,
    // Integers first, so that `Uniform(0, 2)` is a fair coin too.
    other => i64::random(other, rng) != 0,
});
