//! What each decomposition promises, on random and on awkward matrices; values of small ones; gradients by differences.

use burn_linalg::*;
use burn_tensor::{DType, Device, Distribution, Int, Tensor, TensorData, Tolerance};

fn dev() -> Device {
    Device::flex()
}

fn f64s() -> (Device, DType) {
    (dev(), DType::F64)
}

/// Normal numbers in f64.
fn normal<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    let (device, dtype) = f64s();
    Tensor::random(shape, Distribution::Normal(0.0, 1.0), (&device, dtype))
}

fn tensor<const D: usize>(data: impl Into<TensorData>) -> Tensor<D> {
    let (device, dtype) = f64s();
    Tensor::from_data(data, (&device, dtype))
}

/// Equal up to `tolerance`, absolute and relative, in f64.
#[track_caller]
fn close<const D: usize>(found: Tensor<D>, expected: Tensor<D>, tolerance: f64) {
    let expected = expected.into_data().convert::<f64>();
    let found = found.into_data().convert::<f64>();
    found.assert_approx_eq::<f64>(&expected, Tolerance::rel_abs(tolerance, tolerance));
}

fn eye(size: usize) -> Tensor<2> {
    let (device, dtype) = f64s();
    Tensor::<2>::eye(size, &device).cast(dtype)
}

/// Sizes around 1, around a power of two, and wide and tall ones.
const SHAPES: [[usize; 2]; 9] = [
    [1, 1],
    [1, 4],
    [4, 1],
    [2, 2],
    [3, 5],
    [5, 3],
    [8, 8],
    [17, 17],
    [33, 20],
];

#[test]
fn a_permutation_times_triangles_is_the_matrix() {
    for [m, n] in SHAPES {
        let a = normal([2, m, n]);
        let (p, l, u) = lu::<3, 2>(a.clone());
        let k = m.min(n);
        assert_eq!((l.dims(), u.dims()), ([2, m, k], [2, k, n]), "{m} × {n}");
        close(p.clone().matmul(l.clone()).matmul(u.clone()), a, 1e-12);
        close(u.clone(), u.triu(0), 0.0);
        let unit = l.clone().tril(-1)
            + tensor::<3>(TensorData::ones::<f64, _>([2, m, k]))
                .triu(0)
                .tril(0);
        close(l.clone(), unit, 0.0);
        // Pivots are the largest of their column, and each row is taken once.
        assert!(l.abs().max().into_scalar::<f64>() <= 1.0);
        close(
            p.clone().sum_dim(1),
            p.clone().sum_dim(2).swap_dims(1, 2),
            0.0,
        );
        assert_eq!(p.sum().into_scalar::<f64>(), 2.0 * m as f64);
    }
}

#[test]
fn the_decomposition_of_a_small_matrix_is_the_known_one() {
    let (p, l, u) = lu::<2, 1>(tensor([[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [4.0, 2.0, 2.0]]));
    close(
        p,
        tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        0.0,
    );
    close(
        l,
        tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.25, 0.25, 1.0]]),
        0.0,
    );
    close(
        u,
        tensor([[4.0, 2.0, 2.0], [0.0, 2.0, 1.0], [0.0, 0.0, -0.75]]),
        0.0,
    );
}

#[test]
fn a_solution_solves_and_an_inverse_inverts() {
    for n in [1, 2, 3, 8, 19, 64] {
        let a = normal([3, n, n]) + eye(n).unsqueeze::<3>() * 2.0;
        let b = normal([3, n, 2]);
        close(a.clone().matmul(solve(a.clone(), b.clone())), b, 1e-9);
        let unit = eye(n).unsqueeze::<3>().expand([3, n, n]);
        close(a.clone().matmul(inverse(a.clone())), unit.clone(), 1e-9);
        close(inverse(a.clone()).matmul(a), unit, 1e-9);
    }
}

#[test]
fn a_zero_on_the_diagonal_is_no_obstacle() {
    let a = tensor::<2>([[0.0, 1.0], [1.0, 0.0]]);
    close(inverse(a.clone()), a, 0.0);
}

