//! How the elements of an operand lie in memory when an instruction meets them.

use crate::array::{Array, Num};
use crate::check::upload;
use crate::reference;
use burn_backend::{Device, Handle};
use burn_dispatch::run;
use burn_ir::{MovementOp, Operation, SliceRange};
use burn_std::Kind;

/// A way to lay out an operand: movements of a larger or differently ordered tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Row-major.
    Contiguous,
    /// The dims in reversed order.
    Transposed,
    /// Every second element of a larger tensor.
    Sliced,
    /// All dims backwards.
    Reversed,
    /// One row repeated along the first dim, with stride 0.
    Broadcast,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 5] = [
        Self::Contiguous,
        Self::Transposed,
        Self::Sliced,
        Self::Reversed,
        Self::Broadcast,
    ];

    /// The elements that an operand has under this layout: all layouts hold any elements but the broadcast one, which
    /// repeats the first row.
    pub fn logical(self, array: &Array) -> Array {
        match self {
            Self::Broadcast if !array.shape.is_empty() && array.shape[0] > 0 => {
                Array::from_fn(array.shape.clone(), array.dtype, |position| {
                    let mut first = position.to_vec();
                    first[0] = 0;
                    array.at(&first)
                })
            }
            _ => array.clone(),
        }
    }

    /// A tensor with the elements of `array`, which [`Layout::logical`] gave, in this layout.
    pub fn place(self, device: Device, array: &Array) -> Handle {
        let (stored, op) = self.parts(array);
        let input = upload(device, &stored);
        match op {
            Some(op) => run(device, Operation::Movement { op, input }).one(),
            None => input,
        }
    }

    /// The tensor to store and the movement that makes the operand of it.
    fn parts(self, array: &Array) -> (Array, Option<MovementOp>) {
        let rank = array.shape.len();
        if rank == 0 || array.data.is_empty() {
            return (array.clone(), None);
        }
        match self {
            Self::Contiguous => (array.clone(), None),
            Self::Transposed => {
                let op = MovementOp::Permute {
                    axes: (0..rank).rev().collect(),
                };
                // Reversing the order twice restores it.
                (reference::movement(&op, array), Some(op))
            }
            Self::Sliced => spread(array),
            Self::Reversed => {
                let backwards = |size: &usize| SliceRange {
                    start: size - 1,
                    step: -1,
                    len: *size,
                };
                let op = MovementOp::Slice {
                    ranges: array.shape.iter().map(backwards).collect(),
                };
                (reference::movement(&op, array), Some(op))
            }
            Self::Broadcast => {
                let mut shape = array.shape.clone();
                shape[0] = 1;
                let first = Array::from_fn(shape, array.dtype, |position| array.at(position));
                let op = MovementOp::Expand {
                    shape: array.shape.iter().copied().collect(),
                };
                (first, Some(op))
            }
        }
    }
}

/// The elements with others between and around, and the selection that leaves those out.
fn spread(array: &Array) -> (Array, Option<MovementOp>) {
    let between = match array.dtype.kind() {
        Kind::Float => Num::Float(f64::NAN),
        Kind::Int => Num::Int(77),
        Kind::Bool => Num::Bool(true),
    };
    let shape: Vec<usize> = array.shape.iter().map(|size| size * 2 + 1).collect();
    let stored = Array::from_fn(shape, array.dtype, |position| {
        match position.iter().all(|at| at % 2 == 1) {
            true => array.at(&position.iter().map(|at| at / 2).collect::<Vec<_>>()),
            false => between,
        }
    });
    let every_second = |size: &usize| SliceRange {
        start: 1,
        step: 2,
        len: *size,
    };
    let op = MovementOp::Slice {
        ranges: array.shape.iter().map(every_second).collect(),
    };
    (stored, Some(op))
}
