//! Selecting elements along a dimension, in the manner of NumPy. Kernels that copy them are not here.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZero;
use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{AsIndex, ExpressionError, Shape};

/// Every `step`-th element from `start` up to `end`, which is left out.
///
/// Negative positions count from the end of the dimension, and positions outside it are cut off.
/// A negative step walks the same range backwards from its last element: `0..5` with step -2
/// selects 4, 2, 0. The step is never zero: constructors and deserialization refuse it, and setting
/// the field to zero makes the methods panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slice {
    /// First position of the range.
    pub start: isize,
    /// Position after the last one; `None` is the end of the dimension.
    pub end: Option<isize>,
    /// Distance between selected elements, backwards if negative.
    #[serde(deserialize_with = "nonzero")]
    pub step: isize,
}

impl Slice {
    /// A slice from its parts.
    ///
    /// # Panics
    /// If the step is zero.
    pub const fn new(start: isize, end: Option<isize>, step: isize) -> Self {
        assert!(step != 0, "the step of a slice cannot be zero");
        Self { start, end, step }
    }

    /// A slice from its parts, under its other name.
    ///
    /// # Panics
    /// If the step is zero.
    pub fn with_step(start: isize, end: Option<isize>, step: isize) -> Self {
        Self::new(start, end, step)
    }

    /// The whole dimension.
    pub const fn full() -> Self {
        Self::new(0, None, 1)
    }

    /// The one element at `index`.
    pub fn index(index: isize) -> Self {
        Self::new(index, after(index), 1)
    }

    /// Every `step`-th element of a range.
    ///
    /// # Panics
    /// If the step is zero.
    pub fn from_range_stepped<R: Into<Slice>>(range: R, step: isize) -> Self {
        let range = range.into();
        Self::new(range.start, range.end, step)
    }

    /// The same slice with its end no further than `size`.
    pub fn bound_to(self, size: usize) -> Self {
        let size = size.index();
        Self {
            end: Some(self.end.map_or(size, |end| end.min(size))),
            ..self
        }
    }

    /// The step, backwards if negative.
    pub fn step(&self) -> isize {
        self.step
    }

    /// Whether the range is walked backwards.
    pub fn is_reversed(&self) -> bool {
        self.step < 0
    }

    /// The positions the range covers in a dimension of `size` elements, without the step.
    pub fn range(&self, size: usize) -> Range<usize> {
        let start = resolve(self.start, size);
        let end = self.end.map_or(size, |end| resolve(end, size));
        start..end.max(start)
    }

    /// The positions the range covers, under its other name.
    pub fn to_range(&self, size: usize) -> Range<usize> {
        self.range(size)
    }

    /// The positions the range covers, with the step.
    pub fn to_range_and_step(&self, size: usize) -> (Range<usize>, isize) {
        (self.range(size), self.step)
    }

    /// How many elements of a dimension of `size` are selected.
    #[track_caller]
    pub fn output_size(&self, size: usize) -> usize {
        assert!(self.step != 0, "the step of a slice cannot be zero");
        self.range(size).len().div_ceil(self.step.unsigned_abs())
    }

    /// The selected positions in order; see [`SliceIter`].
    ///
    /// # Panics
    /// If the slice has no end, as the positions would not either.
    #[track_caller]
    pub fn into_vec(self) -> Vec<isize> {
        assert!(
            self.end.is_some(),
            "the slice {self} has no end: bind it to a size first"
        );
        self.into_iter().collect()
    }
}

fn nonzero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<isize, D::Error> {
    NonZero::<isize>::deserialize(deserializer).map(NonZero::get)
}

/// The end of a range whose last position is `index`: after -1 the dimension ends.
fn after(index: isize) -> Option<isize> {
    if index == -1 {
        None
    } else {
        Some(index.saturating_add(1))
    }
}

/// A position counted from the start and cut off at the bounds of the dimension.
fn resolve(position: isize, size: usize) -> usize {
    if position < 0 {
        size.saturating_sub(position.unsigned_abs())
    } else {
        size.min(position.unsigned_abs())
    }
}

impl Default for Slice {
    fn default() -> Self {
        Self::full()
    }
}

impl<I: AsIndex> From<Range<I>> for Slice {
    fn from(range: Range<I>) -> Self {
        Self::new(range.start.index(), Some(range.end.index()), 1)
    }
}

impl<I: AsIndex + Copy> From<RangeInclusive<I>> for Slice {
    fn from(range: RangeInclusive<I>) -> Self {
        Self::new(range.start().index(), after(range.end().index()), 1)
    }
}

impl<I: AsIndex> From<RangeFrom<I>> for Slice {
    fn from(range: RangeFrom<I>) -> Self {
        Self::new(range.start.index(), None, 1)
    }
}

impl<I: AsIndex> From<RangeTo<I>> for Slice {
    fn from(range: RangeTo<I>) -> Self {
        Self::new(0, Some(range.end.index()), 1)
    }
}

impl<I: AsIndex> From<RangeToInclusive<I>> for Slice {
    fn from(range: RangeToInclusive<I>) -> Self {
        Self::new(0, after(range.end.index()), 1)
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Self::full()
    }
}

macro_rules! from_index {
    ($($int:ty),+) => {
        $(impl From<$int> for Slice {
            fn from(index: $int) -> Self {
                Self::index(index.index())
            }
        })+
    };
}

