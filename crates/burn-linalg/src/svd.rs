//! Singular values, by one-sided Jacobi rotations of the triangular factor (Golub and Van Loan 2013, section 8.6.3).
//!
//! All pairs of columns that share none turn at once, in the order of a round-robin tournament.

use crate::batch::{
    Batch, below, beside, columns, diagonal, eye, ones_where, positions, rows, zeros,
};
use crate::qr::{reflect, scaled};
use burn_tensor::{DType, Tensor};

/// Sweeps over all pairs. They converge quadratically; about 10 are needed for 1,000 columns in f64.
const SWEEPS: usize = 16;

/// The decomposition `a = u·diag(s)·vᵀ`: orthonormal columns, singular values in descending order, and orthonormal rows.
///
/// `sweeps` is how many steps each singular value may take where they are found one after another. The rotations here
/// turn all of them at once and stop by themselves, so that any number but 0 does.
///
/// # Shapes
/// - `tensor`: `[…, m, n]`, with `k = min(m, n)`
/// - output: `u` `[…, m, k]`, `s` `[…, k]` and `vᵀ` `[…, k, n]`
///
/// Gradients of first order, where the singular values differ from each other and from 0.
///
/// # Panics
/// If `sweeps` is 0, or the rank of `s` in the result type is not one less than that of the input.
#[track_caller]
pub fn svd<const D: usize, const DS: usize>(
    tensor: Tensor<D>,
    sweeps: usize,
) -> (Tensor<D>, Tensor<DS>, Tensor<D>) {
    assert!(
        sweeps > 0,
        "`svd`: no singular value is found in 0 sweeps\n  legal: 1 or more"
    );
    decompose(tensor, false)
}

/// As [`svd`], with square orthogonal matrices on both sides: `u` `[…, m, m]` and `vᵀ` `[…, n, n]`. The columns and rows
/// that this adds are constants for gradients.
#[track_caller]
pub fn svd_full<const D: usize, const DS: usize>(
    tensor: Tensor<D>,
) -> (Tensor<D>, Tensor<DS>, Tensor<D>) {
    decompose(tensor, true)
}

/// The singular values of each matrix, in descending order; see [`svd`].
#[track_caller]
pub fn svdvals<const D: usize, const DS: usize>(tensor: Tensor<D>) -> Tensor<DS> {
    decompose(tensor, false).1
}

#[track_caller]
fn decompose<const D: usize, const DS: usize>(
    tensor: Tensor<D>,
    full: bool,
) -> (Tensor<D>, Tensor<DS>, Tensor<D>) {
    let (batch, a) = Batch::of("svd", tensor);
    let [_, m, n] = a.dims();
    let k = m.min(n);
    let (u, s, v) = match m >= n {
        true => tall(a, full),
        false => {
            let (v, s, u) = tall(a.swap_dims(1, 2), full);
            (u, s, v)
        }
    };
    let (left, right) = if full { (m, n) } else { (k, k) };
    (
        batch.back(u, &[m, left]),
        batch.back(s, &[k]),
        batch.back(v.swap_dims(1, 2), &[right, n]),
    )
}

/// `u`, `s` as a row, and `v`, for matrices with at least as many rows as columns.
fn tall(a: Tensor<3>, full: bool) -> (Tensor<3>, Tensor<3>, Tensor<3>) {
    let [_, m, n] = a.dims();
    if n == 0 {
        let size = if full { m } else { 0 };
        return (eye(&a, m, size), zeros(&a, 1, 0), zeros(&a, 0, 0));
    }
    let constant = a.clone().detach();
    let (unit, scale) = scaled(constant.clone());
    let reflections = reflect(&unit);
    let (turned, v) = rotate(&reflections.r);
    let (turned, v) = sorted(turned, v);
    let s = turned.clone().square().sum_dim(1).sqrt();
    // The columns are orthogonal; reflections make them unit vectors, even those of singular value 0.
    let inner = reflect(&turned);
    let turned_down = diagonal(&inner.r).lower_scalar(0).swap_dims(1, 2);
    let q = inner.q(n);
    let u = q.clone().mask_where(turned_down.expand(q.shape()), q.neg());
    let u = match full && m > n {
        // The factor of the triangular part beside columns that it leaves alone.
        true => {
            let top = beside(u, zeros(&a, n, m - n));
            let bottom = beside(zeros(&a, m - n, n), eye(&a, m - n, m - n));
            reflections.apply(below(top, bottom))
        }
        false => reflections.apply(below(u, zeros(&a, m - n, n))),
    };
    let s = s.mul(scale);
    match a.is_tracked() {
        true => differentiable(a.sub(constant), u, s, v),
        false => (u, s, v),
    }
}

/// Adds the first derivative in the direction of `change`, whose value is 0 (Townsend 2016, "Differentiating the singular
/// value decomposition").
fn differentiable(
    change: Tensor<3>,
    u: Tensor<3>,
    s: Tensor<3>,
    v: Tensor<3>,
) -> (Tensor<3>, Tensor<3>, Tensor<3>) {
    let [_, m, n] = change.dims();
    let thin = columns(&u, 0..n);
    let turned = thin.clone().swap_dims(1, 2).matmul(change.clone());
    let inside = turned.matmul(v.clone());
    let squares = s.clone().square();
    let gaps = squares.clone().sub(squares.swap_dims(1, 2));
    let equal = gaps.clone().equal_scalar(0);
    let weights = gaps.mask_fill(equal.clone(), 1).recip().mask_fill(equal, 0);
    let column = s.clone().swap_dims(1, 2);
    let mirrored = inside.clone().swap_dims(1, 2);
    let for_u = inside
        .clone()
        .mul(s.clone())
        .add(mirrored.clone().mul(column.clone()));
    let for_v = inside.clone().mul(column).add(mirrored.mul(s.clone()));
    let mut u_change = thin.clone().matmul(weights.clone().mul(for_u));
    if m > n {
        let outside = change.matmul(v.clone()).sub(thin.matmul(inside.clone()));
        let none = s.clone().equal_scalar(0);
        let inverse = s
            .clone()
            .mask_fill(none.clone(), 1)
            .recip()
            .mask_fill(none, 0);
        u_change = u_change.add(outside.mul(inverse));
    }
    let added = u.dims()[2] - n;
    let u_change = match added {
        0 => u_change,
        added => beside(u_change, zeros(&u, m, added)),
    };
    let v_change = v.clone().matmul(weights.mul(for_v));
    let s_change = diagonal(&inside).swap_dims(1, 2);
    (u.add(u_change), s.add(s_change), v.add(v_change))
}

