//! Chosen items of a dataset in a chosen order.

use core::marker::PhantomData;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::{RngSource, equal_ranges};
use crate::dataset::check_index;
use crate::{Dataset, DatasetError};

/// The items of a dataset at a list of indices, in the order of the list. An index may repeat.
#[derive(Clone, Debug)]
pub struct SelectionDataset<D, I>
where
    D: Dataset<I>,
    I: Clone + Send + Sync,
{
    /// The dataset that holds the items.
    pub wrapped: Arc<D>,
    /// For each item, its index in the wrapped dataset.
    pub indices: Vec<usize>,
    item: PhantomData<I>,
}

impl<D, I> SelectionDataset<D, I>
where
    D: Dataset<I>,
    I: Clone + Send + Sync,
{
    /// Selects the items at `indices`.
    ///
    /// # Panics
    /// If an index is out of range.
    #[track_caller]
    pub fn from_indices_checked<S>(dataset: S, indices: Vec<usize>) -> Self
    where
        S: Into<Arc<D>>,
    {
        let selection = Self::from_indices_unchecked(dataset, indices);
        let len = selection.wrapped.len();
        for &index in &selection.indices {
            check_index("SelectionDataset", index, len);
        }
        selection
    }

    /// Selects the items at `indices`; one that is out of range panics when it is read.
    pub fn from_indices_unchecked<S>(dataset: S, indices: Vec<usize>) -> Self
    where
        S: Into<Arc<D>>,
    {
        Self {
            wrapped: dataset.into(),
            indices,
            item: PhantomData,
        }
    }

    /// Selects all items in their order.
    pub fn new_select_all<S>(dataset: S) -> Self
    where
        S: Into<Arc<D>>,
    {
        let wrapped = dataset.into();
        let indices = (0..wrapped.len()).collect();
        Self::from_indices_unchecked(wrapped, indices)
    }

    /// Selects all items in a random order.
    pub fn new_shuffled<S, R>(dataset: S, rng_source: R) -> Self
    where
        S: Into<Arc<D>>,
        R: Into<RngSource>,
    {
        let mut selection = Self::new_select_all(dataset);
        selection.shuffle(rng_source);
        selection
    }

    /// Puts the selected items in a random order.
    pub fn shuffle<R>(&mut self, rng_source: R)
    where
        R: Into<RngSource>,
    {
        self.indices.shuffle(&mut StdRng::from(rng_source.into()));
    }

    /// Selects the items `start..end` of this selection.
    ///
    /// # Panics
    /// If the range ends before it starts or beyond the last item.
    #[track_caller]
    pub fn slice(&self, start: usize, end: usize) -> Self {
        let len = self.indices.len();
        assert!(
            start <= end && end <= len,
            "SelectionDataset: range {start}..{end} is not within its {len} items"
        );
        Self::from_indices_unchecked(self.wrapped.clone(), self.indices[start..end].to_vec())
    }

    /// Cuts this selection into `num` parts of equal length; the last takes the rest.
    ///
    /// # Panics
    /// If `num` is zero.
    #[track_caller]
    pub fn split(&self, num: usize) -> Vec<Self> {
        equal_ranges(self.indices.len(), num)
            .map(|range| self.slice(range.start, range.end))
            .collect()
    }
}

impl<D, I> Dataset<I> for SelectionDataset<D, I>
where
    D: Dataset<I>,
    I: Clone + Send + Sync,
{
    fn get(&self, index: usize) -> Result<I, DatasetError> {
        check_index("SelectionDataset", index, self.indices.len());
        self.wrapped.get(self.indices[index])
    }

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn get_many(&self, mut indices: Vec<usize>) -> Result<Vec<I>, DatasetError> {
        for index in &mut indices {
            check_index("SelectionDataset", *index, self.indices.len());
            *index = self.indices[*index];
        }
        self.wrapped.get_many(indices)
    }
}
