//! [`DataLoaderBuilder`]: the usual way to a loader.

use alloc::boxed::Box;
use core::fmt::Debug;
use std::sync::Arc;

use burn_dataset::{Dataset, IterableDataset};
use burn_tensor::Device;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::batcher::Batcher;
use super::{
    BatchDataLoader, BatchStrategy, DataLoader, FixBatchStrategy, MultiThreadDataLoader,
    StreamDataLoader,
};

/// Describes a loader.
///
/// Without other wishes: batches of one item, in the order of the dataset, on the default device,
/// read by the thread that asks.
pub struct DataLoaderBuilder<I, O> {
    batcher: Arc<dyn Batcher<I, O>>,
    batch_size: usize,
    num_workers: usize,
    seed: Option<u64>,
    device: Option<Device>,
}

impl<I, O> DataLoaderBuilder<I, O>
where
    I: Send + Sync + Clone + 'static,
    O: Send + Debug + 'static,
{
    /// A loader whose batches `batcher` makes.
    pub fn new<Bt>(batcher: Bt) -> Self
    where
        Bt: Batcher<I, O> + 'static,
    {
        Self {
            batcher: Arc::new(batcher),
            batch_size: 1,
            num_workers: 0,
            seed: None,
            device: None,
        }
    }

    /// Sets the number of items in a batch.
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.batch_size = batch_size;
        self
    }

    /// Draws a new order in each epoch; the same seed draws the same orders.
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Reads on so many threads; 0 reads on the thread that asks.
    pub fn num_workers(mut self, num_workers: usize) -> Self {
        self.num_workers = num_workers;
        self
    }

    /// Sets the device on which batches are made.
    pub fn set_device(mut self, device: Device) -> Self {
        self.device = Some(device);
        self
    }

    /// The loader of `dataset`.
    ///
    /// # Panics
    /// If the batch size is 0.
    #[track_caller]
    pub fn build<D>(self, dataset: D) -> Arc<dyn DataLoader<O>>
    where
        D: Dataset<I> + 'static,
    {
        let strategy: Box<dyn BatchStrategy<I>> = Box::new(FixBatchStrategy::new(self.batch_size));
        let dataset: Arc<dyn Dataset<I>> = Arc::new(dataset);
        let device = self.device.unwrap_or_default();
        let rng = self.seed.map(StdRng::seed_from_u64);
        match self.num_workers {
            0 => Arc::new(BatchDataLoader::new(
                strategy,
                dataset,
                self.batcher,
                device,
                rng,
            )),
            threads => Arc::new(MultiThreadDataLoader::new(
                strategy,
                dataset,
                self.batcher,
                threads,
                device,
                rng,
            )),
        }
    }

    /// The loader of a dataset that can only be read from its start. It is read by one thread, ahead of who asks if there
    /// are to be threads; [`StreamDataLoader`] says what else is different.
    ///
    /// # Panics
    /// If the batch size is 0.
    #[track_caller]
    pub fn build_iterable<D>(self, dataset: D) -> Arc<dyn DataLoader<O>>
    where
        D: IterableDataset<I> + 'static,
    {
        Arc::new(StreamDataLoader::new(
            Box::new(FixBatchStrategy::new(self.batch_size)),
            Arc::new(dataset),
            self.batcher,
            self.num_workers > 0,
            self.device.unwrap_or_default(),
            self.seed.map(StdRng::seed_from_u64),
        ))
    }
}