/// Orthogonal `v` and `a·v`, whose columns are orthogonal.
fn rotate(a: &Tensor<3>) -> (Tensor<3>, Tensor<3>) {
    let n = a.dims()[2];
    // An odd number of columns plays against one of zeros, which nothing turns, and which never moves.
    let odd = n % 2;
    let stacked = below(a.clone(), eye(a, n, n));
    let stacked = beside(zeros(a, 2 * n, odd), stacked);
    let half = (n + odd) / 2;
    let mut left = columns(&stacked, 0..half);
    let mut right = columns(&stacked, half..n + odd);
    let tolerance = tolerance(a.dtype(), n);
    for _ in 0..SWEEPS {
        let mut worst = zeros(a, 1, half);
        for _ in 0..n + odd - 1 {
            let cosine;
            (left, right, cosine) = turn(left, right, n, tolerance);
            worst = worst.max_pair(cosine);
            (left, right) = next_round(left, right);
        }
        // Where nothing can be read, as during capture, all sweeps run.
        match worst.max().try_into_scalar::<f64>() {
            Ok(worst) if worst > tolerance => {}
            Ok(_) => break,
            Err(_) => {}
        }
    }
    let stacked = columns(&beside(left, right), odd..n + odd);
    (rows(&stacked, 0..n), rows(&stacked, n..2 * n))
}

/// What cosines of angles between columns are called 0.
fn tolerance(dtype: DType, n: usize) -> f64 {
    let epsilon = dtype.finfo().map_or(0.0, |info| info.epsilon);
    epsilon * (n as f64).max(8.0)
}

/// Turns each column on the left with its partner on the right, so that their first `n` rows become orthogonal. Also
/// gives the cosines that they had.
fn turn(
    left: Tensor<3>,
    right: Tensor<3>,
    n: usize,
    tolerance: f64,
) -> (Tensor<3>, Tensor<3>, Tensor<3>) {
    let (x, y) = (rows(&left, 0..n), rows(&right, 0..n));
    let product = x.clone().mul(y.clone()).sum_dim(1);
    let (x, y) = (x.square().sum_dim(1), y.square().sum_dim(1));
    let sizes = x.clone().sqrt().mul(y.clone().sqrt());
    let none = sizes.clone().equal_scalar(0);
    let cosine = product.clone().abs().div(sizes.mask_fill(none, 1));
    let done = cosine.clone().lower_equal_scalar(tolerance);
    let twice = product.mask_fill(done.clone(), 1).mul_scalar(2);
    // The smaller root t of t² + 2ζt = 1.
    let zeta = y.sub(x).div(twice);
    let size = zeta
        .clone()
        .abs()
        .hypot(zeta.ones_like())
        .add(zeta.clone().abs())
        .recip();
    let tangent = size.clone().mask_where(zeta.lower_scalar(0), size.neg());
    let tangent = tangent.mask_fill(done, 0);
    let c = tangent.clone().square().add_scalar(1).sqrt().recip();
    let s = c.clone().mul(tangent);
    let turned_left = left
        .clone()
        .mul(c.clone())
        .sub(right.clone().mul(s.clone()));
    let turned_right = left.mul(s).add(right.mul(c));
    (turned_left, turned_right, cosine)
}

/// The next round of the tournament: the first column stays, the others move on by one place.
fn next_round(left: Tensor<3>, right: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
    let half = left.dims()[2];
    if half < 2 {
        return (left, right);
    }
    let moved_left = Tensor::cat(
        alloc::vec![
            columns(&left, 0..1),
            columns(&right, 0..1),
            columns(&left, 1..half - 1)
        ],
        2,
    );
    let moved_right = beside(columns(&right, 1..half), columns(&left, half - 1..half));
    (moved_left, moved_right)
}

/// The columns by descending size, equal ones in their order.
fn sorted(turned: Tensor<3>, v: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
    let [batch, _, n] = turned.dims();
    let size = turned.clone().square().sum_dim(1).expand([batch, n, n]);
    let other = size.clone().swap_dims(1, 2);
    let earlier = positions(&turned, n).expand([1, n, n]);
    let earlier = earlier
        .clone()
        .lower(earlier.swap_dims(1, 2))
        .expand([batch, n, n]);
    let tied = other.clone().equal(size.clone()).bool_and(earlier);
    // The place of a column is the number of those that come before it.
    let place = other.greater(size).bool_or(tied).int().sum_dim(1);
    let place = place.swap_dims(1, 2).expand([batch, n, n]);
    let target = positions(&turned, n).swap_dims(1, 2).expand([batch, n, n]);
    let order = ones_where(place.equal(target), &turned);
    (turned.matmul(order.clone()), v.matmul(order))
}
