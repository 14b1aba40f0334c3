//! Overlapping windows of consecutive items.

use core::marker::PhantomData;
use core::num::NonZeroUsize;

use crate::dataset::check_index;
use crate::{Dataset, DatasetError};

/// Reads consecutive items at once. Every dataset can.
pub trait Window<I> {
    /// Reads the `size` items that start at `current`; `None` if fewer are left.
    ///
    /// # Errors
    /// If an item cannot be read.
    fn window(&self, current: usize, size: NonZeroUsize) -> Result<Option<Vec<I>>, DatasetError>;
}

impl<I, T: Dataset<I> + ?Sized> Window<I> for T {
    fn window(&self, current: usize, size: NonZeroUsize) -> Result<Option<Vec<I>>, DatasetError> {
        match current.checked_add(size.get()) {
            Some(end) if end <= self.len() => self.get_many((current..end).collect()).map(Some),
            _ => Ok(None),
        }
    }
}

/// Walks over all windows of a size. Every dataset can.
pub trait Windows<I> {
    /// All windows of `size` consecutive items, each one item further.
    ///
    /// # Panics
    /// If `size` is zero.
    fn windows(&self, size: usize) -> WindowsIterator<'_, I>;
}

impl<I, T: Dataset<I>> Windows<I> for T {
    #[track_caller]
    fn windows(&self, size: usize) -> WindowsIterator<'_, I> {
        WindowsIterator::new(self, non_zero(size))
    }
}

/// Walks over the windows of a dataset.
pub struct WindowsIterator<'a, I> {
    /// The number of items in a window.
    pub size: NonZeroUsize,
    current: usize,
    dataset: &'a dyn Dataset<I>,
}

impl<'a, I> WindowsIterator<'a, I> {
    /// Starts at the first window of `dataset`.
    pub fn new(dataset: &'a dyn Dataset<I>, size: NonZeroUsize) -> Self {
        Self {
            size,
            current: 0,
            dataset,
        }
    }
}

impl<I> Iterator for WindowsIterator<'_, I> {
    type Item = Result<Vec<I>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let window = self.dataset.window(self.current, self.size).transpose()?;
        self.current += 1;
        Some(window)
    }
}

/// A dataset whose items are the windows of another one.
#[derive(Clone, Debug)]
pub struct WindowsDataset<D, I> {
    /// The number of items in a window.
    pub size: NonZeroUsize,
    dataset: D,
    item: PhantomData<I>,
}

impl<D, I> WindowsDataset<D, I> {
    /// The windows of `size` consecutive items of `dataset`.
    ///
    /// # Panics
    /// If `size` is zero.
    #[track_caller]
    pub fn new(dataset: D, size: usize) -> Self
    where
        D: Dataset<I>,
    {
        Self {
            size: non_zero(size),
            dataset,
            item: PhantomData,
        }
    }
}

impl<D, I> Dataset<Vec<I>> for WindowsDataset<D, I>
where
    D: Dataset<I>,
    I: Send + Sync,
{
    fn get(&self, index: usize) -> Result<Vec<I>, DatasetError> {
        check_index("WindowsDataset", index, self.len());
        self.dataset
            .get_many((index..index + self.size.get()).collect())
    }

    fn len(&self) -> usize {
        (self.dataset.len() + 1).saturating_sub(self.size.get())
    }
}

#[track_caller]
fn non_zero(size: usize) -> NonZeroUsize {
    NonZeroUsize::new(size).expect("a window has at least one item, got size 0")
}
