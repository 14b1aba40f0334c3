//! One value for many elements.

use super::{close, dev, equal};
use burn_tensor::{DType, Int, Tensor, TensorData};

/// BC-009: the last dim of a transposed view is not the last one in memory.
#[test]
fn reductions_follow_strides() {
    let t = Tensor::<2>::from_data([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &dev()).transpose();
    close(t.clone().sum_dim(1), [[5.0], [7.0], [9.0]]);
    close(t.clone().mean_dim(1), [[2.5], [3.5], [4.5]]);
    close(t.clone().max_dim(1), [[4.0], [5.0], [6.0]]);
    equal(t.argmax(1), [[1], [1], [1]]);
}

/// BC-017: the mean of large half precision numbers is a half precision number, though their sum is not.
#[test]
fn half_precision_means_do_not_overflow() {
    let x = Tensor::<1>::full([4], 60000.0, (&dev(), DType::F16));
    let mean = x.clone().mean();
    assert_eq!(mean.dtype(), DType::F16);
    assert_eq!(mean.into_scalar::<f32>(), 60000.0);
    assert_eq!(x.clone().mean_dim(0).into_scalar::<f32>(), 60000.0);
    assert_eq!(x.sum().into_scalar::<f32>(), f32::INFINITY);
}

#[test]
fn several_dims_are_reduced_at_once() {
    let x = || Tensor::<2>::from_data([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], &dev());
    close(x().sum_dims(&[0, 1]), [[15.0]]);
    close(x().mean_dims(&[0, -1]), [[2.5]]);
    close(x().max_dims(&[0]), [[3.0, 4.0, 5.0]]);
    close(x().sum_dims_squeeze::<1, _>(&[-1]), [3.0, 12.0]);
    close(x().sum_dims(&[] as &[usize]), x().into_data());
    close(x().prod_dim(1), [[0.0], [60.0]]);
    close((x() - 4).max_abs(), [4.0]);
    close(x().min(), [0.0]);
}

#[test]
fn extrema_come_with_their_positions() {
    let x = Tensor::<2>::from_data([[0.0, 7.0, 2.0], [3.0, 4.0, 5.0]], &dev());
    let (values, places) = x.clone().max_dim_with_indices(0);
    close(values, [[3.0, 7.0, 5.0]]);
    equal(places, [[1, 0, 1]]);
    let (values, places) = x.min_dim_with_indices(1);
    close(values, [[0.0], [3.0]]);
    equal(places, [[0], [0]]);
}

#[test]
fn int_means_truncate() {
    equal(Tensor::<1, Int>::from_data([1, 2], &dev()).mean(), [1]);
    equal(Tensor::<1, Int>::from_data([-1, -2], &dev()).mean(), [-1]);
}

#[test]
fn nothing_sums_to_zero() {
    close(Tensor::<2>::zeros([0, 3], &dev()).sum(), [0.0]);
    close(
        Tensor::<2>::zeros([0, 3], &dev()).sum_dim(0),
        [[0.0, 0.0, 0.0]],
    );
    close(Tensor::<1>::zeros([0], &dev()).prod(), [1.0]);
}

#[test]
fn variances_divide_by_one_less_unless_biased() {
    let x = || Tensor::<2>::from_data([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], &dev());
    close(x().var(1), [[1.0], [1.0]]);
    close(x().var_bias(1), [[2.0 / 3.0], [2.0 / 3.0]]);
    let (variance, mean) = x().var_mean(0);
    close(variance, [[4.5, 4.5, 4.5]]);
    close(mean, [[1.5, 2.5, 3.5]]);
    assert!(
        Tensor::<1>::ones([1], &dev())
            .var(0)
            .into_scalar::<f32>()
            .is_nan()
    );
}

#[test]
fn covariances_pair_the_variables() {
    let x = || Tensor::<2>::from_data([[0.0, 1.0, 2.0], [5.0, 4.0, 3.0]], &dev());
    close(x().cov(1, 1), [[1.0, -1.0], [-1.0, 1.0]]);
    close(x().transpose().cov(0, 1), [[1.0, -1.0], [-1.0, 1.0]]);
    let batch = x().unsqueeze::<3>().repeat_dim(0, 2).cov(-1, 0);
    let third = 2.0 / 3.0;
    close(
        batch,
        [
            [[third, -third], [-third, third]],
            [[third, -third], [-third, third]],
        ],
    );
}

#[test]
fn a_tensor_without_dims_reduces_to_its_element() {
    let x = Tensor::<0>::from_data(
        burn_tensor::TensorData::new(vec![3.0f32], [0usize; 0]),
        &dev(),
    );
    close(x.clone().sum(), [3.0]);
    close((x * 2.0).reshape([1]), [6.0]);
}

/// BC-031: a reduction that the next instruction reads, in rows around the sizes of blocks.
#[test]
fn a_row_less_its_mean_is_right_at_any_length_fused_or_not() {
    for device in [dev(), dev().unfused()] {
        for len in [1i64, 5, 7, 31, 257] {
            let x = Tensor::<1, Int>::arange(0..3 * len, &device).float();
            let x: Tensor<2> = x.reshape([3, len]);
            let centred = x.clone() - x.mean_dim(1);
            let variance = (centred.clone() * centred.clone()).mean_dim(1);
            let row = (0..len).map(|i| i as f32 - (len - 1) as f32 / 2.0);
            let rows: Vec<f32> = row.clone().chain(row.clone()).chain(row).collect();
            close(centred, TensorData::new(rows, [3, len as usize]));
            close(variance, [[(len * len - 1) as f32 / 12.0]; 3]);
        }
    }
}
