//! A dataset of items that are all in memory, and how to fill it.

use core::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::Dataset;
use crate::dataset::check_index;

/// Items in memory; reading one clones it.
#[derive(Clone, Debug)]
pub struct InMemDataset<I> {
    items: Vec<I>,
}

impl<I> InMemDataset<I> {
    /// Holds `items` in their order.
    pub fn new(items: Vec<I>) -> Self {
        Self { items }
    }

    /// Reads every item of `dataset` into memory.
    ///
    /// # Panics
    /// If `dataset` cannot be read.
    pub fn from_dataset<E>(dataset: &impl Dataset<I, E>) -> Self
    where
        E: Error + Send + Sync + 'static,
    {
        let read = |index| {
            dataset.get(index).unwrap_or_else(|error| {
                panic!("InMemDataset: item {index} cannot be read: {error}")
            })
        };
        Self::new((0..dataset.len()).map(read).collect())
    }

    /// Reads a file with one JSON value a line. Empty lines are skipped.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is not an item; names the file and the line.
    pub fn from_json_rows<P: AsRef<Path>>(path: P) -> Result<Self, io::Error>
    where
        I: DeserializeOwned,
    {
        let path = path.as_ref();
        let at = |place: String, error: io::Error| {
            io::Error::new(error.kind(), format!("{}{place}: {error}", path.display()))
        };
        let file = File::open(path).map_err(|error| at(String::new(), error))?;
        let mut items = Vec::new();
        for (row, line) in BufReader::new(file).lines().enumerate() {
            let place = || format!(", line {}", row + 1);
            let line = line.map_err(|error| at(place(), error))?;
            if line.trim().is_empty() {
                continue;
            }
            items.push(serde_json::from_str(&line).map_err(|error| at(place(), error.into()))?);
        }
        Ok(Self::new(items))
    }
}

impl<I> Dataset<I> for InMemDataset<I>
where
    I: Clone + Send + Sync,
{
    fn get(&self, index: usize) -> Result<I, crate::DatasetError> {
        check_index("InMemDataset", index, self.items.len());
        Ok(self.items[index].clone())
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}
