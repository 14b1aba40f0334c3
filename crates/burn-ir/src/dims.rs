//! Sets of dims.

use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A set of dims, for instructions where order and repetition carry no meaning.
///
/// Holds dims below [`Dims::CAPACITY`]; serialized as an ascending list.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Dims(u64);

impl Dims {
    /// Dims at or above this bound cannot be held.
    pub const CAPACITY: usize = 64;

    /// The set of one dim.
    ///
    /// # Panics
    /// If `dim` is not below [`Dims::CAPACITY`].
    pub const fn one(dim: usize) -> Self {
        assert!(dim < Self::CAPACITY, "a tensor has at most 64 dims");
        Self(1 << dim)
    }

    /// Every dim of a tensor of `rank`.
    pub fn all(rank: usize) -> Self {
        (0..rank).collect()
    }

    /// Whether `dim` is in the set.
    pub const fn contains(self, dim: usize) -> bool {
        dim < Self::CAPACITY && self.0 >> dim & 1 == 1
    }

    /// The number of dims in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The dims in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Self::CAPACITY).filter(move |dim| self.contains(*dim))
    }

    /// The largest dim of the set.
    pub fn last(self) -> Option<usize> {
        (Self::CAPACITY - 1).checked_sub(self.0.leading_zeros() as usize)
    }
}

impl FromIterator<usize> for Dims {
    fn from_iter<I: IntoIterator<Item = usize>>(dims: I) -> Self {
        Self(dims.into_iter().fold(0, |set, dim| set | Self::one(dim).0))
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Dims {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Dims {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dims = Vec::<usize>::deserialize(deserializer)?;
        if dims.iter().any(|dim| *dim >= Self::CAPACITY) {
            return Err(D::Error::custom("a dim is out of range"));
        }
        Ok(dims.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iteration_is_ascending_and_without_repetition() {
        let dims: Dims = [3, 1, 3].into_iter().collect();
        assert_eq!(dims.iter().collect::<Vec<_>>(), [1, 3]);
        assert_eq!((dims.len(), dims.last()), (2, Some(3)));
        assert_eq!(Dims::default().last(), None);
    }

    #[test]
    fn encoding_is_a_list_and_rejects_what_cannot_be_held() {
        let dims: Dims = [0, 2].into_iter().collect();
        assert_eq!(serde_json::to_string(&dims).unwrap(), "[0,2]");
        assert_eq!(serde_json::from_str::<Dims>("[0,2]").unwrap(), dims);
        assert!(serde_json::from_str::<Dims>("[64]").is_err());
    }
}
