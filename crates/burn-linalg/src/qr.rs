//! Orthogonal triangularisation by Householder's reflections, gathered by halves of the columns (Elmroth and Gustavson
//! 2000, "Applying recursion to serial and parallel QR factorization").

use crate::batch::{Batch, below, beside, columns, eye, rows, zeros};
use burn_tensor::Tensor;

/// `a = (I - v·t·vᵀ)·[r; 0]` for matrices `[m, n]` with `m ≥ n`.
pub(crate) struct Reflections {
    /// `[m, n]`: unit lower trapezoidal.
    v: Tensor<3>,
    /// `[n, n]`: upper triangular.
    t: Tensor<3>,
    /// `[n, n]`: upper triangular.
    pub r: Tensor<3>,
}

impl Reflections {
    /// The first `count` columns of the orthogonal factor.
    pub(crate) fn q(&self, count: usize) -> Tensor<3> {
        let m = self.v.dims()[1];
        self.apply(eye(&self.v, m, count))
    }

    /// The orthogonal factor times `c`.
    pub(crate) fn apply(&self, c: Tensor<3>) -> Tensor<3> {
        let seen = self.v.clone().swap_dims(1, 2).matmul(c.clone());
        c.sub(self.v.clone().matmul(self.t.clone().matmul(seen)))
    }

    /// The transposed orthogonal factor times `c`.
    fn apply_transposed(&self, c: Tensor<3>) -> Tensor<3> {
        let seen = self.v.clone().swap_dims(1, 2).matmul(c.clone());
        let turned = self.t.clone().swap_dims(1, 2).matmul(seen);
        c.sub(self.v.clone().matmul(turned))
    }
}

/// The reflections that make matrices `[m, n]` with `m ≥ n` triangular.
pub(crate) fn reflect(a: &Tensor<3>) -> Reflections {
    let [_, m, n] = a.dims();
    if n < 2 {
        return column(a);
    }
    let half = n / 2;
    let left = reflect(&columns(a, 0..half));
    let right = left.apply_transposed(columns(a, half..n));
    let second = reflect(&rows(&right, half..m));
    let v = below(zeros(a, half, n - half), second.v);
    let crossing = left.v.clone().swap_dims(1, 2).matmul(v.clone());
    let t = left
        .t
        .clone()
        .matmul(crossing)
        .matmul(second.t.clone())
        .neg();
    let corner = zeros(a, n - half, half);
    Reflections {
        v: beside(left.v, v),
        t: below(beside(left.t, t), beside(corner.clone(), second.t)),
        r: below(
            beside(left.r, rows(&right, 0..half)),
            beside(corner, second.r),
        ),
    }
}

/// The reflection that turns one column into its first element (Golub and Van Loan 2013, algorithm 5.1.1).
fn column(a: &Tensor<3>) -> Reflections {
    let [_, m, n] = a.dims();
    if n == 0 || m < 2 {
        // A single row is triangular as it is.
        return Reflections {
            v: eye(a, m, n),
            t: zeros(a, n, n),
            r: rows(a, 0..n),
        };
    }
    let (first, tail) = (rows(a, 0..1), rows(a, 1..m));
    let square = a.clone().square().sum_dim(1);
    let flat = square.clone().equal_scalar(0);
    // The root of 1 instead of 0, whose slope is finite.
    let size = square.mask_fill(flat.clone(), 1).sqrt();
    // The sign opposite to the first element's, so that nothing cancels.
    let positive = first.clone().greater_equal_scalar(0);
    let value = size.clone().mask_where(positive, size.neg());
    let shifted = first.sub(value.clone());
    let t = shifted.clone().div(value.clone()).neg();
    Reflections {
        v: below(eye(a, 1, 1), tail.div(shifted)),
        t: t.mask_fill(flat.clone(), 0),
        r: value.mask_fill(flat, 0),
    }
}

/// The decomposition `a = q·r` into a matrix with orthonormal columns and an upper triangular one, by Householder's
/// reflections. The diagonal of `r` has the signs that the reflections give it.
///
/// # Shapes
/// - `tensor`: `[…, m, n]`
/// - output: `[…, m, k]` and `[…, k, n]`, with `k = min(m, n)` if `reduced` and `k = m` otherwise
///
/// Gradients of any order, where `m ≥ n` and the columns are independent.
#[track_caller]
pub fn qr<const D: usize>(tensor: Tensor<D>, reduced: bool) -> (Tensor<D>, Tensor<D>) {
    let (batch, a) = Batch::of("qr", tensor);
    let [_, m, n] = a.dims();
    let least = m.min(n);
    let k = if reduced { least } else { m };
    let (a, scale) = scaled(a);
    let reflections = reflect(&columns(&a, 0..least));
    let mut r = reflections.r.clone();
    if n > least {
        r = beside(r, reflections.apply_transposed(columns(&a, least..n)));
    }
    if k > least {
        r = below(r, zeros(&a, k - least, n));
    }
    (
        batch.back(reflections.q(k), &[m, k]),
        batch.back(r.mul(scale), &[k, n]),
    )
}

/// Matrices whose largest element is 1, so that no square overflows or vanishes, and what that was.
pub(crate) fn scaled(a: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
    if a.shape().num_elements() == 0 {
        let one = eye(&a, 1, 1);
        return (a, one);
    }
    let largest = a.clone().detach().abs().max_dim(2).max_dim(1);
    let none = largest.clone().equal_scalar(0);
    let scale = largest.mask_fill(none, 1);
    (a.div(scale.clone()), scale)
}
