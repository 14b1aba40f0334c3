//! Why an instruction is illegal, said so that its author can mend it.

use crate::TensorMeta;
use crate::op::{Kinds, SliceRange};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use burn_std::{DType, Distribution, Scalar, Shape};
use core::fmt;

/// An illegal instruction: its name, its operands, what is wrong and what would be legal.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationError {
    operation: &'static str,
    operands: Vec<(&'static str, TensorMeta)>,
    problem: Problem,
}

/// What is wrong with an instruction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// An operand has elements of the wrong kind.
    OperandKind {
        /// The operand's name.
        operand: &'static str,
        /// Its element type.
        found: DType,
        /// The legal kinds.
        expected: &'static str,
    },
    /// The output cannot have this element type.
    OutputKind {
        /// The element type asked for.
        found: DType,
        /// The legal kinds.
        expected: &'static str,
    },
    /// Operands have unequal element types.
    DTypesDiffer,
    /// A scalar is of another kind than the elements it meets.
    ScalarKind {
        /// The scalar.
        value: Scalar,
        /// The element type it meets.
        dtype: DType,
    },
    /// Every operand is a scalar.
    NoTensor,
    /// Operands have unequal ranks.
    RanksDiffer,
    /// An operand has too few dims.
    RankTooSmall {
        /// The least legal rank.
        least: usize,
    },
    /// An attribute needs one entry a dim and has another number.
    EntryPerDim {
        /// The number of entries.
        found: usize,
    },
    /// Sizes neither agree nor stretch.
    Sizes {
        /// The dim they stand in.
        dim: usize,
        /// The left size.
        lhs: usize,
        /// The right size.
        rhs: usize,
    },
    /// The contracted sizes of a matrix product differ.
    InnerSizes {
        /// The last size of the left side.
        lhs: usize,
        /// The last but one size of the right side.
        rhs: usize,
    },
    /// A dim is not below the rank.
    DimOutOfRange {
        /// The dim.
        dim: usize,
    },
    /// The operation takes exactly one dim.
    OneDim {
        /// The number of dims given.
        found: usize,
    },
    /// There is no element to choose in a dim of size 0.
    NothingToChoose {
        /// The dim.
        dim: usize,
    },
    /// The number of elements would change.
    Count {
        /// The shape asked for.
        to: Shape,
    },
    /// The axes are no permutation of the dims.
    NotAPermutation {
        /// The axes given.
        axes: Shape,
    },
    /// A size other than 1 would change.
    Expand {
        /// The dim it stands in.
        dim: usize,
        /// The shape asked for.
        to: Shape,
    },
    /// A selection leaves its dim.
    Slice {
        /// The dim.
        dim: usize,
        /// The selection.
        range: SliceRange,
    },
    /// The parameters of a distribution are illegal.
    Distribution {
        /// The distribution.
        found: Distribution,
        /// The legal parameters.
        legal: &'static str,
    },
    /// An attribute does not fit the operands.
    Attribute {
        /// What was found, as a sentence.
        found: String,
        /// What would be legal.
        legal: String,
    },
    /// The output has more elements than can be counted.
    TooLarge,
    /// There is no operand.
    NoOperand,
    /// An operand has another shape than the others ask for.
    OperandShape {
        /// The operand's name.
        operand: &'static str,
        /// The legal shape.
        expected: Box<Shape>,
    },
    /// An operand has another rank than the operation takes.
    OperandRank {
        /// The operand's name.
        operand: &'static str,
        /// The legal rank.
        expected: usize,
    },
    /// Indices name more positions of a dim than there are.
    MoreThan {
        /// The dim.
        dim: usize,
        /// The number asked for.
        found: usize,
        /// The number that there is.
        most: usize,
    },
    /// An index is none of the positions of its dim.
    Index {
        /// The index, an int.
        index: Scalar,
        /// The dim.
        dim: usize,
        /// The size of the dim.
        size: usize,
    },
    /// A mask has another number of true elements than the instruction says.
    TrueCount {
        /// The number that the mask has.
        found: usize,
        /// The number that the instruction says.
        expected: usize,
    },
}

