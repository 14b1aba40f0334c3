//! Several datasets, one after the other.

use core::error::Error;

use crate::Dataset;

/// The items of several datasets, one after the other.
#[derive(Clone, Debug)]
pub struct ComposedDataset<D> {
    datasets: Vec<D>,
}

impl<D> ComposedDataset<D> {
    /// Chains `datasets` in their order.
    pub fn new(datasets: Vec<D>) -> Self {
        Self { datasets }
    }
}

impl<D> ComposedDataset<D> {
    /// The dataset that holds the item, and the item's index there.
    fn find<I, E>(&self, index: usize) -> (usize, usize)
    where
        D: Dataset<I, E>,
        E: Error + Send + Sync + 'static,
    {
        let mut local = index;
        for (number, dataset) in self.datasets.iter().enumerate() {
            let len = dataset.len();
            if local < len {
                return (number, local);
            }
            local -= len;
        }
        let len = index - local;
        panic!("ComposedDataset: index {index} is out of range, the dataset has {len} items")
    }
}

impl<D, I, E> Dataset<I, E> for ComposedDataset<D>
where
    D: Dataset<I, E>,
    I: Clone,
    E: Error + Send + Sync + 'static,
{
    fn get(&self, index: usize) -> Result<I, E> {
        let (number, local) = self.find(index);
        self.datasets[number].get(local)
    }

    fn len(&self) -> usize {
        self.datasets.iter().map(D::len).sum()
    }

    /// Asks each dataset once.
    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<I>, E> {
        let places: Vec<_> = indices.into_iter().map(|index| self.find(index)).collect();
        let mut items: Vec<Option<I>> = places.iter().map(|_| None).collect();
        for (number, dataset) in self.datasets.iter().enumerate() {
            let here = || (0..places.len()).filter(|&position| places[position].0 == number);
            let wanted: Vec<_> = here().map(|position| places[position].1).collect();
            if wanted.is_empty() {
                continue;
            }
            for (position, item) in here().zip(dataset.get_many(wanted)?) {
                items[position] = Some(item);
            }
        }
        Ok(items.into_iter().flatten().collect())
    }
}
