//! A function applied to every item of a dataset, when it is read.

use core::error::Error;
use core::marker::PhantomData;

use crate::Dataset;

/// Turns an item into another one.
pub trait Mapper<I, O>: Send + Sync {
    /// Makes the new item.
    fn map(&self, item: &I) -> O;
}

/// The items of a dataset, each turned into another one when it is read.
#[derive(Clone, Debug)]
pub struct MapperDataset<D, M, I> {
    dataset: D,
    mapper: M,
    input: PhantomData<I>,
}

impl<D, M, I> MapperDataset<D, M, I> {
    /// Applies `mapper` to the items of `dataset`.
    pub fn new(dataset: D, mapper: M) -> Self {
        Self {
            dataset,
            mapper,
            input: PhantomData,
        }
    }
}

impl<D, M, I, O, E> Dataset<O, E> for MapperDataset<D, M, I>
where
    D: Dataset<I, E>,
    M: Mapper<I, O> + Send + Sync,
    I: Send + Sync,
    O: Send + Sync,
    E: Error + Send + Sync + 'static,
{
    fn get(&self, index: usize) -> Result<O, E> {
        self.dataset.get(index).map(|item| self.mapper.map(&item))
    }

    fn len(&self) -> usize {
        self.dataset.len()
    }

    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<O>, E> {
        let items = self.dataset.get_many(indices)?;
        Ok(items.iter().map(|item| self.mapper.map(item)).collect())
    }
}
