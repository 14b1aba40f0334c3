//! Positions given as any integer type, negative ones counting from the end.

use crate::MetadataError;

/// An integer that can stand for a position or a dimension.
pub trait AsIndex: Copy + core::fmt::Debug {
    /// The position; values that do not fit saturate, so that a bound check still refuses them.
    fn index(self) -> isize;
}

macro_rules! as_index {
    ($($ty:ty),+) => {
        $(impl AsIndex for $ty {
            fn index(self) -> isize {
                #[allow(irrefutable_let_patterns, unused_comparisons)]
                isize::try_from(self).unwrap_or(if self < 0 { isize::MIN } else { isize::MAX })
            }
        })+
    };
}

as_index!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// Resolves a dimension that may count from the end: `-1` is the last of `rank`.
///
/// # Errors
/// [`MetadataError::OutOfBounds`] outside `-rank..rank`.
pub fn wrap_dim(dim: isize, rank: usize) -> Result<usize, MetadataError> {
    let wrapped = if dim < 0 {
        dim.checked_add_unsigned(rank)
    } else {
        Some(dim)
    };
    match wrapped {
        Some(position) if position >= 0 && position.unsigned_abs() < rank => {
            Ok(position.unsigned_abs())
        }
        _ => Err(MetadataError::OutOfBounds { dim, rank }),
    }
}
