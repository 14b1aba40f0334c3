//! The loader that reads on threads of its own.
//!
//! The threads wait for the next epoch when one is over, also when it was left early, and end with the loader: devices
//! keep memory for each thread that they have seen. Batches come in an order that depends on the number of threads and
//! not on their speed.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt::{self, Debug};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use burn_dataset::transform::PartialDataset;
use burn_dataset::{Dataset, DatasetError};
use burn_tensor::Device;
use rand::rngs::StdRng;

use super::base::Order;
use super::batch::BatchIterator;
use super::batcher::Batcher;
use super::threads::{Thread, Threads};
use super::{BatchStrategy, DataLoader, DataLoaderIterator, Progress};

/// Batches that a thread makes ahead of what is asked for.
const AHEAD: usize = 2;

/// What a thread says.
#[derive(Debug)]
pub enum Message<O> {
    /// A batch, by the thread of this number, and how far that thread is.
    Batch(usize, O, Progress),
    /// A batch that could not be made, by the thread of this number, and why.
    Error(usize, String),
    /// The thread has no more batches.
    Done,
}

/// Reads items and makes batches on several threads.
pub struct MultiThreadDataLoader<I, O> {
    strategy: Box<dyn BatchStrategy<I>>,
    dataset: Arc<dyn Dataset<I>>,
    batcher: Arc<dyn Batcher<I, O>>,
    num_threads: usize,
    device: Device,
    order: Order,
    threads: Arc<Threads>,
}

impl<I, O> MultiThreadDataLoader<I, O> {
    /// A loader; with `rng` the items are in a new random order in each epoch.
    ///
    /// # Panics
    /// If `num_threads` is 0.
    #[track_caller]
    pub fn new(
        strategy: Box<dyn BatchStrategy<I>>,
        dataset: Arc<dyn Dataset<I>>,
        batcher: Arc<dyn Batcher<I, O>>,
        num_threads: usize,
        device: Device,
        rng: Option<StdRng>,
    ) -> Self {
        assert!(num_threads > 0, "a loader cannot work with 0 threads");
        Self {
            strategy,
            dataset,
            batcher,
            num_threads,
            device,
            order: Order::new(rng),
            threads: Arc::new(Threads::new(num_threads)),
        }
    }

    fn with(&self, dataset: Arc<dyn Dataset<I>>, device: Device) -> Self {
        let (strategy, batcher) = (self.strategy.clone_dyn(), self.batcher.clone());
        let rng = self.order.next_rng();
        Self::new(strategy, dataset, batcher, self.num_threads, device, rng)
    }
}

impl<I, O> DataLoader<O> for MultiThreadDataLoader<I, O>
where
    I: Send + Sync + Clone + 'static,
    O: Send + 'static + Debug,
{
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<O> + 'a> {
        let dataset = self.order.draw(&self.dataset);
        let batch_size = self.strategy.batch_size().unwrap_or(1);
        let total = dataset.len();
        let parts = PartialDataset::split_chunks(dataset, self.num_threads, batch_size);
        let workers = parts.into_iter().enumerate().map(|(number, part)| {
            let strategy = self.strategy.clone_dyn();
            let (batcher, device) = (self.batcher.clone(), self.device.clone());
            let batches = BatchIterator::new(strategy, Arc::new(part), batcher, device);
            Worker::start(number, batches, &self.threads)
        });
        Box::new(Epoch::new(workers.collect(), Some(total)))
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

/// A thread, as long as it has batches to give.
pub(super) struct Worker<O> {
    /// `None` tells the thread to stop.
    batches: Option<Receiver<Message<O>>>,
    thread: Option<Thread>,
    threads: Arc<Threads>,
}

impl<O: Send + 'static> Worker<O> {
    /// Lets a thread make the batches of `iterator`.
    pub fn start<T>(number: usize, iterator: T, threads: &Arc<Threads>) -> Self
    where
        T: DataLoaderIterator<O> + Send + 'static,
    {
        let (sender, batches) = sync_channel(AHEAD);
        let thread = threads.run(Box::new(move || work(number, iterator, &sender)));
        Self {
            batches: Some(batches),
            thread: Some(thread),
            threads: threads.clone(),
        }
    }
}

