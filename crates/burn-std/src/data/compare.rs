//! Assertions about data, for tests.

use alloc::format;
use alloc::string::String;
use core::fmt::{Debug, Display, Write};
use core::ops::{Range, RangeInclusive};

use num_traits::{Float, ToPrimitive};

use super::{TensorData, convert};
use crate::{DType, Element, ElementEq, ElementOrdered};

/// How far two floats may lie apart and still count as equal.
///
/// They do if they are equal, or `|a - b| <= absolute`, or `|a - b| <= relative * max(|a|, |b|)`.
/// NaN is equal to nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance<F> {
    relative: F,
    absolute: F,
}

impl<F: Float> Default for Tolerance<F> {
    fn default() -> Self {
        Self::balanced()
    }
}

fn float<F: Float, FF: ToPrimitive>(value: FF) -> F {
    F::from(value).expect("every number has a nearest float")
}

impl<F: Float> Tolerance<F> {
    /// For the same operations in the same order: nothing but 64 times the smallest normal number.
    pub fn strict() -> Self {
        Self {
            relative: F::zero(),
            absolute: float::<F, _>(64) * F::min_positive_value(),
        }
    }

    /// For the same mathematics in another order: relative 0.005, absolute 1e-5.
    pub fn balanced() -> Self {
        Self::rel_abs(0.005, 1e-5)
    }

    /// For approximations: relative 0.01, absolute 0.01.
    pub fn permissive() -> Self {
        Self::rel_abs(0.01, 0.01)
    }

    /// Both limits.
    ///
    /// # Panics
    /// If one is negative or NaN, or the relative one exceeds 1.
    #[track_caller]
    pub fn rel_abs<FF: ToPrimitive>(relative: FF, absolute: FF) -> Self {
        let (relative, absolute) = (float(relative), float(absolute));
        Self {
            relative: F::zero(),
            absolute: F::zero(),
        }
        .with_relative(relative)
        .with_absolute(absolute)
    }

    /// A relative limit alone.
    ///
    /// # Panics
    /// If it is negative, NaN or exceeds 1.
    #[track_caller]
    pub fn relative<FF: ToPrimitive>(limit: FF) -> Self {
        Self {
            relative: F::zero(),
            absolute: F::zero(),
        }
        .with_relative(float(limit))
    }

    /// An absolute limit alone.
    ///
    /// # Panics
    /// If it is negative or NaN.
    #[track_caller]
    pub fn absolute<FF: ToPrimitive>(limit: FF) -> Self {
        Self {
            relative: F::zero(),
            absolute: F::zero(),
        }
        .with_absolute(float(limit))
    }

    #[track_caller]
    fn with_relative(self, relative: F) -> Self {
        let legal = relative >= F::zero() && relative <= F::one();
        assert!(legal, "a relative tolerance lies between 0 and 1");
        Self { relative, ..self }
    }

    #[track_caller]
    fn with_absolute(self, absolute: F) -> Self {
        assert!(
            absolute >= F::zero(),
            "an absolute tolerance is not negative"
        );
        Self { absolute, ..self }
    }

    /// Whether two numbers count as equal.
    pub fn approx_eq(&self, lhs: F, rhs: F) -> bool {
        if lhs == rhs {
            return true;
        }
        let distance = (lhs - rhs).abs();
        // An infinite distance is never within a share of an infinite size.
        distance.is_finite()
            && (distance <= self.absolute || distance <= self.relative * lhs.abs().max(rhs.abs()))
    }
}

/// Setters for all precisions, or for floats of one size in bytes only.
macro_rules! setters {
    ($($set:ident $with:ident $(if $size:literal)?, $doc:literal;)+) => {
        impl<F: Float> Tolerance<F> {
            $(#[doc = $doc]
            #[track_caller]
            pub fn $set<FF: ToPrimitive>(self, limit: FF) -> Self {
                $(if size_of::<F>() != $size {
                    return self;
                })?
                self.$with(float(limit))
            })+
        }
    };
}

setters! {
    set_relative with_relative, "Sets the relative limit.";
    set_absolute with_absolute, "Sets the absolute limit.";
    set_half_precision_relative with_relative if 2, "Sets the relative limit of 16-bit floats.";
    set_half_precision_absolute with_absolute if 2, "Sets the absolute limit of 16-bit floats.";
    set_single_precision_relative with_relative if 4, "Sets the relative limit of 32-bit floats.";
    set_single_precision_absolute with_absolute if 4, "Sets the absolute limit of 32-bit floats.";
    set_double_precision_relative with_relative if 8, "Sets the relative limit of 64-bit floats.";
    set_double_precision_absolute with_absolute if 8, "Sets the absolute limit of 64-bit floats.";
}

/// How many mismatches a message lists.
const LISTED: usize = 5;

/// Collects mismatches and panics with the first of them.
struct Mismatches<'a> {
    data: &'a TensorData,
    list: String,
    count: usize,
}

