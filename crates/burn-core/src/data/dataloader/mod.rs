//! Loaders: items of a dataset, in batches, on a device.
//!
//! A loader is made by [`DataLoaderBuilder`]. How items become a tensor is said by a
//! [`Batcher`](batcher::Batcher), when there are enough of them by a [`BatchStrategy`].

mod base;
mod batch;
pub mod batcher;
mod builder;
mod multithread;
pub mod split;
mod strategy;
mod stream;
mod threads;

pub use base::{DataLoader, DataLoaderIterator, Progress};
pub use batch::BatchDataLoader;
pub use builder::DataLoaderBuilder;
pub use burn_dataset::{Dataset, DatasetIterator};
pub use multithread::{Message, MultiThreadDataLoader};
pub use strategy::{BatchStrategy, FixBatchStrategy};
pub use stream::StreamDataLoader;
