//! The loader that reads on the thread that asks.

use alloc::boxed::Box;
use std::sync::Arc;

use burn_dataset::transform::PartialDataset;
use burn_dataset::{Dataset, DatasetError};
use burn_tensor::Device;
use rand::rngs::StdRng;

use super::base::Order;
use super::batcher::Batcher;
use super::{BatchStrategy, DataLoader, DataLoaderIterator, Progress};

/// Reads items and makes batches when they are asked for.
pub struct BatchDataLoader<I, O> {
    strategy: Box<dyn BatchStrategy<I>>,
    dataset: Arc<dyn Dataset<I>>,
    batcher: Arc<dyn Batcher<I, O>>,
    device: Device,
    order: Order,
}

impl<I, O> BatchDataLoader<I, O> {
    /// A loader; with `rng` the items are in a new random order in each epoch.
    pub fn new(
        strategy: Box<dyn BatchStrategy<I>>,
        dataset: Arc<dyn Dataset<I>>,
        batcher: Arc<dyn Batcher<I, O>>,
        device: Device,
        rng: Option<StdRng>,
    ) -> Self {
        Self {
            strategy,
            dataset,
            batcher,
            device,
            order: Order::new(rng),
        }
    }
}

impl<I, O> BatchDataLoader<I, O> {
    fn with(&self, dataset: Arc<dyn Dataset<I>>, device: Device) -> Self {
        let (strategy, batcher) = (self.strategy.clone_dyn(), self.batcher.clone());
        Self::new(strategy, dataset, batcher, device, self.order.next_rng())
    }
}

impl<I, O> DataLoader<O> for BatchDataLoader<I, O>
where
    I: Send + Sync + Clone + 'static,
    O: Send + 'static,
{
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<O> + 'a> {
        Box::new(BatchIterator::new(
            self.strategy.clone_dyn(),
            self.order.draw(&self.dataset),
            self.batcher.clone(),
            self.device.clone(),
        ))
    }

    fn num_items(&self) -> usize {
        self.dataset.len()
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<O>> {
        Arc::new(self.with(self.dataset.clone(), device.clone()))
    }

    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<O>> {
        let part = PartialDataset::new(self.dataset.clone(), start, end);
        Arc::new(self.with(Arc::new(part), self.device.clone()))
    }
}

/// One epoch over a dataset that is in its order already.
pub(super) struct BatchIterator<I, O> {
    strategy: Box<dyn BatchStrategy<I>>,
    dataset: Arc<dyn Dataset<I>>,
    batcher: Arc<dyn Batcher<I, O>>,
    device: Device,
    next: usize,
}

impl<I, O> BatchIterator<I, O> {
    pub fn new(
        strategy: Box<dyn BatchStrategy<I>>,
        dataset: Arc<dyn Dataset<I>>,
        batcher: Arc<dyn Batcher<I, O>>,
        device: Device,
    ) -> Self {
        Self {
            strategy,
            dataset,
            batcher,
            device,
            next: 0,
        }
    }

    /// Reads as many items as make a batch; at the end gives what is left.
    fn items(&mut self) -> Option<Result<alloc::vec::Vec<I>, DatasetError>> {
        let len = self.dataset.len();
        loop {
            if let Some(items) = self.strategy.batch(false) {
                return Some(Ok(items));
            }
            if self.next >= len {
                return self.strategy.batch(true).map(Ok);
            }
            let end = len.min(self.next + self.strategy.batch_size().unwrap_or(1));
            let indices = (self.next..end).collect();
            self.next = end;
            match self.dataset.get_many(indices) {
                Ok(items) => items.into_iter().for_each(|item| self.strategy.add(item)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl<I, O> Iterator for BatchIterator<I, O> {
    type Item = Result<O, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let items = self.items()?;
        Some(items.map(|items| self.batcher.batch(items, &self.device)))
    }
}

impl<I, O> DataLoaderIterator<O> for BatchIterator<I, O> {
    fn progress(&self) -> Progress {
        Progress::new(self.next, self.dataset.len(), Some("items".into()))
    }
}
