//! What every loader offers, and how far an epoch is.

use alloc::boxed::Box;
use alloc::string::String;
use std::sync::{Arc, Mutex, PoisonError};

use burn_dataset::transform::ShuffledDataset;
use burn_dataset::{Dataset, DatasetError};
use burn_tensor::Device;
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Batches of type `O`, epoch by epoch.
pub trait DataLoader<O>: Send + Sync {
    /// Starts an epoch.
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<O> + 'a>;

    /// The number of items in an epoch.
    fn num_items(&self) -> usize;

    /// A loader on another device.
    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<O>>;

    /// A loader of the items `start..end` of the dataset.
    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<O>>;
}

/// The batches of one epoch. An item that cannot be read is an error in place of its batch; the
/// epoch goes on after it.
pub trait DataLoaderIterator<O>: Iterator<Item = Result<O, DatasetError>> {
    /// How far the epoch is.
    fn progress(&self) -> Progress;
}

/// How much of something is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Items that are done.
    pub items_processed: usize,
    /// Items in all.
    pub items_total: usize,
    /// What an item is, for display.
    pub unit: Option<String>,
}

impl Progress {
    /// `items_processed` of `items_total`.
    pub fn new(items_processed: usize, items_total: usize, unit: Option<String>) -> Self {
        Self {
            items_processed,
            items_total,
            unit,
        }
    }

    /// Whether all items are done.
    pub fn is_completed(&self) -> bool {
        self.items_processed >= self.items_total
    }
}

/// The source of each epoch's order; `None` keeps the order of the dataset.
pub(super) struct Order(Option<Mutex<StdRng>>);

impl Order {
    pub fn new(rng: Option<StdRng>) -> Self {
        Self(rng.map(Mutex::new))
    }

    /// The dataset in the order of a new epoch.
    pub fn draw<I>(&self, dataset: &Arc<dyn Dataset<I>>) -> Arc<dyn Dataset<I>>
    where
        I: Clone + Send + Sync + 'static,
    {
        match self.next_rng() {
            Some(rng) => Arc::new(ShuffledDataset::new(dataset.clone(), rng)),
            None => dataset.clone(),
        }
    }

    /// A generator that starts from this one.
    pub fn next_rng(&self) -> Option<StdRng> {
        self.0
            .as_ref()
            .map(|rng| StdRng::from_rng(&mut *rng.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