impl<O> Drop for Worker<O> {
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            self.threads.give_back(thread);
        }
    }
}

fn work<O>(
    number: usize,
    mut iterator: impl DataLoaderIterator<O>,
    sender: &SyncSender<Message<O>>,
) {
    let mut processed = 0;
    loop {
        let next = panic::catch_unwind(AssertUnwindSafe(|| iterator.next()));
        let progress = panic::catch_unwind(AssertUnwindSafe(|| iterator.progress()));
        let (message, last) = match (next, progress) {
            (Ok(Some(Ok(batch))), Ok(progress)) => {
                processed = progress.items_processed;
                (Message::Batch(number, batch, progress), false)
            }
            (Ok(Some(Err(error))), _) => (Message::Error(number, error.to_string()), false),
            (Ok(None), _) => (Message::Done, true),
            (Err(payload), Ok(progress)) => {
                // What panics before it comes to an item would do so for ever.
                let stuck = progress.items_processed == processed;
                processed = progress.items_processed;
                (Message::Error(number, describe(&*payload)), stuck)
            }
            (_, Err(payload)) => (Message::Error(number, describe(&*payload)), true),
        };
        // Nobody listens any more: the epoch was left early.
        if sender.send(message).is_err() || last {
            return;
        }
    }
}

fn describe(payload: &(dyn core::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    format!(
        "it panicked: {}",
        text.unwrap_or_else(|| "without a message".to_string())
    )
}

/// One epoch: the threads take turns, so that their speed does not decide the order.
pub(super) struct Epoch<O> {
    workers: Vec<Worker<O>>,
    /// Items read, by thread.
    processed: Vec<usize>,
    turn: usize,
    /// `None` as long as nobody knows.
    total: Option<usize>,
}

impl<O> Epoch<O> {
    /// The epoch of threads that read `total` items together, if that is known.
    pub fn new(workers: Vec<Worker<O>>, total: Option<usize>) -> Self {
        Self {
            processed: vec![0; workers.len()],
            workers,
            turn: 0,
            total,
        }
    }

    /// The next message of the thread whose turn it is; `None` if that thread is done.
    fn receive(&mut self) -> Option<Message<O>> {
        let worker = &mut self.workers[self.turn];
        let message = worker.batches.as_ref()?.recv();
        match message {
            Ok(Message::Done) | Err(_) => {
                worker.batches = None;
                None
            }
            Ok(message) => Some(message),
        }
    }
}

impl<O> Iterator for Epoch<O> {
    type Item = Result<O, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        for _ in 0..self.workers.len() {
            let message = self.receive();
            self.turn = (self.turn + 1) % self.workers.len();
            match message {
                Some(Message::Batch(number, batch, progress)) => {
                    self.processed[number] = progress.items_processed;
                    return Some(Ok(batch));
                }
                Some(Message::Error(number, problem)) => {
                    return Some(Err(DatasetError::new(WorkerError { number, problem })));
                }
                Some(Message::Done) | None => {}
            }
        }
        None
    }
}

impl<O> DataLoaderIterator<O> for Epoch<O> {
    fn progress(&self) -> Progress {
        let processed = self.processed.iter().sum();
        let done = self.workers.iter().all(|worker| worker.batches.is_none());
        let total = self.total.unwrap_or(processed + usize::from(!done));
        Progress::new(processed, total, Some("items".into()))
    }
}

/// A batch that a thread could not make.
#[derive(Debug)]
struct WorkerError {
    number: usize,
    problem: String,
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "data loader thread {}: {}", self.number, self.problem)
    }
}

impl core::error::Error for WorkerError {}
