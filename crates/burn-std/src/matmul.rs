//! Batches of matrix products as larger matrices.

use crate::{Metadata, Shape};

/// When batches become rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MatmulTransformPolicy {
    /// Never.
    Never,
    /// Wherever they can: one large product has fuller tiles than many small ones.
    #[default]
    BetterTiling,
}

/// What is known of a product before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatmulTransformAnalysis {
    /// The rows of all batches, if they can become those of one matrix.
    rows: Option<usize>,
}

/// What to do with the batches of the left side and the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatmulTransformAction {
    /// Nothing.
    Keep,
    /// They become the rows of one matrix.
    MergeBatches {
        /// The rows of all batches.
        rows: usize,
    },
}

impl MatmulTransformAnalysis {
    /// Of dense tensors: batches merge if the right side has one for all of them.
    pub fn from_shapes(lhs: &Shape, rhs: &Shape) -> Self {
        let rank = lhs.rank();
        let matrices = rank >= 2 && rhs.rank() == rank;
        let shared = matrices && rhs[..rank - 2].iter().all(|size| *size == 1);
        let batched = shared && lhs[..rank - 2].iter().any(|size| *size != 1);
        Self {
            rows: batched.then(|| lhs[..rank - 1].iter().product()),
        }
    }

    /// Of tensors that lie in memory in some way: rows of the left side and of the output must follow each other in even
    /// steps, over the ends of batches.
    pub fn from_metadata(lhs: &Metadata, rhs: &Metadata, out: &Metadata) -> Self {
        let even = |side: &Metadata| {
            let mut rows = side.rank().saturating_sub(1);
            let mut expected = None;
            loop {
                let Some(dim) = rows.checked_sub(1) else {
                    return true;
                };
                let (size, stride) = (side.shape[dim], side.strides[dim]);
                if size != 1 {
                    if expected.is_some_and(|expected| stride != expected) {
                        return false;
                    }
                    expected = Some(stride * size as isize);
                }
                rows = dim;
            }
        };
        match even(lhs) && even(out) {
            true => Self::from_shapes(&lhs.shape, &rhs.shape),
            false => Self { rows: None },
        }
    }
}

impl MatmulTransformPolicy {
    /// What the policy makes of a product.
    pub fn action(&self, analysis: &MatmulTransformAnalysis) -> MatmulTransformAction {
        match (self, analysis.rows) {
            (Self::BetterTiling, Some(rows)) => MatmulTransformAction::MergeBatches { rows },
            _ => MatmulTransformAction::Keep,
        }
    }
}

impl MatmulTransformAction {
    /// Changes the description of the left side, or of the output.
    pub fn apply(&self, metadata: &mut Metadata) {
        let (Self::MergeBatches { rows }, Some(row)) = (self, metadata.rank().checked_sub(2))
        else {
            return;
        };
        // The step from row to row is that of the innermost dim that has several.
        let step = (0..=row).rev().find(|dim| metadata.shape[*dim] != 1);
        let step = step.map_or(metadata.strides[row], |dim| metadata.strides[dim]);
        for dim in 0..row {
            metadata.shape[dim] = 1;
            metadata.strides[dim] = step * *rows as isize;
        }
        metadata.shape[row] = *rows;
        metadata.strides[row] = step;
    }
}
