//! Comparisons, masks and logic.

use super::{close, dev, equal};
use burn_tensor::{Bool, DType, Tensor};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

fn floats<const N: usize>(values: [f32; N]) -> Tensor<1> {
    Tensor::from_data(values, &dev())
}

/// BC-019: equal infinities are close, and a finite number is close to none.
#[test]
fn infinities_are_close_to_themselves_only() {
    let a = floats([INF, INF, -INF, NAN, 1.0]);
    let b = floats([INF, -INF, -INF, NAN, INF]);
    let expected = [true, false, true, false, false];
    equal(a.clone().is_close(b.clone(), None, None), expected);
    assert!(!a.all_close(b, None, None));
    assert!(floats([1.0]).all_close(floats([1.0 + 5e-6]), None, None));
}

/// BC-029: comparisons with NaN are false, and transposed operands compare element by element.
#[test]
fn a_tensor_is_lower_or_equal_to_itself_but_for_nan() {
    let t = Tensor::<2>::from_data([[0.0, 1.0, 0.0], [1.0, -1.0, 1.0]], &dev()) + 1e-6;
    equal(t.clone().lower_equal(t.clone()).all(), [true]);
    let n = floats([1.0, NAN]);
    equal(n.clone().lower_equal(n), [true, false]);
    let view = t.clone().swap_dims(0, 1);
    let copy = Tensor::<2>::from_data(view.to_data(), &dev());
    let other = copy.clone() * 0.5;
    let expected = copy.lower_equal(other.clone()).into_data();
    view.lower_equal(other)
        .into_data()
        .assert_eq(&expected, true);
}

#[test]
fn every_relation_compares_with_a_tensor_and_a_number() {
    let x = || floats([1.0, 2.0, 3.0]);
    let two = || floats([2.0]);
    equal(x().equal(two()), [false, true, false]);
    equal(x().not_equal_elem(2), [true, false, true]);
    equal(x().greater(two()), [false, false, true]);
    equal(x().greater_equal_scalar(2), [false, true, true]);
    equal(x().lower_elem(2), [true, false, false]);
    equal(x().lower_equal(two()), [true, true, false]);
}

#[test]
fn special_values_are_told_apart() {
    let x = || floats([NAN, INF, -INF, 0.0]);
    equal(x().is_nan(), [true, false, false, false]);
    equal(x().is_inf(), [false, true, true, false]);
    equal(x().is_finite(), [false, false, false, true]);
    equal(x().contains_nan(), [true]);
}

#[test]
fn masks_choose_by_element_and_broadcast() {
    let x = Tensor::<2>::from_data([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], &dev());
    let mask = Tensor::<2, Bool>::from_data([[true, false, true]], &dev());
    close(
        x.clone().mask_where(mask, x.clone() * 10.0),
        [[0.0, 1.0, 20.0], [30.0, 4.0, 50.0]],
    );
    let large = x.clone().greater_elem(2);
    close(
        x.mask_fill(large, -1),
        [[0.0, 1.0, 2.0], [-1.0, -1.0, -1.0]],
    );
}

#[test]
fn truth_values_combine() {
    let (a, b) = ([true, true, false, false], [true, false, true, false]);
    let (a, b) = (
        Tensor::<1, Bool>::from_bool(a, &dev()),
        Tensor::<1, Bool>::from_bool(b, &dev()),
    );
    equal(a.clone() & b.clone(), [true, false, false, false]);
    equal(a.clone() | b.clone(), [true, true, true, false]);
    equal(a.clone() ^ b.clone(), [false, true, true, false]);
    equal(!a.clone(), [false, false, true, true]);
    equal(a.clone().int(), [1, 1, 0, 0]);
    close(a.clone().float(), [1.0, 1.0, 0.0, 0.0]);
    equal(a.equal_elem(false), [false, false, true, true]);
}

#[test]
fn numbers_are_true_unless_zero() {
    equal(floats([0.0, 0.5, NAN]).bool(), [false, true, true]);
    equal(floats([0.0, 0.5]).all(), [false]);
    equal(floats([0.0, 0.5]).any_dim(0), [true]);
    assert_eq!(
        floats([0.0]).bool().dtype(),
        DType::Bool(burn_tensor::BoolStore::Native)
    );
}

#[test]
fn masks_follow_diagonals() {
    type Mask = Tensor<2, Bool>;
    let below = Mask::tril_mask([2, 3], 0, &dev());
    equal(below, [[false, true, true], [false, false, true]]);
    let above = Mask::triu_mask([2, 3], 1, &dev());
    equal(above, [[true, false, false], [true, true, false]]);
    let diagonal = Mask::diag_mask([2, 3], 1, &dev());
    equal(diagonal, [[true, false, true], [true, true, false]]);
    let x = Tensor::<2>::ones([2, 3], &dev());
    close(x.clone().tril(0), [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]);
    close(x.triu(1), [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]);
    assert_eq!(
        Tensor::<3, Bool>::tril_mask([4, 2, 3], 0, &dev()).dims(),
        [4, 2, 3]
    );
}
