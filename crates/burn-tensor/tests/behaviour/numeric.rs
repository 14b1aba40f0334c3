//! Arithmetic of tensors and numbers.

use super::{close, dev, equal, message};
use burn_tensor::{DType, Int, Tensor, TensorData};

fn floats<const N: usize>(values: [f32; N]) -> Tensor<1> {
    Tensor::from_data(values, &dev())
}

fn ints<const N: usize>(values: [i32; N]) -> Tensor<1, Int> {
    Tensor::from_data(values, &dev())
}

/// BC-003: a dim of size 1 stretches to 0 as to any other size.
#[test]
fn one_element_stretches_to_none() {
    let (one, none) = (
        Tensor::<1>::ones([1], &dev()),
        Tensor::<1>::ones([0], &dev()),
    );
    assert_eq!((one.clone() * none.clone()).dims(), [0]);
    assert_eq!((none * one).dims(), [0]);
    let column = Tensor::<2>::ones([3, 1], &dev());
    let empty = Tensor::<2>::ones([3, 0], &dev());
    assert_eq!((column.clone() + empty.clone()).dims(), [3, 0]);
    assert_eq!((empty + column).dims(), [3, 0]);
}

#[test]
fn a_number_is_converted_to_the_element_type_first() {
    equal(ints([3, 5]) * 1.5, [3, 5]);
    equal(ints([0, 1]).equal_scalar(1.5), [false, true]);
    close(floats([1.0, 2.0]) * 2, [2.0, 4.0]);
}

#[test]
fn numbers_stand_on_either_side() {
    close(1.0 - floats([3.0]), [-2.0]);
    close(1.0 / floats([4.0]), [0.25]);
    close(2 + floats([4.0]), [6.0]);
    close(floats([5.0]) % 3, [2.0]);
    close(-floats([5.0]), [-5.0]);
    equal(3 - ints([1, 5]), [2, -2]);
}

#[test]
fn int_division_truncates_and_gives_zero_for_a_divisor_of_zero() {
    equal(ints([7, -7, 3]) / ints([2, 2, 0]), [3, -3, 0]);
}

/// BC-013: integers wrap at their minimum, in every build.
#[test]
fn the_absolute_value_of_the_smallest_int_wraps() {
    let values = TensorData::from([i64::MIN, -3, 5]);
    let x = Tensor::<1, Int>::from_data(values, (&dev(), DType::I64));
    equal(x.abs(), [i64::MIN, 3, 5]);
    let x = Tensor::<1, Int>::from_data([i8::MIN, -3, 5], (&dev(), DType::I8));
    equal(x.abs(), [i8::MIN, 3, 5]);
}

/// BC-015: the remainder broadcasts and has the sign of the divisor.
#[test]
fn the_remainder_broadcasts_with_the_sign_of_the_divisor() {
    let lhs = Tensor::<2, Int>::from_data([[7], [-8]], &dev());
    let rhs = Tensor::<2, Int>::from_data([[2, 3, 5]], &dev());
    equal(lhs.clone().remainder(rhs.clone()), [[1, 1, 2], [0, 1, 2]]);
    close(
        lhs.float().remainder(rhs.float()),
        [[1.0, 1.0, 2.0], [0.0, 1.0, 2.0]],
    );
}

#[test]
fn fmod_has_the_sign_of_the_dividend() {
    close(
        floats([5.0, -5.0, 5.5, -5.5]).fmod_scalar(3.0),
        [2.0, -2.0, 2.5, -2.5],
    );
    close(floats([5.0, -5.0]).fmod(floats([-3.0, -3.0])), [2.0, -2.0]);
}

#[test]
fn powers_of_ints_and_floats() {
    equal(ints([2, -3]).powi_scalar(3), [8, -27]);
    close(floats([2.0, -3.0]).powi_scalar(3), [8.0, -27.0]);
    close(floats([4.0, 9.0]).powf_scalar(0.5), [2.0, 3.0]);
    close(floats([2.0]).powf(floats([3.0])), [8.0]);
    close(floats([-3.0]).square(), [9.0]);
}