from_index!(i32, i64, isize, usize);

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.step == 1 && self.end == after(self.start) {
            return write!(f, "{}", self.start);
        }
        if self.start != 0 {
            write!(f, "{}", self.start)?;
        }
        f.write_str("..")?;
        if let Some(end) = self.end {
            write!(f, "{end}")?;
        }
        if self.step != 1 {
            write!(f, ";{}", self.step)?;
        }
        Ok(())
    }
}

/// Reads what [`s!`](crate::s) takes for one dimension: `"1..3"`, `"..=-2"`, `"5"`, `"..;-1"`.
impl FromStr for Slice {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        let source = || text.to_string();
        let number = |number: &str| {
            number
                .trim()
                .parse::<isize>()
                .map_err(|error| ExpressionError::ParseError {
                    message: alloc::format!("{number:?} is not an integer: {error}"),
                    source: source(),
                })
        };
        let (range, step) = match text.split_once(';') {
            Some((range, step)) => (range, number(step)?),
            None => (text, 1),
        };
        if step == 0 {
            let message = "the step of a slice cannot be zero".to_string();
            return Err(ExpressionError::InvalidExpression {
                message,
                source: source(),
            });
        }
        let Some((start, end)) = range.split_once("..") else {
            let index = number(range)?;
            return Ok(Self::new(index, after(index), step));
        };
        let start = if start.trim().is_empty() {
            0
        } else {
            number(start)?
        };
        let end = match end.trim().strip_prefix('=') {
            Some(last) => after(number(last)?),
            None if end.trim().is_empty() => None,
            None => Some(number(end)?),
        };
        Ok(Self::new(start, end, step))
    }
}

/// The positions a slice selects, without knowing the size of the dimension.
///
/// Without an end they go on for ever, upwards. A range that only a size could resolve (walked
/// backwards from an open end, or from a negative start to another sign) selects what its numbers
/// say: nothing where the end does not lie after the start.
#[derive(Clone, Debug)]
pub struct SliceIter {
    next: isize,
    /// How many are left; `None` is for ever.
    left: Option<usize>,
    step: isize,
}

impl IntoIterator for Slice {
    type Item = isize;
    type IntoIter = SliceIter;

    #[track_caller]
    fn into_iter(self) -> SliceIter {
        assert!(self.step != 0, "the step of a slice cannot be zero");
        let Slice { start, end, step } = self;
        let left = match end {
            Some(end) => {
                let len = end.saturating_sub(start).max(0).unsigned_abs();
                Some(len.div_ceil(step.unsigned_abs()))
            }
            None if step < 0 => Some(0),
            None => None,
        };
        // Backwards from the last element of the range.
        let next = if step < 0 {
            end.map_or(start, |end| end.saturating_sub(1))
        } else {
            start
        };
        SliceIter { next, left, step }
    }
}

impl Iterator for SliceIter {
    type Item = isize;

    fn next(&mut self) -> Option<isize> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let position = self.next;
        self.next = position.saturating_add(self.step);
        Some(position)
    }
}

/// What can say which elements of each dimension are selected: one slice, an array or a list.
pub trait SliceArg {
    /// One slice for each dimension, inside its bounds; dimensions not named are full.
    ///
    /// # Panics
    /// If there are more slices than dimensions.
    fn into_slices(self, shape: &Shape) -> Vec<Slice>;
}

#[track_caller]
fn fill(slices: impl ExactSizeIterator<Item = Slice>, shape: &Shape) -> Vec<Slice> {
    let count = slices.len();
    assert!(
        count <= shape.rank(),
        "{count} slices are too many for shape {shape}"
    );
    slices
        .chain(core::iter::repeat(Slice::full()))
        .zip(shape)
        .map(|(slice, size)| Slice::from_range_stepped(slice.range(*size), slice.step))
        .collect()
}

impl<T: Into<Slice>> SliceArg for T {
    #[track_caller]
    fn into_slices(self, shape: &Shape) -> Vec<Slice> {
        fill(core::iter::once(self.into()), shape)
    }
}

impl<T: Into<Slice> + Clone, const R: usize> SliceArg for [T; R] {
    #[track_caller]
    fn into_slices(self, shape: &Shape) -> Vec<Slice> {
        fill(self.into_iter().map(Into::into), shape)
    }
}

impl<T: Into<Slice> + Clone> SliceArg for &[T] {
    #[track_caller]
    fn into_slices(self, shape: &Shape) -> Vec<Slice> {
        fill(self.iter().cloned().map(Into::into), shape)
    }
}

impl SliceArg for &Vec<Slice> {
    #[track_caller]
    fn into_slices(self, shape: &Shape) -> Vec<Slice> {
        self.as_slice().into_slices(shape)
    }
}

/// Slices from ranges and indices, each with an optional step after a semicolon.
///
/// One dimension gives a [`Slice`], several give an array of them.
///
/// ```
/// use burn_std::{Slice, s};
///
/// assert_eq!(s![1..4], Slice::new(1, Some(4), 1));
/// assert_eq!(s![.., -1, 0..8;2], [Slice::full(), Slice::index(-1), Slice::new(0, Some(8), 2)]);
/// ```
#[macro_export]
macro_rules! s {
    (@one $range:expr) => { $crate::Slice::from($range) };
    (@one $range:expr; $step:expr) => { $crate::Slice::from_range_stepped($range, $step) };
    ($range:expr $(; $step:expr)?) => { $crate::s!(@one $range $(; $step)?) };
    ($($range:expr $(; $step:expr)?),+ $(,)?) => { [$($crate::s!(@one $range $(; $step)?)),+] };
}
