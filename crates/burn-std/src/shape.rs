//! Sizes and strides of tensors. Rules of broadcasting and reshaping belong to `burn-ir`.

use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut, Range};

use serde::{Deserialize, Serialize};
pub use smallvec::SmallVec;

pub use crate::errors::{ExpressionError, MetadataError};
use crate::{AsIndex, Slice, SliceArg};

/// Ranks up to this need no allocation.
const INLINE: usize = 4;

/// The size of each dimension of a tensor. A scalar has none.
#[derive(Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
// Through a vector, whose decoding does not believe the length that a file claims.
#[serde(from = "Vec<usize>")]
pub struct Shape(SmallVec<[usize; INLINE]>);

impl Shape {
    /// A shape from its sizes.
    #[inline]
    pub fn new<const D: usize>(dims: [usize; D]) -> Self {
        Self(SmallVec::from_slice(&dims))
    }

    /// The product of all sizes; 1 for a scalar.
    ///
    /// Saturates, so that a shape too large for memory never looks small.
    #[inline]
    pub fn num_elements(&self) -> usize {
        self.iter()
            .fold(1, |count, size| usize::saturating_mul(count, *size))
    }

    /// How many dimensions there are.
    #[inline]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// How many dimensions there are, under its other name.
    pub fn num_dims(&self) -> usize {
        self.rank()
    }

    /// The sizes as an array.
    ///
    /// # Panics
    /// If the rank is not `D`.
    #[track_caller]
    pub fn dims<const D: usize>(&self) -> [usize; D] {
        match self.as_slice().try_into() {
            Ok(dims) => dims,
            Err(_) => panic!("shape {self} has rank {}, not {D}", self.rank()),
        }
    }

    /// The sizes as a slice.
    #[inline]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// The sizes, as a vector of their own.
    pub fn into_vec(self) -> Vec<usize> {
        self.0.into_vec()
    }
}

/// Distance in elements from one index of a dimension to the next; negative in flipped views.
#[derive(Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<isize>")]
pub struct Strides(SmallVec<[isize; INLINE]>);

impl Strides {
    /// Strides from their values.
    pub fn new<const D: usize>(strides: [isize; D]) -> Self {
        Self(SmallVec::from_slice(&strides))
    }

    /// The strides of a dense layout with the last dimension innermost.
    pub fn contiguous(shape: &Shape) -> Self {
        let mut strides = SmallVec::from_elem(1, shape.rank());
        for dim in (1..shape.rank()).rev() {
            // Overflows only in shapes without elements, whose strides lead nowhere.
            strides[dim - 1] = isize::wrapping_mul(strides[dim], shape[dim] as isize);
        }
        Self(strides)
    }

    /// How many dimensions there are.
    pub fn rank(&self) -> usize {
        self.0.len()
    }
}

/// What [`Shape`] and [`Strides`] share as lists of numbers.
macro_rules! list {
    ($list:ident, $item:ty) => {
        impl Deref for $list {
            type Target = [$item];
            #[inline]
            fn deref(&self) -> &[$item] {
                &self.0
            }
        }

        // A copy of plain numbers, where the derived one would clone them one by one.
        impl Clone for $list {
            #[inline]
            fn clone(&self) -> Self {
                Self(SmallVec::from_slice(&self.0))
            }
        }

        impl DerefMut for $list {
            #[inline]
            fn deref_mut(&mut self) -> &mut [$item] {
                &mut self.0
            }
        }

        impl fmt::Display for $list {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl fmt::Debug for $list {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&**self, f)
            }
        }

        impl FromIterator<$item> for $list {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> Self {
                Self(items.into_iter().collect())
            }
        }

        impl<const D: usize> From<[$item; D]> for $list {
            fn from(items: [$item; D]) -> Self {
                Self::new(items)
            }
        }

        impl From<Vec<$item>> for $list {
            fn from(items: Vec<$item>) -> Self {
                // Copies short lists inline instead of keeping their allocation.
                Self(SmallVec::from_slice(&items))
            }
        }

        impl From<&[$item]> for $list {
            fn from(items: &[$item]) -> Self {
                Self(SmallVec::from_slice(items))
            }
        }

        impl From<&$list> for $list {
            fn from(list: &$list) -> Self {
                list.clone()
            }
        }

        impl<const D: usize> PartialEq<[$item; D]> for $list {
            fn eq(&self, other: &[$item; D]) -> bool {
                **self == other[..]
            }
        }

        impl<'a> IntoIterator for &'a $list {
            type Item = &'a $item;
            type IntoIter = core::slice::Iter<'a, $item>;
            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        impl IntoIterator for $list {
            type Item = $item;
            type IntoIter = smallvec::IntoIter<[$item; INLINE]>;
            fn into_iter(self) -> Self::IntoIter {
                self.0.into_iter()
            }
        }
    };
}

