//! The loader of a dataset that can only be read from its start.

use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::Arc;

use burn_dataset::{DatasetError, IterableDataset};
use burn_tensor::Device;
use rand::RngExt;
use rand::rngs::StdRng;

use super::base::Order;
use super::batcher::Batcher;
use super::multithread::{Epoch, Worker};
use super::threads::Threads;
use super::{BatchStrategy, DataLoader, DataLoaderIterator, Progress};

/// Batches among which items change places when a stream is shuffled.
const SHUFFLED: usize = 64;

type Stream<I> = Box<dyn Iterator<Item = Result<I, DatasetError>> + Send>;

/// Reads a stream, on the thread that asks, or ahead of it on one of its own.
///
/// Nobody knows its length: [`num_items`](DataLoader::num_items) is 0, and the progress of an epoch has a total when it
/// is over, one item more than were read before. Shuffled, an item comes at a random place among the next 64 batches.
pub struct StreamDataLoader<I, O> {
    strategy: Box<dyn BatchStrategy<I>>,
    dataset: Arc<dyn IterableDataset<I>>,
    batcher: Arc<dyn Batcher<I, O>>,
    device: Device,
    order: Order,
    /// The items of the stream that are read.
    start: usize,
    end: usize,
    /// `None` reads on the thread that asks.
    threads: Option<Arc<Threads>>,
}

impl<I, O> StreamDataLoader<I, O> {
    /// A loader; with `rng` items change places, with `ahead` they are read on a thread.
    pub fn new(
        strategy: Box<dyn BatchStrategy<I>>,
        dataset: Arc<dyn IterableDataset<I>>,
        batcher: Arc<dyn Batcher<I, O>>,
        ahead: bool,
        device: Device,
        rng: Option<StdRng>,
    ) -> Self {
        Self {
            strategy,
            dataset,
            batcher,
            device,
            order: Order::new(rng),
            start: 0,
            end: usize::MAX,
            threads: ahead.then(|| Arc::new(Threads::new(1))),
        }
    }

    fn with(&self, device: Device) -> Self {
        let (strategy, dataset) = (self.strategy.clone_dyn(), self.dataset.clone());
        let (batcher, rng) = (self.batcher.clone(), self.order.next_rng());
        let loader = Self::new(
            strategy,
            dataset,
            batcher,
            self.threads.is_some(),
            device,
            rng,
        );
        Self {
            start: self.start,
            end: self.end,
            ..loader
        }
    }
}

impl<I, O> DataLoader<O> for StreamDataLoader<I, O>
where
    I: Send + Sync + 'static,
    O: Send + 'static,
{
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<O> + 'a> {
        let skipped = self.dataset.stream().skip(self.start);
        let stream: Stream<I> = Box::new(skipped.take(self.end.saturating_sub(self.start)));
        let stream: Stream<I> = match self.order.next_rng() {
            Some(rng) => Box::new(Shuffled {
                stream,
                rng,
                waiting: Vec::new(),
                most: SHUFFLED * self.strategy.batch_size().unwrap_or(1),
            }),
            None => stream,
        };
        let batches = StreamIterator {
            strategy: self.strategy.clone_dyn(),
            stream,
            batcher: self.batcher.clone(),
            device: self.device.clone(),
            read: 0,
            over: false,
        };
        match &self.threads {
            Some(threads) => {
                let worker = Worker::start(0, batches, threads);
                Box::new(Epoch::new(alloc::vec![worker], None))
            }
            None => Box::new(batches),
        }
    }

    fn num_items(&self) -> usize {
        0
    }

    fn to_device(&self, device: &Device) -> Arc<dyn DataLoader<O>> {
        Arc::new(self.with(device.clone()))
    }

    fn slice(&self, start: usize, end: usize) -> Arc<dyn DataLoader<O>> {
        let loader = self.with(self.device.clone());
        Arc::new(Self {
            start: self.start.saturating_add(start),
            end: self.end.min(self.start.saturating_add(end)),
            ..loader
        })
    }
}

/// One epoch.
struct StreamIterator<I, O> {
    strategy: Box<dyn BatchStrategy<I>>,
    stream: Stream<I>,
    batcher: Arc<dyn Batcher<I, O>>,
    device: Device,
    read: usize,
    over: bool,
}

impl<I, O> Iterator for StreamIterator<I, O> {
    type Item = Result<O, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let items = loop {
            if let Some(items) = self.strategy.batch(self.over) {
                break items;
            }
            if self.over {
                return None;
            }
            match self.stream.next() {
                Some(item) => {
                    self.read += 1;
                    match item {
                        Ok(item) => self.strategy.add(item),
                        Err(error) => return Some(Err(error)),
                    }
                }
                None => self.over = true,
            }
        };
        Some(Ok(self.batcher.batch(items, &self.device)))
    }
}

impl<I, O> DataLoaderIterator<O> for StreamIterator<I, O> {
    fn progress(&self) -> Progress {
        let total = self.read + usize::from(!self.over);
        Progress::new(self.read, total, Some("items".into()))
    }
}

/// A stream whose items change places with later ones.
struct Shuffled<I> {
    stream: Stream<I>,
    rng: StdRng,
    waiting: Vec<I>,
    most: usize,
}

impl<I> Iterator for Shuffled<I> {
    type Item = Result<I, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.waiting.len() < self.most {
            match self.stream.next() {
                Some(Ok(item)) => self.waiting.push(item),
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        if self.waiting.is_empty() {
            return None;
        }
        let place = self.rng.random_range(0..self.waiting.len());
        Some(Ok(self.waiting.swap_remove(place)))
    }
}