#[test]
fn a_determinant_is_that_of_the_formula() {
    let a = tensor::<3>([
        [[1.0, 2.0], [3.0, 4.0]],
        [[0.0, 1.0], [1.0, 0.0]],
        [[1.0, 2.0], [2.0, 4.0]],
    ]);
    close(det::<3, 2, 1>(a.clone()), tensor([-2.0, -1.0, 0.0]), 1e-15);
    let (sign, log) = slogdet::<3, 1>(a);
    close(sign, tensor([-1.0, -1.0, 0.0]), 0.0);
    close(log, tensor([2f64.ln(), 0.0, f64::NEG_INFINITY]), 1e-15);
    let single = det::<2, 1, 1>(tensor([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]]));
    close(single, tensor([18.0]), 1e-14);
    // det(a·b) = det(a)·det(b)
    let (a, b) = (normal([2, 2, 9, 9]), normal([2, 2, 9, 9]));
    let product = det::<4, 3, 2>(a.clone()) * det::<4, 3, 2>(b.clone());
    close(det::<4, 3, 2>(a.matmul(b)), product, 1e-9);
}

#[test]
fn orthonormal_columns_times_a_triangle_is_the_matrix() {
    for [m, n] in SHAPES {
        let a = normal([2, m, n]);
        for reduced in [true, false] {
            let (q, r) = qr(a.clone(), reduced);
            let k = if reduced { m.min(n) } else { m };
            assert_eq!((q.dims(), r.dims()), ([2, m, k], [2, k, n]));
            close(q.clone().matmul(r.clone()), a.clone(), 1e-12);
            close(r.clone(), r.triu(0), 0.0);
            let unit = eye(k).unsqueeze::<3>().expand([2, k, k]);
            close(q.clone().swap_dims(1, 2).matmul(q), unit, 1e-12);
        }
    }
}

