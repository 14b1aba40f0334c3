//! Conversion of elements, and scalars.

use std::cmp::Ordering;
use std::collections::HashSet;

use burn_std::{
    BoolStore, DType, ElementComparison, ElementConversion, ElementEq, Scalar, bf16, f16,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn floats_convert_as_the_language_casts(value: f64) {
        prop_assert_eq!(value.elem::<i8>(), value as i8);
        prop_assert_eq!(value.elem::<u64>(), value as u64);
        prop_assert_eq!(value.elem::<f32>().to_bits(), (value as f32).to_bits());
        prop_assert_eq!(value.elem::<f16>().to_bits(), f16::from_f64(value).to_bits());
        prop_assert_eq!(value.elem::<bool>(), value != 0.0);
    }

    #[test]
    fn integers_convert_as_the_language_casts(value: i64) {
        prop_assert_eq!(value.elem::<u8>(), value as u8);
        prop_assert_eq!(value.elem::<i32>(), value as i32);
        prop_assert_eq!(value.elem::<f32>(), value as f32);
        prop_assert_eq!(value.elem::<bf16>(), bf16::from_f64(value as f64));
    }

    #[test]
    fn halves_convert_through_the_number_they_stand_for(bits: u16) {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        prop_assert_eq!(half.elem::<i32>(), half.to_f64() as i32);
        prop_assert_eq!(brain.elem::<u8>(), brain.to_f64() as u8);
        prop_assert_eq!(half.elem::<bool>(), half.to_f64() != 0.0);
    }
}

#[test]
fn true_is_one_in_every_type() {
    assert_eq!(
        (true.elem::<u8>(), true.elem::<f64>(), true.elem::<bf16>()),
        (1, 1.0, bf16::ONE)
    );
    assert!(f32::NAN.elem::<bool>() && !(-0.0f32).elem::<bool>());
}

#[test]
fn nan_sorts_last_and_equals_nothing() {
    assert_eq!(
        ElementComparison::cmp(&f32::NAN, &f32::INFINITY),
        Ordering::Greater
    );
    assert!(!ElementEq::eq(&f32::NAN, &f32::NAN));
    assert!(ElementEq::eq(&0.0f32, &-0.0));
}

#[test]
fn a_scalar_takes_the_kind_of_the_dtype_it_meets() {
    assert_eq!(Scalar::new(2.7, &DType::I32), Scalar::Int(2));
    assert_eq!(Scalar::new(2.7, &DType::U8), Scalar::UInt(2));
    assert_eq!(Scalar::new(3, &DType::BF16), Scalar::Float(3.0));
    assert_eq!(
        Scalar::new(3, &DType::Bool(BoolStore::U32)),
        Scalar::Bool(true)
    );
}

#[test]
fn scalars_are_equal_by_kind_and_bits() {
    assert_eq!(Scalar::Float(f64::NAN), Scalar::Float(f64::NAN));
    assert_ne!(Scalar::Float(0.0), Scalar::Float(-0.0));
    assert_ne!(Scalar::Int(1), Scalar::UInt(1));
    assert_eq!(
        HashSet::from([Scalar::Int(1), Scalar::Int(1), Scalar::Bool(true)]).len(),
        2
    );
}

#[test]
fn only_whole_floats_are_integers() {
    assert_eq!(Scalar::Float(2.0).try_as_integer(), Some(Scalar::Int(2)));
    for value in [2.5, f64::NAN, f64::INFINITY, 9.3e18] {
        assert_eq!(Scalar::Float(value).try_as_integer(), None, "{value}");
    }
    assert_eq!(
        Scalar::Float(-9_223_372_036_854_775_808.0).try_as_integer(),
        Some(Scalar::Int(i64::MIN))
    );
}

#[test]
fn a_scalar_serializes_by_variant_name() {
    let text = serde_json::to_string(&Scalar::Int(-3)).unwrap();
    assert_eq!(text, r#"{"Int":-3}"#);
    assert_eq!(
        serde_json::from_str::<Scalar>(&text).unwrap(),
        Scalar::Int(-3)
    );
}

#[test]
fn a_scalar_becomes_any_element() {
    assert_eq!(Scalar::from(3u8).elem::<f16>(), f16::from_f32(3.0));
    assert_eq!(Scalar::Float(-1.5).elem::<u8>(), 0);
    assert!(Scalar::UInt(u64::MAX).elem::<bool>());
}
