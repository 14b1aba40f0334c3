//! The [`Dataset`] trait, its iterator and its error. Implementations live beside this file and in [`transform`].
//!
//! [`transform`]: crate::transform

use core::error::Error;
use core::fmt;
use std::sync::Arc;

/// A sized collection of items that can be read at any index.
///
/// Reading may fail for reasons outside the program (a file, a database, a network): `E` says how.
pub trait Dataset<I, E = DatasetError>: Send + Sync
where
    E: Error + Send + Sync + 'static,
{
    /// Reads the item at `index`.
    ///
    /// # Errors
    /// `E` if the source of the item cannot be read.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Dataset::len).
    fn get(&self, index: usize) -> Result<I, E>;

    /// The number of items.
    fn len(&self) -> usize;

    /// Reads several items, in the order of `indices`. A source that reads many items faster than one by one
    /// overrides this.
    ///
    /// # Errors
    /// The first `E` that reading an item gives; the items read so far are dropped.
    ///
    /// # Panics
    /// If an index is not below [`len`](Dataset::len).
    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<I>, E> {
        indices.into_iter().map(|index| self.get(index)).collect()
    }

    /// Whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads all items in order.
    fn iter(&self) -> DatasetIterator<'_, I, E>
    where
        Self: Sized,
    {
        DatasetIterator::new(self)
    }
}

/// Forwards every method to the dataset behind a pointer.
macro_rules! forward {
    () => {
        fn get(&self, index: usize) -> Result<I, E> {
            (**self).get(index)
        }

        fn len(&self) -> usize {
            (**self).len()
        }

        fn get_many(&self, indices: Vec<usize>) -> Result<Vec<I>, E> {
            (**self).get_many(indices)
        }
    };
}

impl<D, I, E> Dataset<I, E> for Box<D>
where
    D: Dataset<I, E>,
    E: Error + Send + Sync + 'static,
{
    forward!();
}

impl<D, I, E> Dataset<I, E> for Arc<D>
where
    D: Dataset<I, E>,
    E: Error + Send + Sync + 'static,
{
    forward!();
}

impl<I, E> Dataset<I, E> for Box<dyn Dataset<I, E>>
where
    E: Error + Send + Sync + 'static,
{
    forward!();
}

impl<I, E> Dataset<I, E> for Arc<dyn Dataset<I, E>>
where
    E: Error + Send + Sync + 'static,
{
    forward!();
}

/// Reads a dataset from its first item to its last.
pub struct DatasetIterator<'a, I, E = DatasetError>
where
    E: Error + Send + Sync + 'static,
{
    dataset: &'a dyn Dataset<I, E>,
    next: usize,
}

impl<'a, I, E> DatasetIterator<'a, I, E>
where
    E: Error + Send + Sync + 'static,
{
    /// Starts at the first item of `dataset`.
    pub fn new<D>(dataset: &'a D) -> Self
    where
        D: Dataset<I, E>,
    {
        Self { dataset, next: 0 }
    }
}

impl<I, E> Iterator for DatasetIterator<'_, I, E>
where
    E: Error + Send + Sync + 'static,
{
    type Item = Result<I, E>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.dataset.len() {
            return None;
        }
        let item = self.dataset.get(self.next);
        self.next += 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.dataset.len().saturating_sub(self.next);
        (left, Some(left))
    }
}

/// Any error of a dataset's source; [`source`](Error::source) and `Display` are those of the original.
#[derive(Debug)]
pub struct DatasetError(Box<dyn Error + Send + Sync + 'static>);

impl DatasetError {
    /// Wraps the error of a source.
    pub fn new<E>(error: E) -> Self
    where
        E: Error + Send + Sync + 'static,
    {
        Self(Box::new(error))
    }
}

impl fmt::Display for DatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for DatasetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Panics, naming the dataset, unless `index < len`.
#[track_caller]
pub(crate) fn check_index(dataset: &str, index: usize, len: usize) {
    assert!(
        index < len,
        "{dataset}: index {index} is out of range, the dataset has {len} items"
    );
}
