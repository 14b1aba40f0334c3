//! Conversion of numbers to any element type. The rules are those of [`crate::ElementConversion`].

use crate::{Scalar, bf16, f16, flex32};

/// A number that can become any element.
pub trait ToElement {
    /// As `i8`.
    fn to_i8(&self) -> i8;
    /// As `i16`.
    fn to_i16(&self) -> i16;
    /// As `i32`.
    fn to_i32(&self) -> i32;
    /// As `i64`.
    fn to_i64(&self) -> i64;
    /// As `i128`.
    fn to_i128(&self) -> i128;
    /// As `isize`.
    fn to_isize(&self) -> isize;
    /// As `u8`.
    fn to_u8(&self) -> u8;
    /// As `u16`.
    fn to_u16(&self) -> u16;
    /// As `u32`.
    fn to_u32(&self) -> u32;
    /// As `u64`.
    fn to_u64(&self) -> u64;
    /// As `u128`.
    fn to_u128(&self) -> u128;
    /// As `usize`.
    fn to_usize(&self) -> usize;
    /// As `f16`.
    fn to_f16(&self) -> f16;
    /// As `bf16`.
    fn to_bf16(&self) -> bf16;
    /// As `f32`.
    fn to_f32(&self) -> f32;
    /// As `f64`.
    fn to_f64(&self) -> f64;
    /// Whether it is not 0.
    fn to_bool(&self) -> bool;
}

/// Casts by `as` from a primitive that `$prim` reads out of `$ty`; `$half` is the widest float
/// that a half can round from without losing bits on the way.
macro_rules! to_element {
    ($($ty:ty, |$it:ident| $prim:expr, half $half:ident from $from_half:ident;)+) => {
        $(impl ToElement for $ty {
            to_element!(@as $it, $prim, to_i8 i8, to_i16 i16, to_i32 i32, to_i64 i64, to_i128 i128,
                to_isize isize, to_u8 u8, to_u16 u16, to_u32 u32, to_u64 u64, to_u128 u128,
                to_usize usize, to_f32 f32, to_f64 f64);

            #[inline]
            fn to_f16(&self) -> f16 {
                let $it = *self;
                f16::$from_half($prim as $half)
            }

            #[inline]
            fn to_bf16(&self) -> bf16 {
                let $it = *self;
                bf16::$from_half($prim as $half)
            }

            #[inline]
            fn to_bool(&self) -> bool {
                *self != <$ty>::default()
            }
        })+
    };
    (@as $it:ident, $prim:expr, $($method:ident $to:ty),+) => {
        $(#[inline]
        #[allow(clippy::unnecessary_cast)]
        fn $method(&self) -> $to {
            let $it = *self;
            $prim as $to
        })+
    };
}

to_element! {
    bool, |it| u8::from(it), half f32 from from_f32;
    i8, |it| it, half f32 from from_f32;
    i16, |it| it, half f32 from from_f32;
    i32, |it| it, half f64 from from_f64;
    i64, |it| it, half f64 from from_f64;
    i128, |it| it, half f64 from from_f64;
    isize, |it| it, half f64 from from_f64;
    u8, |it| it, half f32 from from_f32;
    u16, |it| it, half f32 from from_f32;
    u32, |it| it, half f64 from from_f64;
    u64, |it| it, half f64 from from_f64;
    u128, |it| it, half f64 from from_f64;
    usize, |it| it, half f64 from from_f64;
    f16, |it| f32::from(it), half f32 from from_f32;
    bf16, |it| f32::from(it), half f32 from from_f32;
    f32, |it| it, half f32 from from_f32;
    flex32, |it| f32::from(it), half f32 from from_f32;
    f64, |it| it, half f64 from from_f64;
}

/// Forwards to the value inside.
macro_rules! scalar_to_element {
    ($($method:ident $to:ty),+) => {
        impl ToElement for Scalar {
            $(#[inline]
            fn $method(&self) -> $to {
                match self {
                    Self::Float(value) => ToElement::$method(value),
                    Self::Int(value) => ToElement::$method(value),
                    Self::UInt(value) => ToElement::$method(value),
                    Self::Bool(value) => ToElement::$method(value),
                }
            })+
        }
    };
}

scalar_to_element!(
    to_i8 i8, to_i16 i16, to_i32 i32, to_i64 i64, to_i128 i128, to_isize isize, to_u8 u8,
    to_u16 u16, to_u32 u32, to_u64 u64, to_u128 u128, to_usize usize, to_f16 f16, to_bf16 bf16,
    to_f32 f32, to_f64 f64, to_bool bool
);