list!(Shape, usize);
list!(Strides, isize);

#[track_caller]
fn size<I: AsIndex>(size: I) -> usize {
    match usize::try_from(size.index()) {
        Ok(size) => size,
        Err(_) => panic!("a shape cannot hold the negative size {size:?}"),
    }
}

/// Sizes of other integer types; a negative size panics.
macro_rules! shape_from {
    ($($int:ty),+) => {
        $(
            impl<const D: usize> From<[$int; D]> for Shape {
                #[track_caller]
                fn from(dims: [$int; D]) -> Self {
                    Self::new(dims.map(size))
                }
            }

            impl From<&[$int]> for Shape {
                #[track_caller]
                fn from(dims: &[$int]) -> Self {
                    dims.iter().copied().map(size).collect()
                }
            }

            impl From<Vec<$int>> for Shape {
                #[track_caller]
                fn from(dims: Vec<$int>) -> Self {
                    Self::from(&dims[..])
                }
            }
        )+
    };
}

shape_from!(i32, i64, u32, u64);

/// A [`Shape`] from its sizes: `shape![2, 3]`, or `shape![1; 4]` for equal ones.
#[macro_export]
macro_rules! shape {
    ($($list:tt)*) => { $crate::Shape::new([$($list)*]) };
}

/// [`Strides`] from their values: `strides![3, 1]`.
#[macro_export]
macro_rules! strides {
    ($($list:tt)*) => { $crate::Strides::new([$($list)*]) };
}

/// The shape of `lhs` times `rhs`: matrices in the last two dimensions, batches broadcast before.
///
/// # Shapes
/// - `lhs`: `[…, m, k]`
/// - `rhs`: `[…, k, n]`, of the same rank
/// - output: `[…, m, n]`
///
/// # Errors
/// [`MetadataError`] if the ranks differ or are below 2, `k` differs, or batch sizes differ and
/// none of them is 1.
pub fn calculate_matmul_output(lhs: &Shape, rhs: &Shape) -> Result<Shape, MetadataError> {
    let rank = lhs.rank();
    if rank != rhs.rank() || rank < 2 {
        return Err(MetadataError::RankMismatch {
            left: rank,
            right: rhs.rank(),
        });
    }
    if lhs[rank - 1] != rhs[rank - 2] {
        return Err(MetadataError::IncompatibleShapes {
            left: lhs.clone(),
            right: rhs.clone(),
        });
    }
    let mut output = lhs.clone();
    for dim in 0..rank - 2 {
        output[dim] = match (lhs[dim], rhs[dim]) {
            (left, right) if left == right => left,
            (1, size) | (size, 1) => size,
            (left, right) => return Err(MetadataError::IncompatibleDims { left, right, dim }),
        };
    }
    output[rank - 1] = rhs[rank - 1];
    Ok(output)
}

/// Slicing of shapes.
pub trait SliceOps: Sized {
    /// Each dimension in full.
    fn into_ranges(self) -> Vec<Range<usize>>;

    /// One slice for each dimension, inside its bounds; dimensions not named are full.
    fn into_slices<S: SliceArg>(self, slices: S) -> Vec<Slice>;

    /// The shape that `slices` select; dimensions not named stay.
    ///
    /// # Errors
    /// [`MetadataError::RankMismatch`] if there are more slices than dimensions.
    fn slice(self, slices: &[Slice]) -> Result<Self, MetadataError>;
}

impl SliceOps for Shape {
    fn into_ranges(self) -> Vec<Range<usize>> {
        self.into_iter().map(|size| 0..size).collect()
    }

    #[track_caller]
    fn into_slices<S: SliceArg>(self, slices: S) -> Vec<Slice> {
        slices.into_slices(&self)
    }

    fn slice(mut self, slices: &[Slice]) -> Result<Self, MetadataError> {
        if slices.len() > self.rank() {
            return Err(MetadataError::RankMismatch {
                left: self.rank(),
                right: slices.len(),
            });
        }
        for (size, slice) in self.iter_mut().zip(slices) {
            *size = slice.output_size(*size);
        }
        Ok(self)
    }
}
