//! The same elements in another arrangement. Flipping is a slice with step -1; repeating expands and reshapes.

use crate::{OperationError, Problem, TensorMeta};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_std::{BlockSize, DType, QuantScheme, Scalar, Shape};
use serde::{Deserialize, Serialize};

/// The same elements in another arrangement; the element type is kept. Any kind; quantized elements
/// where they stay with their scales, and never padded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MovementOp {
    /// The elements in row-major order under other sizes, with the same count.
    Reshape {
        /// The shape of the output.
        shape: Shape,
    },
    /// Dim `d` of the output is dim `axes[d]` of the input.
    Permute {
        /// A permutation of the dims.
        axes: Shape,
    },
    /// Dims of size 1 repeat to a new size, which may be 0. Same rank.
    Expand {
        /// The shape of the output.
        shape: Shape,
    },
    /// A regular selection in each dim.
    Slice {
        /// One selection a dim.
        ranges: Box<[SliceRange]>,
    },
    /// New elements around and between the old ones. The adjoint of [`MovementOp::Slice`].
    Pad {
        /// The number of new elements, one entry a dim.
        padding: Box<[PadRange]>,
        /// The new element, of the kind of the input.
        value: Scalar,
    },
}

/// A selection in one dim: elements `start + i · step` for `i` below `len`, all inside the dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SliceRange {
    /// The first element.
    pub start: usize,
    /// The distance to the next, not 0; negative walks backwards.
    pub step: isize,
    /// The number of elements.
    pub len: usize,
}

impl SliceRange {
    /// The whole of a dim.
    pub const fn full(size: usize) -> Self {
        Self {
            start: 0,
            step: 1,
            len: size,
        }
    }

    /// The last element reached, or `None` if none is or it cannot be represented.
    fn last(self) -> Option<isize> {
        let steps = isize::try_from(self.len.checked_sub(1)?).ok()?;
        isize::try_from(self.start)
            .ok()?
            .checked_add(steps.checked_mul(self.step)?)
    }

    fn is_inside(self, size: usize) -> bool {
        let inside = |at: isize| usize::try_from(at).is_ok_and(|at| at < size);
        self.step != 0 && (self.len == 0 || (self.start < size && self.last().is_some_and(inside)))
    }
}

/// New elements in one dim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PadRange {
    /// Before the first element.
    pub before: usize,
    /// Between neighbours.
    pub between: usize,
    /// After the last element.
    pub after: usize,
}

impl PadRange {
    /// The size of the dim afterwards, or `None` beyond what can be represented.
    fn size(self, size: usize) -> Option<usize> {
        let between = self.between.checked_mul(size.saturating_sub(1))?;
        size.checked_add(between)?
            .checked_add(self.before)?
            .checked_add(self.after)
    }
}

impl MovementOp {
    /// The name in errors, traces and prints.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Reshape { .. } => "reshape",
            Self::Permute { .. } => "permute",
            Self::Expand { .. } => "expand",
            Self::Slice { .. } => "slice",
            Self::Pad { .. } => "pad",
        }
    }
}

pub(crate) fn infer(op: &MovementOp, input: &TensorMeta) -> Result<TensorMeta, OperationError> {
    let error = |problem| OperationError::of(op.name(), &[("input", input)], problem);
    let shape = shape(op, input).map_err(error)?;
    if count(&shape).is_none() {
        return Err(error(Problem::TooLarge));
    }
    let dtype = match input.dtype {
        DType::QFloat(scheme) => match requantized(op, scheme, input, &shape) {
            Some(scheme) => DType::QFloat(scheme),
            None => {
                return Err(error(Problem::OperandKind {
                    operand: "input",
                    found: input.dtype,
                    expected: "any, not quantized",
                }));
            }
        },
        dtype => dtype,
    };
    Ok(TensorMeta { shape, dtype })
}

/// The sizes of the output.
fn shape(op: &MovementOp, input: &TensorMeta) -> Result<Shape, Problem> {
    let rank = |found: usize| match found == input.rank() {
        true => Ok(()),
        false => Err(Problem::EntryPerDim { found }),
    };
    Ok(match op {
        MovementOp::Reshape { shape } => {
            if count(shape) != count(&input.shape) {
                return Err(Problem::Count { to: shape.clone() });
            }
            shape.clone()
        }
        MovementOp::Permute { axes } => {
            rank(axes.len())?;
            if !(0..axes.len()).all(|dim| axes.contains(&dim)) {
                return Err(Problem::NotAPermutation { axes: axes.clone() });
            }
            axes.iter().map(|axis| input.shape[*axis]).collect()
        }
        MovementOp::Expand { shape } => {
            rank(shape.len())?;
            match (0..shape.len())
                .find(|dim| input.shape[*dim] != shape[*dim] && input.shape[*dim] != 1)
            {
                Some(dim) => {
                    return Err(Problem::Expand {
                        dim,
                        to: shape.clone(),
                    });
                }
                None => shape.clone(),
            }
        }
        MovementOp::Slice { ranges } => {
            rank(ranges.len())?;
            match (0..ranges.len()).find(|dim| !ranges[*dim].is_inside(input.shape[*dim])) {
                Some(dim) => {
                    return Err(Problem::Slice {
                        dim,
                        range: ranges[dim],
                    });
                }
                None => ranges.iter().map(|range| range.len).collect(),
            }
        }
        MovementOp::Pad { padding, value } => {
            rank(padding.len())?;
            if !super::broadcast::scalar_fits(*value, input.dtype) {
                return Err(Problem::ScalarKind {
                    value: *value,
                    dtype: input.dtype,
                });
            }
            let sizes = padding
                .iter()
                .zip(input.shape.iter())
                .map(|(pad, size)| pad.size(*size));
            match sizes.collect::<Option<Shape>>() {
                Some(shape) => shape,
                None => return Err(Problem::TooLarge),
            }
        }
    })
}

/// The scheme of quantized elements elsewhere, where they keep their scales.
fn requantized(
    op: &MovementOp,
    scheme: QuantScheme,
    input: &TensorMeta,
    output: &Shape,
) -> Option<QuantScheme> {
    let trimmed = |shape: &Shape| {
        shape
            .iter()
            .position(|size| *size != 1)
            .map(|at| shape[at..].to_vec())
    };
    let block = scheme.block_scale();
    match (op, block) {
        // Codes of 0 would have to stand for the value around.
        (MovementOp::Pad { .. }, _) => None,
        (_, None) => Some(scheme),
        (MovementOp::Permute { axes }, Some(block)) => {
            let sizes = block.size.to_dim_vec(input.rank());
            let sizes: Vec<u8> = axes.iter().map(|axis| sizes[*axis]).collect();
            let size = BlockSize::try_from(sizes).ok()?;
            Some(scheme.per_block(size.as_slice(), block.dtype))
        }
        (MovementOp::Reshape { .. }, Some(block)) => {
            let fits = block.size.as_slice().len() <= output.len();
            (fits && trimmed(&input.shape) == trimmed(output)).then_some(scheme)
        }
        (MovementOp::Expand { .. } | MovementOp::Slice { .. }, Some(_)) => None,
    }
}

/// The number of elements, or `None` beyond what can be represented.
pub(super) fn count(shape: &Shape) -> Option<usize> {
    shape
        .iter()
        .try_fold(1usize, |count, size| count.checked_mul(*size))
}
