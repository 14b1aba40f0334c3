//! Datasets: sized collections of items that can be read at any index, and transforms that make new ones.
//!
//! Not here: batching and worker threads (the data loader of `burn-core`), and sources that need a database, a
//! network or an image decoder.

mod dataset;
mod in_memory;
pub mod transform;

pub use dataset::{Dataset, DatasetError, DatasetIterator};
pub use in_memory::InMemDataset;