impl OperationError {
    pub(crate) fn new(
        operation: &'static str,
        operands: Vec<(&'static str, TensorMeta)>,
        problem: Problem,
    ) -> Self {
        Self {
            operation,
            operands,
            problem,
        }
    }

    /// An index that is none of the `size` positions of `dim`: what an engine reports that reads such indices.
    #[cold]
    pub fn out_of_range(
        operation: &'static str,
        operands: &[(&'static str, &TensorMeta)],
        index: Scalar,
        dim: usize,
        size: usize,
    ) -> Self {
        Self::of(operation, operands, Problem::Index { index, dim, size })
    }

    /// A mask with `found` true elements where `argwhere` says `expected`: what an engine reports that reads it.
    #[cold]
    pub fn true_count(mask: &TensorMeta, found: usize, expected: usize) -> Self {
        let problem = Problem::TrueCount { found, expected };
        Self::of("argwhere", &[("mask", mask)], problem)
    }

    pub(crate) fn of(
        operation: &'static str,
        operands: &[(&'static str, &TensorMeta)],
        problem: Problem,
    ) -> Self {
        let operands = operands
            .iter()
            .map(|(name, meta)| (*name, (*meta).clone()))
            .collect();
        Self {
            operation,
            operands,
            problem,
        }
    }

    /// Checks the kind of each operand.
    pub(crate) fn require(
        operation: &'static str,
        kinds: Kinds,
        operands: &[(&'static str, &TensorMeta)],
    ) -> Result<(), Self> {
        match operands.iter().find(|(_, meta)| !kinds.contain(meta.dtype)) {
            None => Ok(()),
            Some((operand, meta)) => {
                let problem = Problem::OperandKind {
                    operand,
                    found: meta.dtype,
                    expected: kinds.1,
                };
                Err(Self::of(operation, operands, problem))
            }
        }
    }

    /// The name of the operation.
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// Whether the instruction is illegal because of quantized operands, and may be legal on what they stand for.
    pub fn is_of_codes(&self) -> bool {
        match &self.problem {
            Problem::OperandKind { found, .. } | Problem::OutputKind { found, .. } => {
                found.is_quantized()
            }
            Problem::DTypesDiffer => {
                let quantized = |(_, meta): &(_, TensorMeta)| meta.dtype.is_quantized();
                self.operands.iter().any(quantized)
            }
            _ => false,
        }
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl core::error::Error for OperationError {}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.operation, self.problem)?;
        for (name, meta) in &self.operands {
            write!(f, "\n  {name}: {meta}")?;
        }
        write!(f, "\n  legal: {}", Legal(&self.problem))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OperandKind { operand, found, .. } => {
                write!(f, "`{operand}` has elements of type {}", found.name())
            }
            Self::OutputKind { found, .. } => write!(
                f,
                "the output cannot have elements of type {}",
                found.name()
            ),
            Self::DTypesDiffer => write!(f, "the operands have different element types"),
            Self::ScalarKind { value, dtype } => write!(
                f,
                "the scalar {value:?} meets elements of type {}",
                dtype.name()
            ),
            Self::NoTensor => write!(f, "every value is a scalar"),
            Self::RanksDiffer => write!(f, "the operands have different ranks"),
            Self::RankTooSmall { .. } => write!(f, "an operand has too few dims"),
            Self::EntryPerDim { found } => write!(f, "{found} entries were given"),
            Self::Sizes { dim, lhs, rhs } => write!(f, "sizes {lhs} and {rhs} differ in dim {dim}"),
            Self::InnerSizes { lhs, rhs } => write!(f, "{lhs} columns meet {rhs} rows"),
            Self::DimOutOfRange { dim } => write!(f, "there is no dim {dim}"),
            Self::OneDim { found } => write!(f, "{found} dims were given"),
            Self::NothingToChoose { dim } => {
                write!(f, "dim {dim} has size 0, there is nothing to choose from")
            }
            Self::Count { to } => write!(f, "{:?} holds another number of elements", &to[..]),
            Self::NotAPermutation { axes } => {
                write!(f, "{:?} is no permutation of the dims", &axes[..])
            }
            Self::Expand { dim, to } => write!(f, "dim {dim} cannot become {:?}", &to[..]),
            Self::Slice { dim, range } => write!(
                f,
                "{} elements from {} in steps of {} leave dim {dim}",
                range.len, range.start, range.step
            ),
            Self::Distribution { found, .. } => write!(f, "{found:?} is no distribution"),
            Self::Attribute { found, .. } => write!(f, "{found}"),
            Self::TooLarge => write!(f, "the output has too many elements to count"),
            Self::NoOperand => write!(f, "there is no tensor"),
            Self::OperandShape { operand, .. } => write!(f, "`{operand}` does not fit"),
            Self::OperandRank { operand, .. } => {
                write!(f, "`{operand}` has the wrong number of dims")
            }
            Self::MoreThan { dim, found, most } => {
                write!(f, "dim {dim} has {most} positions, not {found}")
            }
            Self::Index { index, dim, size } => {
                match index {
                    Scalar::Int(index) => write!(f, "index {index}")?,
                    Scalar::UInt(index) => write!(f, "index {index}")?,
                    other => write!(f, "index {other:?}")?,
                }
                write!(f, " is out of range in dim {dim} of size {size}")
            }
            Self::TrueCount { found, expected } => {
                write!(f, "the mask has {found} true elements, not {expected}")
            }
        }
    }
}

/// What would have been legal.
struct Legal<'a>(&'a Problem);

impl fmt::Display for Legal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Problem::OperandKind { expected, .. } | Problem::OutputKind { expected, .. } => {
                write!(f, "elements of kind {expected}")
            }
            Problem::DTypesDiffer => write!(f, "equal element types; cast one of the operands"),
            Problem::ScalarKind { dtype, .. } => {
                write!(f, "a scalar of kind {}", dtype.kind().as_str())
            }
            Problem::NoTensor => write!(f, "at least one tensor; cast the mask instead"),
            Problem::RanksDiffer => {
                write!(f, "equal ranks; reshape or unsqueeze one of the operands")
            }
            Problem::RankTooSmall { least } => write!(f, "at least {least} dims"),
            Problem::EntryPerDim { .. } => write!(f, "one entry for each dim of the input"),
            Problem::Sizes { .. } => write!(f, "equal sizes, or size 1 on either side"),
            Problem::InnerSizes { .. } => write!(f, "[…, m, k] and […, k, n]"),
            Problem::DimOutOfRange { .. } => write!(f, "a dim below the rank of the input"),
            Problem::OneDim { .. } => write!(f, "exactly one dim"),
            Problem::NothingToChoose { .. } => write!(f, "at least one element"),
            Problem::Count { .. } => write!(f, "a shape with as many elements as the input"),
            Problem::NotAPermutation { .. } => write!(f, "each dim of the input once"),
            Problem::Expand { .. } => write!(f, "a new size only where the input has size 1"),
            Problem::Slice { .. } => {
                write!(f, "a selection inside the dim, with a step other than 0")
            }
            Problem::Distribution { legal, .. } => write!(f, "{legal}"),
            Problem::Attribute { legal, .. } => write!(f, "{legal}"),
            Problem::TooLarge => write!(f, "a count that fits the address space"),
            Problem::NoOperand => write!(f, "at least one tensor"),
            Problem::OperandShape { expected, .. } => write!(f, "the shape {:?}", &expected[..]),
            Problem::OperandRank { expected, .. } => write!(f, "rank {expected}"),
            Problem::MoreThan { most, .. } => write!(f, "at most {most}"),
            Problem::Index { size, .. } => write!(f, "indices in 0..{size}"),
            Problem::TrueCount { .. } => write!(f, "the number of true elements of this mask"),
        }
    }
}