#[test]
fn hypot_does_not_overflow_before_its_result() {
    let (x, y) = (floats([3e30, 0.0, 3.0]), floats([4e30, 0.0, 4.0]));
    let found = x.hypot(y).into_data();
    // 3² + 4² = 5², which no power of ten changes.
    found.assert_approx_eq::<f32>(&TensorData::from([5e30f32, 0.0, 5.0]), Default::default());
}

/// Against the definitions, at points where a naive form loses all digits or overflows.
#[test]
fn hyperbolic_functions_are_accurate_near_zero_and_far_out() {
    let x = [1e-6f32, -1e-6, 0.5, 2.0];
    close(floats(x).sinh(), x.map(f32::sinh));
    close(floats(x).asinh(), x.map(f32::asinh));
    close(
        floats([1e-6f32, 0.5, -0.5]).atanh(),
        [1e-6f32, 0.5, -0.5].map(f32::atanh),
    );
    close(
        floats([1.0f32, 2.0, 1e30]).acosh(),
        [1.0f32, 2.0, 1e30].map(f32::acosh),
    );
    close(floats([0.0f32, 1.0]).tan(), [0.0f32, 1.0].map(f32::tan));
    let far = floats([89.0]).cosh().into_data();
    // cosh 89 = e^89 / 2 = 2.2448e38, while e^89 itself is beyond f32.
    far.assert_within_range(2.243e38f32..2.247e38);
}

#[test]
fn shifts_move_bits_and_keep_the_sign() {
    equal(ints([1, 3]).bitwise_left_shift_scalar(2), [4, 12]);
    equal(ints([-5, 7]).bitwise_right_shift_scalar(1), [-3, 3]);
    equal(
        ints([i32::MIN, -1, i32::MAX]).bitwise_right_shift_scalar(31),
        [-1, -1, 0],
    );
    equal(
        ints([1, 1]).bitwise_left_shift(ints([0, 31])),
        [1, i32::MIN],
    );
    equal(ints([12, 12]).bitwise_right_shift(ints([2, 3])), [3, 1]);
    equal(ints([6]).bitwise_and_scalar(3), [2]);
    equal(ints([6]).bitwise_or(ints([1])), [7]);
    equal(ints([6]).bitwise_xor_scalar(3), [5]);
    equal(ints([0]).bitwise_not(), [-1]);
}

#[test]
fn a_clamp_keeps_nan() {
    let x = floats([f32::NAN, -3.0, 0.5, 3.0])
        .clamp(0.0, 1.0)
        .into_data();
    let values = x.to_vec::<f32>().unwrap();
    assert!(values[0].is_nan());
    assert_eq!(values[1..], [0.0, 0.5, 1.0]);
}

#[test]
fn pairs_give_their_larger_and_smaller() {
    close(floats([1.0, 5.0]).max_pair(floats([3.0, 2.0])), [3.0, 5.0]);
    close(floats([1.0, 5.0]).min_pair(floats([3.0, 2.0])), [1.0, 2.0]);
}

/// BC-027: views multiply like copies.
#[test]
fn a_row_of_a_view_multiplies_with_a_transposed_matrix() {
    let a = Tensor::<1, Int>::arange(0..32, &dev())
        .float()
        .reshape([1, 8, 4]);
    let row: Tensor<2> = a.slice([0..1, 7..8, 0..4]).squeeze_dim(1);
    let w = Tensor::<1, Int>::arange(0..12, &dev())
        .float()
        .reshape([3, 4]);
    // [28, 29, 30, 31] · [4j, 4j + 1, 4j + 2, 4j + 3] for j = 0, 1, 2
    close(row.matmul(w.transpose()), [[182.0, 654.0, 1126.0]]);
    let random = Tensor::<2>::random([2, 2], burn_tensor::Distribution::Default, &dev());
    close(
        Tensor::<2>::zeros([1, 2], &dev()).matmul(random),
        [[0.0, 0.0]],
    );
}

