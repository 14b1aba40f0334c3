//! Datasets: sized collections of items that can be read at any index, transforms that make new ones, and sources.
//!
//! | feature | sources |
//! |---|---|
//! | – | memory, CSV, lines of JSON; the latter two also as streams |
//! | `arrow`, `parquet` | Arrow files and streams; Parquet files |
//! | `sqlite` | SQLite databases, and datasets of the Hugging Face hub, which Python imports into one |
//! | `vision` | folders of images, COCO detection, MNIST |
//! | `audio` | Speech Commands |
//! | `nlp` | folders of texts |
//! | `builtin-sources` | CIFAR-10 and CIFAR-100, with the sources of `vision` and `nlp` |
//! | `network` | downloads |
//!
//! Not here: batching and worker threads (the data loader of `burn-core`).

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "audio")]
pub mod audio;
#[cfg(any(feature = "network", feature = "sqlite"))]
mod cache;
mod dataset;
#[cfg(feature = "network")]
mod download;
mod in_memory;
#[cfg(feature = "nlp")]
pub mod nlp;
pub mod source;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stream;
mod text_rows;
pub mod transform;
#[cfg(feature = "vision")]
pub mod vision;

pub use dataset::{Dataset, DatasetError, DatasetIterator};
pub use in_memory::InMemDataset;
#[cfg(feature = "sqlite")]
pub use source::huggingface::{HuggingfaceDatasetLoader, ImporterError};
#[cfg(feature = "sqlite")]
pub use sqlite::{
    RowError, SqliteDataset, SqliteDatasetError, SqliteDatasetStorage, SqliteDatasetWriter,
};
pub use stream::IterableDataset;
pub use text_rows::{CsvRows, JsonRows};

/// Fetching files.
#[cfg(feature = "network")]
pub mod network {
    pub use burn_std::network::*;
}
