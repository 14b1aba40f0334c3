//! A dataset in one random order, drawn when it is made.

use super::{RngSource, SelectionDataset};
use crate::{Dataset, DatasetError};

/// The items of a dataset in a random order, which is drawn once.
#[derive(Clone, Debug)]
pub struct ShuffledDataset<D, I>
where
    D: Dataset<I>,
    I: Clone + Send + Sync,
{
    selection: SelectionDataset<D, I>,
}

impl<D, I> ShuffledDataset<D, I>
where
    D: Dataset<I>,
    I: Clone + Send + Sync,
{
    /// Draws the order from `rng_source`; a seed is one.
    pub fn new<R>(dataset: D, rng_source: R) -> Self
    where
        R: Into<RngSource>,
    {
        Self {
            selection: SelectionDataset::new_shuffled(dataset, rng_source),
        }
    }

    /// Draws the order from `seed`.
    pub fn with_seed(dataset: D, seed: u64) -> Self {
        Self::new(dataset, seed)
    }
}

impl<D, I> Dataset<I> for ShuffledDataset<D, I>
where
    D: Dataset<I>,
    I: Clone + Send + Sync,
{
    fn get(&self, index: usize) -> Result<I, DatasetError> {
        self.selection.get(index)
    }

    fn len(&self) -> usize {
        self.selection.len()
    }

    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<I>, DatasetError> {
        self.selection.get_many(indices)
    }
}
