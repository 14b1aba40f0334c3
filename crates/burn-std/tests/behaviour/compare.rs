//! Assertions about data and what they say when they fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn_std::{TensorData, Tolerance, f16};

/// The message of the panic that `run` ends with.
#[track_caller]
fn panic_of(run: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("the assertion should fail");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(_) => panic!("the message is no string"),
    }
}

#[test]
fn equal_data_passes_and_lax_equality_ignores_the_dtype() {
    let data = TensorData::from([[1f32, 2.0]]);
    data.assert_eq(&data.clone(), true);
    data.assert_eq(&TensorData::from([[1i64, 2]]), false);
    let message = panic_of(|| data.assert_eq(&TensorData::from([[1i64, 2]]), true));
    assert_eq!(message, "data is not equal: dtype f32 differs from i64");
}

#[test]
fn a_mismatch_names_position_and_values() {
    let lhs = TensorData::from([[1i32, 2], [3, 4]]);
    let message = panic_of(|| lhs.assert_eq(&TensorData::from([[1i32, 2], [0, 4]]), true));
    assert_eq!(
        message,
        "data is not equal: 1 of 4 elements\n  at [1, 0]: 3 is not 0"
    );
}

#[test]
fn other_shapes_are_not_equal() {
    let message =
        panic_of(|| TensorData::from([1i32]).assert_eq(&TensorData::from([[1i32]]), true));
    assert_eq!(message, "data is not equal: shape [1] differs from [1, 1]");
}

#[test]
fn only_the_first_mismatches_are_listed() {
    let (lhs, rhs) = (
        TensorData::zeros::<f32, _>([9]),
        TensorData::ones::<f32, _>([9]),
    );
    let message = panic_of(|| lhs.assert_approx_eq::<f32>(&rhs, Tolerance::default()));
    assert!(
        message.starts_with("data is not equal within relative 0.005, absolute 1e-5: 9 of 9 elements\n  at [0]: 0 is not 1, off by 1\n"),
        "{message}"
    );
    assert!(
        message.ends_with("  at [4]: 0 is not 1, off by 1\n  and 4 more"),
        "{message}"
    );
}

#[test]
fn the_relative_limit_is_a_share_of_the_larger_number() {
    let tolerance = Tolerance::<f64>::relative(0.1);
    // 0.1 / 1.1 = 0.091 and 0.12 / 1.12 = 0.107
    assert!(tolerance.approx_eq(1.0, 1.1) && tolerance.approx_eq(-1.1, -1.0));
    assert!(!tolerance.approx_eq(1.0, 1.12) && !tolerance.approx_eq(1.0, -1.0));
}

#[test]
fn the_limits_do_not_add_up() {
    let tolerance = Tolerance::<f32>::rel_abs(0.1, 0.1);
    assert!(tolerance.approx_eq(1.0, 1.11));
    assert!(!tolerance.approx_eq(1.0, 1.15));
}

#[test]
fn infinity_is_close_to_itself_only() {
    let tolerance = Tolerance::<f32>::permissive();
    assert!(tolerance.approx_eq(f32::INFINITY, f32::INFINITY));
    assert!(!tolerance.approx_eq(f32::INFINITY, 1.0));
    assert!(!tolerance.approx_eq(f32::INFINITY, f32::NEG_INFINITY));
}

#[test]
fn nan_matches_nan_in_data_and_nothing_else() {
    let nan = TensorData::from([f32::NAN]);
    nan.assert_approx_eq::<f32>(&nan.clone(), Tolerance::default());
    assert!(!Tolerance::<f32>::default().approx_eq(f32::NAN, f32::NAN));
    panic_of(|| nan.assert_approx_eq::<f32>(&TensorData::from([1f32]), Tolerance::default()));
    panic_of(|| nan.assert_eq(&nan.clone(), true));
}

#[test]
fn setters_reach_the_precision_they_name() {
    let single = Tolerance::<f32>::balanced().set_half_precision_relative(0.5);
    assert_eq!(single, Tolerance::balanced());
    let half = Tolerance::<f16>::strict().set_half_precision_absolute(0.5);
    assert!(half.approx_eq(f16::ONE, f16::from_f32(1.5)));
}

#[test]
#[should_panic(expected = "a relative tolerance lies between 0 and 1")]
fn a_relative_tolerance_above_one_panics() {
    let _ = Tolerance::<f32>::relative(1.5);
}

#[test]
fn ranges_leave_out_the_end_unless_inclusive() {
    let data = TensorData::from([-0.0f32, 5.0]);
    data.assert_within_range_inclusive(0f32..=5.0);
    let message = panic_of(|| data.assert_within_range(0f32..5.0));
    assert_eq!(
        message,
        "data is not within 0.0..5.0: 1 of 2 elements\n  at [1]: 5"
    );
    panic_of(|| TensorData::from([f32::NAN]).assert_within_range(0f32..5.0));
    panic_of(|| TensorData::from([-f32::NAN]).assert_within_range(0f32..5.0));
}