#[test]
fn a_matrix_of_zeros_has_decompositions_too() {
    let zero = tensor::<2>([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
    let (q, r) = qr(zero.clone(), true);
    close(q.clone().transpose().matmul(q), eye(2), 0.0);
    close(r, tensor([[0.0, 0.0], [0.0, 0.0]]), 0.0);
    let (u, s, v) = svd::<2, 1>(zero.clone(), 10);
    close(s, tensor([0.0, 0.0]), 0.0);
    close(u.clone().transpose().matmul(u), eye(2), 0.0);
    close(v.clone().matmul(v.transpose()), eye(2), 0.0);
    let (p, l, u) = lu::<2, 1>(zero.clone());
    close(p.matmul(l).matmul(u), zero, 0.0);
}

#[test]
fn rotations_between_singular_values_give_the_matrix() {
    for [m, n] in SHAPES {
        for full in [false, true] {
            let a = normal([2, m, n]);
            let (u, s, vt) = match full {
                true => svd_full::<3, 2>(a.clone()),
                false => svd::<3, 2>(a.clone(), 1),
            };
            let k = m.min(n);
            let (left, right) = if full { (m, n) } else { (k, k) };
            assert_eq!(
                (u.dims(), s.dims(), vt.dims()),
                ([2, m, left], [2, k], [2, right, n])
            );
            let scaled = u.clone().narrow(2, 0, k) * s.clone().unsqueeze_dim::<3>(1);
            close(scaled.matmul(vt.clone().narrow(1, 0, k)), a, 1e-11);
            let unit = |size: usize| eye(size).unsqueeze::<3>().expand([2, size, size]);
            close(u.clone().swap_dims(1, 2).matmul(u), unit(left), 1e-11);
            close(vt.clone().matmul(vt.swap_dims(1, 2)), unit(right), 1e-11);
            let sorted = s.clone().sort_descending(1);
            close(s, sorted, 0.0);
        }
    }
}

#[test]
fn singular_values_of_extreme_scales_keep_their_relations() {
    // diag(3e-30, 2e-30) turned by 45 degrees, whose squares vanish in f32.
    let (device, tiny) = (dev(), 1e-30f32);
    let a = Tensor::<2>::from_data([[3.0f32, 3.0], [-2.0, 2.0]], &device).mul_scalar(tiny);
    let s = svdvals::<2, 1>(a).div_scalar(tiny);
    close(s, tensor([18f64.sqrt(), 8f64.sqrt()]), 1e-6);
    // Rank 1: the second value is 0 up to rounding.
    let s = svdvals::<2, 1>(tensor([[1.0, 2.0], [2.0, 4.0]]));
    close(s, tensor([5.0, 0.0]), 1e-15);
}

#[test]
fn narrow_floats_are_decomposed_in_f32_and_come_back() {
    let device = dev();
    let a = Tensor::<2>::from_data([[4.0, 1.0], [2.0, 3.0]], (&device, DType::F16));
    assert_eq!(inverse(a.clone()).dtype(), DType::F16);
    close(inverse(a), tensor([[0.3, -0.1], [-0.2, 0.4]]), 1e-3);
}

/// The gradient of the sum of weighted outputs, against central differences.
#[track_caller]
fn differentiates<const D: usize>(x: Tensor<2>, f: impl Fn(Tensor<2>) -> Tensor<D>) {
    let ad = dev().autodiff();
    let [m, n] = x.dims();
    let weights = f(x.clone());
    let weights = Tensor::<1, Int>::arange(0..weights.shape().num_elements() as i64, &dev())
        .float()
        .cast(DType::F64)
        .sin()
        .reshape(weights.shape());
    let leaf = x.clone().to_device(&ad).require_grad();
    let grads = (f(leaf.clone()) * weights.clone().to_device(&ad))
        .sum()
        .backward();
    let found = leaf.grad(&grads).expect("the leaf is tracked");
    let step = 1e-6;
    let value = |x: Tensor<2>| (f(x) * weights.clone()).sum().into_scalar::<f64>();
    let mut expected = Vec::new();
    for at in 0..m * n {
        let mut change = vec![0.0; m * n];
        change[at] = step;
        let change = tensor::<2>(TensorData::new(change, [m, n]));
        let (up, down) = (value(x.clone() + change.clone()), value(x.clone() - change));
        expected.push((up - down) / (2.0 * step));
    }
    let expected = tensor::<2>(TensorData::new(expected, [m, n]));
    close(found.without_autodiff(), expected, 1e-5);
}

#[test]
fn gradients_agree_with_differences() {
    let square = || tensor::<2>([[1.2, -0.4, 0.7], [0.3, 2.1, -1.1], [-0.8, 0.5, 1.6]]);
    let tall = || tensor::<2>([[1.2, -0.4], [0.3, 2.1], [-0.8, 0.5]]);
    differentiates(square(), det::<2, 1, 1>);
    differentiates(square(), |a| slogdet::<2, 1>(a).1);
    differentiates(square(), inverse);
    differentiates(square(), |a| solve(a.clone(), a.square()));
    differentiates(square(), |a| lu::<2, 1>(a).1);
    differentiates(square(), |a| lu::<2, 1>(a).2);
    differentiates(tall(), |a| qr(a, true).0);
    differentiates(tall(), |a| qr(a, true).1);
    differentiates(square(), |a| qr(a, true).0);
    differentiates(square(), svdvals::<2, 1>);
    differentiates(square(), |a| svd::<2, 1>(a, 10).0);
    differentiates(square(), |a| svd::<2, 1>(a, 10).2);
    differentiates(tall(), |a| svd::<2, 1>(a, 10).0);
    differentiates(tall().transpose(), |a| {
        svd_full::<2, 1>(a).2.narrow(0, 0, 2)
    });
}

#[test]
fn a_gradient_of_a_gradient_flows_through_an_inverse() {
    // f(x) = 1/x as a matrix of one element: f'' = 2/x³.
    let x = tensor::<2>([[2.0]])
        .to_device(&dev().autodiff())
        .require_grad();
    let first = x
        .grad(&inverse(x.clone()).sum().backward_create_graph())
        .expect("tracked");
    let second = x.grad(&first.sum().backward()).expect("tracked");
    close(second.without_autodiff(), tensor([[0.25]]), 1e-12);
}

#[test]
fn a_singular_matrix_has_a_gradient_of_its_determinant() {
    // d det = (d, -c; -b, a)
    let ad = dev().autodiff();
    let a = tensor::<2>([[1.0, 2.0], [2.0, 4.0]])
        .to_device(&ad)
        .require_grad();
    let grad = a
        .grad(&det::<2, 1, 1>(a.clone()).backward())
        .expect("tracked");
    close(
        grad.without_autodiff(),
        tensor([[4.0, -2.0], [-2.0, 1.0]]),
        1e-14,
    );
}

#[test]
fn norms_are_those_of_their_definitions() {
    let x = || tensor::<2>([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0]]);
    let norm = |norm: Norm| vector_norm(x(), norm, 1);
    close(norm(Norm::L0), tensor([[2.0], [0.0]]), 0.0);
    close(norm(Norm::L1), tensor([[7.0], [0.0]]), 0.0);
    close(norm(Norm::L2), tensor([[5.0], [0.0]]), 1e-15);
    close(norm(Norm::LInf), tensor([[4.0], [0.0]]), 0.0);
    close(norm(Norm::LNegInf), tensor([[0.0], [0.0]]), 0.0);
    close(norm(3.into()), tensor([[91f64.cbrt()], [0.0]]), 1e-15);
    close(vector_norm(x(), 2, 0), tensor([[3.0, 4.0, 0.0]]), 1e-15);
    let unit = vector_normalize(x(), 2.0, 1, 1e-12);
    close(unit, tensor([[0.6, -0.8, 0.0], [0.0, 0.0, 0.0]]), 1e-15);
    close(matrix_norm(x(), Norm::L2), tensor([[5.0]]), 1e-15);
    close(matrix_norm(x(), Norm::L1), tensor([[4.0]]), 0.0);
    close(matrix_norm(x(), Norm::LInf), tensor([[7.0]]), 0.0);
    for (norm, exponent) in [
        (Norm::L0, 0.0),
        (Norm::LNegInf, f64::NEG_INFINITY),
        (Norm::Lp(3.0), 3.0),
    ] {
        assert_eq!(norm.to_exponent(), exponent);
        assert_eq!(Norm::from(exponent), norm);
    }
}

#[test]
fn a_norm_along_several_dims_is_that_of_the_vector_they_span() {
    let x = || normal([3, 4, 5]);
    for norm in [
        0.0,
        1.0,
        2.0,
        3.0,
        0.5,
        -1.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ] {
        let x = x();
        let flat = x.clone().swap_dims(0, 1).reshape([4, 15]);
        let expected = vector_norm(flat, norm, 1).reshape([1, 4, 1]);
        close(
            vector_norm_dims(x.clone(), norm, &[0, -1]),
            expected.clone(),
            1e-14,
        );
        close(lp_norm_dims(x.clone(), norm, &[-1, 0]), expected, 1e-14);
        // Along no dim, each element is a vector.
        let single = match norm {
            0.0 => x.ones_like(),
            _ => x.clone().abs(),
        };
        close(vector_norm_dims(x, norm, &[0; 0]), single, 1e-14);
    }
    let ints = Tensor::<2, Int>::from_data([[3, -4], [0, 1]], &dev());
    let value = |x: Tensor<2, Int>| x.into_scalar::<i64>();
    assert_eq!(value(l0_norm_dims(ints.clone(), &[0, 1])), 3);
    assert_eq!(value(l1_norm_dims(ints.clone(), &[0, 1])), 8);
    assert_eq!(value(max_abs_norm_dims(ints.clone(), &[0, 1])), 4);
    assert_eq!(value(min_abs_norm_dims(ints, &[0, 1])), 0);
}

#[test]
fn a_norm_of_large_numbers_does_not_overflow() {
    let x = Tensor::<1>::from_data([3e30f32, -4e30], &dev());
    assert_eq!(vector_norm(x, Norm::L2, 0).into_scalar::<f32>(), 5e30);
    let x = Tensor::<1>::from_data([3e-30f32, -4e-30], &dev());
    assert_eq!(vector_norm(x, Norm::L2, 0).into_scalar::<f32>(), 5e-30);
    let x = Tensor::<1>::from_data([f32::INFINITY, 1.0], &dev());
    assert_eq!(
        vector_norm(x, Norm::L2, 0).into_scalar::<f32>(),
        f32::INFINITY
    );
    let x = Tensor::<1>::from_data([f32::NAN, 1.0], &dev());
    assert!(vector_norm(x, Norm::L2, 0).into_scalar::<f32>().is_nan());
}

#[test]
fn the_gradient_of_a_norm_of_zeros_is_zero() {
    let ad = dev().autodiff();
    for norm in [Norm::L1, Norm::L2, Norm::Lp(3.0)] {
        let x = Tensor::<1>::zeros([3], &ad).require_grad();
        let grads = vector_norm(x.clone(), norm, 0).sum().backward();
        let grad = x.grad(&grads).expect("tracked");
        close(grad.without_autodiff(), tensor([0.0; 3]), 0.0);
    }
    let x = Tensor::<1>::from_data([3.0, -4.0], &ad).require_grad();
    let grads = vector_norm(x.clone(), Norm::L2, 0).sum().backward();
    close(
        x.grad(&grads).expect("tracked").without_autodiff(),
        tensor([0.6, -0.8]),
        1e-6,
    );
}

#[test]
fn products_of_vectors_are_those_of_their_definitions() {
    let (x, y) = (tensor::<1>([1.0, 2.0]), tensor::<1>([3.0, 4.0, 5.0]));
    close(
        outer::<1, 2, _>(x.clone(), y),
        tensor([[3.0, 4.0, 5.0], [6.0, 8.0, 10.0]]),
        0.0,
    );
    let a = tensor::<2>([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    close(diag::<2, 1, _>(a.clone()), tensor([1.0, 5.0]), 0.0);
    close(trace::<2, 1>(a.clone()), tensor([6.0]), 0.0);
    close(
        matvec::<2, 1, _>(a.clone().transpose(), x.clone()),
        tensor([9.0, 12.0, 15.0]),
        0.0,
    );
    let pair: Tensor<3> = outer_dim(a.clone(), a.clone(), 0);
    assert_eq!(pair.dims(), [2, 2, 3]);
    close(
        pair.narrow(0, 1, 1),
        tensor([[[4.0, 10.0, 18.0], [16.0, 25.0, 36.0]]]),
        0.0,
    );
    let cosine = cosine_similarity(x, tensor([-2.0, 1.0]), 0, None);
    close(cosine, tensor([0.0]), 1e-15);
    let cosine = cosine_similarity(a.clone(), a, 1, None);
    close(cosine, tensor([[1.0], [1.0]]), 1e-15);
}

#[test]
#[should_panic(expected = "2 rows and 3 columns are not square")]
fn a_matrix_that_is_not_square_has_no_determinant() {
    det::<2, 1, 1>(tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]));
}

#[test]
#[should_panic(expected = "pivots of rank 2 do not fit matrices of rank 2")]
fn a_rank_of_pivots_that_no_matrix_has_is_refused() {
    lu::<2, 2>(eye(2));
}

#[test]
#[should_panic(expected = "in 0 sweeps")]
fn a_singular_value_takes_at_least_one_sweep() {
    svd::<2, 1>(eye(2), 0);
}

#[test]
#[should_panic(expected = "does not fit matrices of shape [2, 2]")]
fn a_right_side_of_another_height_is_refused() {
    solve(eye(2), tensor::<2>([[1.0]]));
}
