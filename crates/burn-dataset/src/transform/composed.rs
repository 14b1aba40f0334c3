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

impl<D, I, E> Dataset<I, E> for ComposedDataset<D>
where
    D: Dataset<I, E>,
    I: Clone,
    E: Error + Send + Sync + 'static,
{
    fn get(&self, index: usize) -> Result<I, E> {
        let mut local = index;
        for dataset in &self.datasets {
            let len = dataset.len();
            if local < len {
                return dataset.get(local);
            }
            local -= len;
        }
        let len = index - local;
        panic!("ComposedDataset: index {index} is out of range, the dataset has {len} items")
    }

    fn len(&self) -> usize {
        self.datasets.iter().map(D::len).sum()
    }
}
