//! Products of vectors and matrices, and diagonals.

use alloc::vec::Vec;
use burn_tensor::kind::Numeric;
use burn_tensor::{AsIndex, Bool, Shape, Tensor};

/// The product of each element of `x` with each of `y`, along their last dim.
///
/// # Shapes
/// - `x`: `[…, m]`
/// - `y`: `[…, n]`
/// - output: `[…, m, n]`
#[track_caller]
pub fn outer<const D: usize, const R: usize, K: Numeric>(
    x: Tensor<D, K>,
    y: Tensor<D, K>,
) -> Tensor<R, K> {
    outer_dim(x, y, -1)
}

/// The product of each element of `x` with each of `y`, along `dim`.
///
/// # Shapes
/// - `x`: `[…, m, …]`
/// - `y`: `[…, n, …]`
/// - output: `[…, m, n, …]`
#[track_caller]
pub fn outer_dim<const D: usize, const R: usize, Dim: AsIndex, K: Numeric>(
    x: Tensor<D, K>,
    y: Tensor<D, K>,
    dim: Dim,
) -> Tensor<R, K> {
    let given = dim.index();
    let Ok(dim) = burn_tensor::wrap_dim(given, D) else {
        panic!("`outer`: there is no dim {given}\n  legal: a dim in -{D}..{D}")
    };
    let column: Tensor<R, K> = x.unsqueeze_dim(dim + 1);
    let row: Tensor<R, K> = y.unsqueeze_dim(dim);
    column.mul(row)
}

/// The main diagonal of each matrix.
///
/// # Shapes
/// - `tensor`: `[…, m, n]`
/// - output: `[…, min(m, n)]`
#[track_caller]
pub fn diag<const D: usize, const DO: usize, K: Numeric>(tensor: Tensor<D, K>) -> Tensor<DO, K> {
    let shape = tensor.shape();
    assert!(
        D >= 2,
        "`diag`: {shape} has no rows and columns\n  legal: at least 2 dims"
    );
    let size = shape[D - 2].min(shape[D - 1]);
    let square = tensor
        .slice_dim(D - 2, 0..size as i64)
        .slice_dim(D - 1, 0..size as i64);
    let mut output: Vec<usize> = shape[..D - 2].to_vec();
    output.push(size);
    let device = square.device().without_autodiff();
    let off = Tensor::<D, Bool>::diag_mask(square.shape(), 0, &device);
    square
        .mask_fill(off, 0)
        .sum_dim(D - 1)
        .reshape(Shape::from(output))
}

/// The sum of the main diagonal of each matrix.
///
/// # Shapes
/// - `tensor`: `[…, m, n]`
/// - output: `[…, 1]`, or `[…]` if the rank of the result type asks for it
#[track_caller]
pub fn trace<const D: usize, const DO: usize>(tensor: Tensor<D>) -> Tensor<DO> {
    let mut shape = tensor.shape()[..D.saturating_sub(2)].to_vec();
    if DO + 1 == D {
        shape.push(1);
    }
    let size = tensor.shape();
    assert!(
        D >= 2,
        "`trace`: {size} has no rows and columns\n  legal: at least 2 dims"
    );
    let off = Tensor::<D, Bool>::diag_mask(size, 0, &tensor.device().without_autodiff());
    tensor
        .mask_fill(off, 0)
        .sum_dim(D - 1)
        .sum_dim(D - 2)
        .reshape(Shape::from(shape))
}

/// Matrices times vectors.
///
/// # Shapes
/// - `matrix`: `[…, m, n]`
/// - `vector`: `[…, n]`, of one dim less
/// - output: `[…, m]`
#[track_caller]
pub fn matvec<const D: usize, const DV: usize, K: Numeric>(
    matrix: Tensor<D, K>,
    vector: Tensor<DV, K>,
) -> Tensor<DV, K> {
    assert!(
        DV + 1 == D,
        "`matvec`: {} cannot multiply {}\n  legal: a vector of one dim less than the matrix",
        matrix.shape(),
        vector.shape()
    );
    let column: Tensor<D, K> = vector.unsqueeze_dim(DV);
    matrix.matmul(column).squeeze_dim(DV)
}