impl<'a> Mismatches<'a> {
    fn new(data: &'a TensorData) -> Self {
        Self {
            data,
            list: String::new(),
            count: 0,
        }
    }

    fn add(&mut self, flat: usize, what: impl Display) {
        self.count += 1;
        if self.count <= LISTED {
            let position = self.position(flat);
            write!(self.list, "\n  at {position}: {what}").expect("strings grow");
        }
    }

    /// The position in each dimension of the element at `flat` in row-major order.
    fn position(&self, mut flat: usize) -> crate::Shape {
        let mut position = self.data.shape().clone();
        for index in position.iter_mut().rev() {
            let size = *index;
            *index = flat % size;
            flat /= size;
        }
        position
    }

    #[track_caller]
    fn report(self, title: &str) {
        let Self { data, list, count } = self;
        if count > 0 {
            let more = match count.saturating_sub(LISTED) {
                0 => String::new(),
                more => format!("\n  and {more} more"),
            };
            let total = data.num_elements();
            panic!("{title}: {count} of {total} elements{list}{more}");
        }
    }
}

#[track_caller]
fn assert_same_shape(lhs: &TensorData, rhs: &TensorData) {
    let (left, right) = (lhs.shape(), rhs.shape());
    assert!(
        left == right,
        "data is not equal: shape {left} differs from {right}"
    );
}

/// Zeros of both signs are the same number here, as `==` has it and the total order does not.
fn at_least<E: ElementOrdered>(elem: &E, bound: &E) -> bool {
    elem.cmp(bound).is_ge() || ElementEq::eq(elem, bound)
}

/// Assertions.
impl TensorData {
    /// Asserts that shape and elements are equal, and with `strict` also the dtype.
    ///
    /// Without `strict` the elements of `other` are converted first. NaN differs from itself.
    ///
    /// # Panics
    /// With the first mismatches, if there are any.
    #[track_caller]
    pub fn assert_eq(&self, other: &Self, strict: bool) {
        if strict {
            let (left, right) = (self.dtype.name(), other.dtype.name());
            assert!(
                self.dtype == other.dtype,
                "data is not equal: dtype {left} differs from {right}"
            );
        }
        assert_same_shape(self, other);
        let plain;
        let this = match self.dtype.is_quantized() {
            true => {
                plain = self.clone().convert_dtype(DType::F32);
                &plain
            }
            false => self,
        };
        let converted;
        let other = if this.dtype == other.dtype {
            other
        } else {
            converted = other.clone().convert_dtype(this.dtype);
            &converted
        };
        let mut mismatches = Mismatches::new(self);
        convert::with_elements!(this, elems => {
            for (i, (left, right)) in elems.iter().zip(convert::stored(other)).enumerate() {
                if left != right {
                    mismatches.add(i, format_args!("{left} is not {right}"));
                }
            }
        });
        mismatches.report("data is not equal");
    }

    /// Asserts that shape and elements are equal within a tolerance, compared as `F`.
    ///
    /// Dtypes may differ.
    ///
    /// # Panics
    /// With the first mismatches, if there are any.
    #[track_caller]
    pub fn assert_approx_eq<F: Float + Element>(&self, other: &Self, tolerance: Tolerance<F>) {
        assert_same_shape(self, other);
        let mut mismatches = Mismatches::new(self);
        for (i, (left, right)) in self.iter::<F>().zip(other.iter::<F>()).enumerate() {
            // Both are "not a number": that is the same result, although `==` denies it.
            let equal = tolerance.approx_eq(left, right) || (left.is_nan() && right.is_nan());
            if !equal {
                let distance = (left - right).abs();
                mismatches.add(i, format_args!("{left} is not {right}, off by {distance}"));
            }
        }
        let Tolerance { relative, absolute } = tolerance;
        mismatches.report(&format!(
            "data is not equal within relative {relative:?}, absolute {absolute:?}"
        ));
    }

    /// Asserts that every element lies in the range, compared as `E`.
    ///
    /// # Panics
    /// With the first elements outside, if there are any.
    #[track_caller]
    pub fn assert_within_range<E: ElementOrdered>(&self, range: Range<E>) {
        self.assert_within(&range, |elem: &E| {
            at_least(elem, &range.start) && !at_least(elem, &range.end)
        });
    }

    /// Asserts that every element lies in the range, compared as `E`.
    ///
    /// # Panics
    /// With the first elements outside, if there are any.
    #[track_caller]
    pub fn assert_within_range_inclusive<E: ElementOrdered>(&self, range: RangeInclusive<E>) {
        self.assert_within(&range, |elem: &E| {
            at_least(elem, range.start()) && at_least(range.end(), elem)
        });
    }

    #[track_caller]
    fn assert_within<E: ElementOrdered>(&self, range: &dyn Debug, contains: impl Fn(&E) -> bool) {
        let mut mismatches = Mismatches::new(self);
        for (i, elem) in self.iter::<E>().enumerate() {
            if !contains(&elem) {
                mismatches.add(i, elem);
            }
        }
        mismatches.report(&format!("data is not within {range:?}"));
    }
}