#[test]
fn batches_of_matrices_broadcast() {
    let a = Tensor::<3>::ones([5, 2, 3], &dev());
    let b = Tensor::<3>::ones([1, 3, 4], &dev());
    assert_eq!(a.matmul(b).dims(), [5, 2, 4]);
}

#[test]
fn vectors_have_a_dot_product() {
    equal(ints([0, 1, 2]).dot(ints([3, 4, 5])), [14]);
}

#[test]
fn a_cross_product_is_orthogonal() {
    let x = Tensor::<2>::from_data([[1.0, 0.0, 0.0], [1.0, 2.0, 3.0]], &dev());
    let y = Tensor::<2>::from_data([[0.0, 1.0, 0.0], [4.0, 5.0, 6.0]], &dev());
    close(x.cross(y, 1), [[0.0, 0.0, 1.0], [-3.0, 6.0, -3.0]]);
}

#[test]
fn in_place_changes_keep_other_owners() {
    let mut x = floats([1.0, 2.0]);
    let other = x.clone();
    x.inplace(|x| x + 1.0);
    close(x.clone(), [2.0, 3.0]);
    close(other, [1.0, 2.0]);
    let taken = x.extract();
    close(taken, [2.0, 3.0]);
    assert_eq!(x.dims(), [0]);
}

#[test]
fn casts_choose_the_element_type_and_the_kind() {
    use burn_tensor::{FloatDType, IntDType};
    let x = floats([1.7, -1.7]);
    assert_eq!(x.clone().cast(DType::F64).dtype(), DType::F64);
    assert_eq!(x.clone().cast(IntDType::I8).dtype(), DType::I8);
    equal(x.clone().int(), [1, -1]);
    assert_eq!(x.cast(DType::F64).int().dtype(), DType::I32);
    assert_eq!(ints([1]).cast(FloatDType::F64).dtype(), DType::F64);
    assert_eq!(ints([1]).float().dtype(), DType::F32);
    let text = message(|| ints([1]).cast(DType::F32));
    assert!(text.contains("kind Int was expected"), "{text}");
}

/// Against the language's own functions, ends of the domain included.
#[test]
fn inverse_trigonometric_functions_hold_to_the_ends_of_their_domain() {
    let x = [-1.0f32, -0.999_999, -0.5, -0.0, 1e-6, 0.7, 0.999_999, 1.0];
    close(floats(x).asin(), x.map(f32::asin));
    close(floats(x).acos(), x.map(f32::acos));
    let wide = [-1e30f32, -2.0, 0.0, 3.0, f32::INFINITY];
    close(floats(wide).atan(), wide.map(f32::atan));
    assert!(floats([1.5]).asin().into_scalar::<f32>().is_nan());
    assert!(floats([-1.5]).acos().into_scalar::<f32>().is_nan());
}

/// IEEE 754's table for `atan2`: quadrants, axes with the sign of their zero, and infinities.
#[test]
fn atan2_knows_quadrants_and_signs_of_zero() {
    const INF: f32 = f32::INFINITY;
    let points: [(f32, f32); 14] = [
        (1.0, 2.0),
        (1.0, -2.0),
        (-1.0, -2.0),
        (-3.0, 2.0),
        (0.0, 1.0),
        (-0.0, 1.0),
        (0.0, -1.0),
        (-0.0, -1.0),
        (0.0, 0.0),
        (-0.0, -0.0),
        (0.0, -0.0),
        (INF, INF),
        (-INF, -INF),
        (1.0, -INF),
    ];
    let found = floats(points.map(|(y, _)| y)).atan2(floats(points.map(|(_, x)| x)));
    close(found, points.map(|(y, x)| y.atan2(x)));
    assert!(
        floats([f32::NAN])
            .atan2(floats([1.0]))
            .into_scalar::<f32>()
            .is_nan()
    );
}
