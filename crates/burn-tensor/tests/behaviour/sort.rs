//! Running values and order. Cases named BC are of the list of cases that must come out right.

use super::{ad, close, dev, equal, message};
use burn_tensor::{DType, Int, Tensor, TensorData};
use insta::assert_snapshot;

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// The cumulative part of BC-001.
#[test]
fn running_extrema_are_nan_from_the_first_nan_on() {
    let x = Tensor::<2>::from_data([[1.0, NAN, 3.0], [NAN, 2.0, NAN], [4.0, 7.0, 7.0]], &dev());
    let most = [[1.0, NAN, NAN], [NAN, NAN, NAN], [4.0, 7.0, 7.0]];
    let least = [[1.0, NAN, NAN], [NAN, NAN, NAN], [4.0, 4.0, 4.0]];
    close(x.clone().cummax(1), most);
    close(x.clone().cummin(1), least);
    for size in [511, 512, 513] {
        let zeros = Tensor::<2>::zeros([3, size - 3], &dev());
        let long = Tensor::cat(vec![zeros, x.clone()], 1);
        let end = [0..3, size - 3..size];
        close(long.clone().cummax(1).slice(end.clone()), most);
        let first = long.cummin(1).slice([1..2, size - 4..size]);
        close(first, [[0.0, NAN, NAN, NAN]]);
    }
}

/// BC-011.
#[test]
fn running_values_follow_the_dims_of_a_view() {
    let x = Tensor::<1, Int>::arange(0..24, &dev())
        .float()
        .reshape([2, 3, 4])
        .permute([2, 0, 1]);
    let part = |x: Tensor<3>, at: usize| x.narrow(0, at, 1).squeeze_dim::<2>(0);
    close(
        part(x.clone().cumsum(1), 0),
        [[0., 4., 8.], [12., 20., 28.]],
    );
    close(
        part(x.clone().cumsum(0), 3),
        [[6., 22., 38.], [54., 70., 86.]],
    );
    close(part(x.cumprod(2), 1), [[1., 5., 45.], [13., 221., 4641.]]);
}

#[test]
fn running_sums_of_ints_wrap_and_of_long_lines_add_up() {
    let x =
        Tensor::<1, Int>::from_data(TensorData::new(vec![200u8, 100], [2]), (&dev(), DType::U8));
    equal(x.cumsum(0), [200, 44]);
    // Beyond what is scanned at a time: 1 + 2 + … + n.
    let n = 200_000i64;
    let x = Tensor::<1, Int>::arange(1..n + 1, (&dev(), DType::I64));
    equal(x.cumsum(0).narrow(0, n as usize - 1, 1), [n * (n + 1) / 2]);
}

#[test]
fn order_is_stable_and_nan_is_above_everything() {
    let x = Tensor::<1>::from_data([3.0, NAN, 1.0, -INF, 2.0, 1.0], &dev());
    close(x.clone().sort(0), [-INF, 1.0, 1.0, 2.0, 3.0, NAN]);
    close(
        x.clone().sort_descending(0),
        [NAN, 3.0, 2.0, 1.0, 1.0, -INF],
    );
    equal(x.clone().argsort(0), [3, 2, 5, 4, 0, 1]);
    equal(x.clone().argsort_descending(0), [1, 0, 4, 2, 5, 3]);
    close(x.clone().topk(2, 0), [NAN, 3.0]);
    let (values, indices) = x.topk_with_indices(3, 0);
    close(values, [NAN, 3.0, 2.0]);
    equal(indices, [1, 0, 4]);
}

#[test]
fn zeros_of_either_sign_are_equal_and_keep_their_places() {
    let x = Tensor::<1>::from_data([0.0, -0.0, -1.0, 0.0], &dev());
    equal(x.clone().argsort(0), [2, 0, 1, 3]);
    let signs: Vec<bool> = x
        .sort(0)
        .into_data()
        .iter::<f32>()
        .map(f32::is_sign_negative)
        .collect();
    assert_eq!(signs, [true, false, true, false]);
}

#[test]
fn any_dim_of_any_tensor_sorts() {
    let x = Tensor::<2, Int>::from_data([[3, 1, 2], [0, 5, 4]], &dev());
    equal(x.clone().sort(0), [[0, 1, 2], [3, 5, 4]]);
    let (values, indices) = x.clone().transpose().sort_descending_with_indices(0);
    equal(values, [[3, 5], [2, 4], [1, 0]]);
    equal(indices, [[0, 1], [2, 2], [1, 0]]);
    equal(x.argtopk(1, 1), [[0], [1]]);
}

#[test]
fn the_median_is_the_lower_of_two_and_nan_if_any_is() {
    let x = Tensor::<2>::from_data([[4.0, 1.0, 3.0, 1.0], [1.0, NAN, 0.0, NAN]], &dev());
    let (values, indices) = x.median_with_indices(1);
    close(values, [[1.0], [NAN]]);
    equal(indices, [[3], [1]]);
    let text = message(|| Tensor::<1>::zeros([0], &dev()).median(0));
    assert!(text.starts_with("`median`: dim 0 has size 0"), "{text}");
}

#[test]
fn more_than_there_are_cannot_be_the_largest() {
    let text = message(|| Tensor::<1>::ones([3], &dev()).topk(4, 0));
    assert_snapshot!(text, @"
    `topk`: dim 0 has no 4 elements
      input: f32 [3]
      legal: at most 3
    ");
}

/// BC-035.
#[test]
fn a_running_product_has_exact_gradients_at_zeros() {
    let x = Tensor::<1>::from_data([3., 0., 5., 2.], &ad()).require_grad();
    let gradients = x.clone().cumprod(0).sum().backward();
    close(x.grad(&gradients).unwrap(), [1., 48., 0., 0.]);
    let z = Tensor::<1>::from_data([2., 0., 0., 4.], &ad()).require_grad();
    let weights = Tensor::<1>::from_data([1., 2., 3., 4.], &ad());
    let gradients = (z.clone().cumprod(0) * weights).sum().backward();
    close(z.grad(&gradients).unwrap(), [1., 4., 0., 0.]);
}

#[test]
fn the_first_to_reach_a_running_extremum_gets_the_gradient() {
    let x = Tensor::<1>::from_data([1., 3., 3., 2.], &ad()).require_grad();
    let weights = Tensor::<1>::from_data([1., 10., 100., 1000.], &ad());
    let gradients = (x.clone().cummax(0) * weights).backward();
    close(x.grad(&gradients).unwrap(), [1., 1110., 0., 0.]);
}

#[test]
fn sorted_elements_send_their_gradients_back() {
    let x = Tensor::<1>::from_data([3., 1., 2.], &ad()).require_grad();
    let weights = || Tensor::<1>::from_data([1., 10., 100.], &ad());
    let gradients = (x.clone().sort(0) * weights()).backward();
    close(x.grad(&gradients).unwrap(), [100., 1., 10.]);
    let gradients = x.clone().topk(2, 0).backward();
    close(x.grad(&gradients).unwrap(), [1., 0., 1.]);
}
