//! Whether a tensor can be read under another shape where it lies.

use crate::{Shape, Strides};

/// How the elements of a tensor lie, with a view to another shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReshapeAnalysis {
    /// In row-major order.
    IsContiguous,
    /// In an order that no strides of the other shape describe.
    HighlyPermuted,
    /// With dims that repeat.
    Broadcasted,
    /// Under dims of which each becomes one or several neighbours.
    Split,
    /// Under more dims than the other shape has.
    SmallerRank,
    /// The shapes are equal.
    NoChange,
}

/// What a reshape takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReshapeAction {
    /// Other strides.
    UpdateStrides {
        /// The strides.
        strides: Strides,
    },
    /// A copy.
    Recompute,
    /// Nothing.
    NoChange,
}

impl ReshapeAnalysis {
    /// How elements of `shape` under `strides` lie, with a view to `shape_new`.
    pub fn new(shape: &[usize], strides: &[usize], shape_new: &[usize]) -> Self {
        let large = || (0..shape.len()).filter(|dim| shape[*dim] != 1);
        if shape == shape_new {
            Self::NoChange
        } else if large().any(|dim| strides[dim] == 0) {
            Self::Broadcasted
        } else if is_dense(shape, strides) {
            Self::IsContiguous
        } else if shape_new.len() < shape.len() {
            Self::SmallerRank
        } else if split(shape, strides, shape_new).is_some() {
            Self::Split
        } else {
            Self::HighlyPermuted
        }
    }

    /// What it takes to read elements of `shape` under `strides` as `shape_new`.
    pub fn action(&self, shape: &[usize], strides: &[usize], shape_new: &[usize]) -> ReshapeAction {
        let update = |strides: Option<Strides>| match strides {
            Some(strides) => ReshapeAction::UpdateStrides { strides },
            None => ReshapeAction::Recompute,
        };
        match self {
            Self::NoChange => ReshapeAction::NoChange,
            Self::HighlyPermuted => ReshapeAction::Recompute,
            Self::IsContiguous => update(Some(Strides::contiguous(&Shape::from(shape_new)))),
            Self::Broadcasted | Self::Split | Self::SmallerRank => {
                update(split(shape, strides, shape_new))
            }
        }
    }
}

fn is_dense(shape: &[usize], strides: &[usize]) -> bool {
    let mut expected = 1;
    shape.iter().zip(strides).rev().all(|(size, stride)| {
        let fits = *size == 1 || *stride == expected;
        expected *= size;
        fits
    })
}

/// The strides under which each dim of `shape` is one or several neighbours of `new`, if it is.
fn split(shape: &[usize], strides: &[usize], new: &[usize]) -> Option<Strides> {
    let mut result: alloc::vec::Vec<isize> = alloc::vec![1; new.len()];
    let mut end = new.len();
    for (size, stride) in shape.iter().zip(strides).rev() {
        let mut rest = *size;
        let mut step = *stride as isize;
        while rest > 1 {
            let dim = end.checked_sub(1)?;
            if new[dim] == 0 || !rest.is_multiple_of(new[dim]) {
                return None;
            }
            result[dim] = step;
            step *= new[dim] as isize;
            rest /= new[dim];
            end = dim;
        }
    }
    new[..end]
        .iter()
        .all(|size| *size == 1)
        .then(|| result.into())
}
