//! Any tensor as a batch of matrices, and the blocks of such a batch.

use alloc::vec;
use alloc::vec::Vec;
use burn_tensor::{Bool, DType, Device, FloatDType, Int, Shape, Tensor};
use core::ops::Range;

/// What turns a batch of matrices back into the tensor that it came from.
pub(crate) struct Batch {
    leading: Vec<usize>,
    dtype: DType,
}

impl Batch {
    /// The matrices in the last two dims, in f32 at least.
    #[track_caller]
    pub(crate) fn of<const D: usize>(operation: &str, input: Tensor<D>) -> (Self, Tensor<3>) {
        let shape = input.shape();
        assert!(
            D >= 2,
            "`{operation}`: {shape} has no rows and columns\n  legal: at least 2 dims"
        );
        let dtype = input.dtype();
        let input = match dtype {
            DType::F16 | DType::BF16 => input.cast(FloatDType::F32),
            _ => input,
        };
        let leading = shape[..D - 2].to_vec();
        let count = leading.iter().product();
        let matrices = input.reshape(Shape::new([count, shape[D - 2], shape[D - 1]]));
        (Self { leading, dtype }, matrices)
    }

    /// The square matrices in the last two dims.
    #[track_caller]
    pub(crate) fn of_square<const D: usize>(
        operation: &str,
        input: Tensor<D>,
    ) -> (Self, Tensor<3>) {
        let (batch, matrices) = Self::of(operation, input);
        let [_, rows, columns] = matrices.dims();
        assert!(
            rows == columns,
            "`{operation}`: matrices of {rows} rows and {columns} columns are not square\n  legal: a shape […, n, n]"
        );
        (batch, matrices)
    }

    /// The results as they were asked for: the leading dims, then those of each matrix that `matrix` names.
    #[track_caller]
    pub(crate) fn back<const D: usize>(&self, output: Tensor<3>, matrix: &[usize]) -> Tensor<D> {
        let sizes: Vec<usize> = self.leading.iter().chain(matrix).copied().collect();
        // One number of one matrix has no dims left, where the caller may want one.
        let sizes = match sizes.is_empty() && D == 1 {
            true => vec![1],
            false => sizes,
        };
        assert!(
            sizes.len() == D,
            "the result has shape {}, and rank {D} was expected\n  legal: a result type of rank {}",
            Shape::from(sizes.clone()),
            sizes.len()
        );
        output.reshape(Shape::from(sizes)).cast(self.dtype)
    }
}

/// Refuses a rank of vectors that is not one less than that of their matrices, as an operation's type parameters name both.
#[track_caller]
pub(crate) fn ranks(operation: &str, matrices: usize, vectors: usize) {
    assert!(
        vectors + 1 == matrices,
        "`{operation}`: pivots of rank {vectors} do not fit matrices of rank {matrices}\n  legal: one less"
    );
}

/// Some rows and columns of each matrix.
pub(crate) fn block(a: &Tensor<3>, rows: Range<usize>, columns: Range<usize>) -> Tensor<3> {
    let [batch, ..] = a.dims();
    a.clone().slice([0..batch, rows, columns])
}

/// Some rows of each matrix.
pub(crate) fn rows(a: &Tensor<3>, rows: Range<usize>) -> Tensor<3> {
    block(a, rows, 0..a.dims()[2])
}

/// Some columns of each matrix.
pub(crate) fn columns(a: &Tensor<3>, columns: Range<usize>) -> Tensor<3> {
    block(a, 0..a.dims()[1], columns)
}

/// Matrices below each other.
pub(crate) fn below(top: Tensor<3>, bottom: Tensor<3>) -> Tensor<3> {
    Tensor::cat(vec![top, bottom], 1)
}

/// Matrices beside each other.
pub(crate) fn beside(left: Tensor<3>, right: Tensor<3>) -> Tensor<3> {
    Tensor::cat(vec![left, right], 2)
}

/// Zeros like `a`, in another shape.
pub(crate) fn zeros(a: &Tensor<3>, rows: usize, columns: usize) -> Tensor<3> {
    let [batch, ..] = a.dims();
    Tensor::zeros([batch, rows, columns], (&plain(a), a.dtype()))
}

/// Ones on the diagonal, for each matrix of `a`.
pub(crate) fn eye(a: &Tensor<3>, rows: usize, columns: usize) -> Tensor<3> {
    let [batch, ..] = a.dims();
    let off = Tensor::<3, Bool>::diag_mask([batch, rows, columns], 0, &plain(a));
    zeros(a, rows, columns).mask_fill(off.bool_not(), 1)
}

/// The diagonal of each matrix, as a column.
pub(crate) fn diagonal(a: &Tensor<3>) -> Tensor<3> {
    let off = Tensor::<3, Bool>::diag_mask(a.shape(), 0, &plain(a));
    a.clone().mask_fill(off, 0).sum_dim(2)
}

/// The numbers `0..count` as a column, for all matrices.
pub(crate) fn positions(a: &Tensor<3>, count: usize) -> Tensor<3, Int> {
    Tensor::arange(0..count as i64, &plain(a)).reshape(Shape::new([1, count, 1]))
}

/// Where constants live that meet `a`: its device, without tapes.
fn plain(a: &Tensor<3>) -> Device {
    a.device().without_autodiff()
}

/// True as 1 and false as 0, as the elements of `a` are.
pub(crate) fn ones_where(mask: Tensor<3, Bool>, a: &Tensor<3>) -> Tensor<3> {
    Tensor::zeros(mask.shape(), (&plain(a), a.dtype())).mask_fill(mask, 1)
}
