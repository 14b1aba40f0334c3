//! Datasets that can only be read from their start, and whose length nobody knows.

use crate::DatasetError;

/// Items that come one after the other: a file without an index, a generator, a connection.
///
/// For what has a length and can be read anywhere there is [`Dataset`](crate::Dataset), which shuffles truly.
pub trait IterableDataset<I>: Send + Sync {
    /// Starts from the first item. One that cannot be read is an error in its place; whether others follow is up to the
    /// source.
    fn stream(&self) -> Box<dyn Iterator<Item = Result<I, DatasetError>> + Send>;
}

/// A function that starts an iterator is such a dataset.
impl<I, F, S> IterableDataset<I> for F
where
    F: Fn() -> S + Send + Sync,
    S: Iterator<Item = Result<I, DatasetError>> + Send + 'static,
{
    fn stream(&self) -> Box<dyn Iterator<Item = Result<I, DatasetError>> + Send> {
        Box::new(self())
    }
}
