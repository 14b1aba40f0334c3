//! Datasets in Arrow files and streams, and, with the feature `parquet`, in Parquet files. Files may be larger than
//! memory.
//!
//! Items are read by serde: a column goes to the field of its name, a struct to a structure, a list to a sequence, a
//! dictionary to the value that it stands for, a date or time to its number of units.

mod chunks;
mod ipc;
#[cfg(feature = "parquet")]
mod parquet;
mod row;

use core::marker::PhantomData;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;

use self::chunks::Chunks;
#[cfg(feature = "parquet")]
pub use self::parquet::ParquetDataset;
use crate::{Dataset, DatasetError};

/// The rows of an Arrow file, or of a stream that was kept in a file. Record batches are read when a row of them is
/// asked for, and some are kept.
pub struct ArrowDataset<I> {
    rows: Chunks<ipc::Messages>,
    item: PhantomData<fn() -> I>,
}

impl<I> ArrowDataset<I> {
    /// Finds the record batches of the file at `path`; uncompressed, or compressed by LZ4.
    ///
    /// # Errors
    /// If the file cannot be read or is none of Arrow; names the file.
    pub fn new<P: AsRef<Path>>(path: P) -> Result<Self, io::Error> {
        let (messages, lens) = ipc::Messages::open(path.as_ref())?;
        Ok(Self {
            rows: Chunks::new(messages, lens)?,
            item: PhantomData,
        })
    }

    /// Sets how many record batches are kept in memory: 4, if nothing is said.
    pub fn with_kept_batches(mut self, batches: usize) -> Self {
        self.rows.keep(batches);
        self
    }
}

impl<I: DeserializeOwned + Send + Sync> Dataset<I> for ArrowDataset<I> {
    fn get(&self, index: usize) -> Result<I, DatasetError> {
        self.rows.get("ArrowDataset", index)
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<I>, DatasetError> {
        self.rows.get_many("ArrowDataset", &indices)
    }
}
