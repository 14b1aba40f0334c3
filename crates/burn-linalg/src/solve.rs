//! Systems of linear equations, inverses and determinants, by elimination.

use crate::batch::{Batch, diagonal, eye, ranks};
use crate::lu::{Lu, decompose};
use crate::triangular::{solve_lower, solve_upper};
use burn_tensor::{Int, Tensor};

/// The solution `x` of `a·x = b`.
///
/// # Shapes
/// - `a`: `[…, n, n]`
/// - `b`, output: `[…, n, columns]`, with the same leading dims
///
/// By elimination with partial pivoting. A singular matrix gives infinities or NaN. Gradients of any order.
///
/// # Panics
/// If `a` is not square, or `b` does not fit it.
#[track_caller]
pub fn solve<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    let (left, right) = (a.shape(), b.shape());
    let fits = D >= 2 && left[..D - 1] == right[..D - 1];
    assert!(
        fits,
        "`solve`: a right side of shape {right} does not fit matrices of shape {left}\n  legal: […, n, columns] for […, n, n]"
    );
    let (_, a) = Batch::of_square("solve", a);
    let (batch, b) = Batch::of("solve", b);
    let [_, rows, columns] = b.dims();
    let lu = decompose(&a);
    let ordered = lu.order.clone().matmul(b);
    batch.back(substitute(&lu, ordered), &[rows, columns])
}

/// The inverse of each matrix.
///
/// # Shapes
/// - `tensor`, output: `[…, n, n]`
///
/// By elimination with partial pivoting. A singular matrix gives infinities or NaN; to solve a system, [`solve`] is
/// faster and more accurate. Gradients of any order.
///
/// # Panics
/// If the matrices are not square.
#[track_caller]
pub fn inverse<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
    let (batch, a) = Batch::of_square("inverse", tensor);
    let n = a.dims()[1];
    let lu = decompose(&a);
    let ordered = lu.order.clone();
    batch.back(substitute(&lu, ordered), &[n, n])
}

/// Solves with rows of the right side in the order of the pivots.
fn substitute(lu: &Lu, ordered: Tensor<3>) -> Tensor<3> {
    let middle = solve_lower(&lu.pivot_rows(), ordered, true);
    solve_upper(&lu.upper, middle)
}

/// The determinant of each matrix: the product of the pivots, with the sign of their order.
///
/// # Shapes
/// - `tensor`: `[…, n, n]`
/// - output: `[…]`, and `[1]` for a single matrix
///
/// Gradients of any order, for a singular matrix too if elimination meets its zero last.
///
/// # Panics
/// If the matrices are not square, or `D1`, the rank of the pivots, is not one less than `D`.
#[track_caller]
pub fn det<const D: usize, const D1: usize, const DO: usize>(tensor: Tensor<D>) -> Tensor<DO> {
    ranks("det", D, D1);
    let (batch, a) = Batch::of_square("det", tensor);
    let lu = decompose(&a);
    let product = diagonal(&lu.upper).prod_dim(1);
    batch.back(product.mul(sign(&lu, &a)), &[])
}

/// The sign of the determinant of each matrix, and the logarithm of its absolute value, which does not overflow where
/// the determinant does. A singular matrix has 0 and minus infinity.
///
/// # Shapes
/// - `tensor`: `[…, n, n]`
/// - output: twice `[…]`, and `[1]` for a single matrix
///
/// # Panics
/// If the matrices are not square.
#[track_caller]
pub fn slogdet<const D: usize, const DO: usize>(tensor: Tensor<D>) -> (Tensor<DO>, Tensor<DO>) {
    let (batch, a) = Batch::of_square("slogdet", tensor);
    let lu = decompose(&a);
    let pivots = diagonal(&lu.upper);
    let signs = pivots.clone().sign().prod_dim(1).mul(sign(&lu, &a));
    let logs = pivots.abs().log().sum_dim(1);
    (batch.back(signs, &[]), batch.back(logs, &[]))
}

/// 1 or -1 by the number of pairs of pivots that are out of order.
fn sign(lu: &Lu, a: &Tensor<3>) -> Tensor<3> {
    let [batch, n, _] = lu.pivots.dims();
    let down: Tensor<3, Int> = lu.pivots.clone().expand([batch, n, n]);
    let across = lu.pivots.clone().swap_dims(1, 2).expand([batch, n, n]);
    // Column before row in the matrix of pairs, and yet the larger.
    let inversions = across.greater(down).int().tril(-1).sum_dim(2).sum_dim(1);
    let odd = inversions.bitwise_and_scalar(1).equal_scalar(1);
    eye(a, 1, 1).mask_fill(odd, -1)
}
