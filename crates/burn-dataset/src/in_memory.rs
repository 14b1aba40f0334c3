//! A dataset of items that are all in memory, and how to fill it.

use core::error::Error;
use std::io;
use std::path::Path;

use csv::ReaderBuilder;
use serde::de::DeserializeOwned;

use crate::dataset::check_index;
use crate::{Dataset, text_rows};

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
        text_rows::json_rows(path.as_ref())?
            .collect::<Result<_, _>>()
            .map(Self::new)
    }

    /// Reads a CSV file; `builder` says what separates its fields, and whether its first row names them.
    ///
    /// # Errors
    /// If the file cannot be read, or a row is not an item; names the file, the line and the field.
    pub fn from_csv<P: AsRef<Path>>(path: P, builder: &ReaderBuilder) -> Result<Self, io::Error>
    where
        I: DeserializeOwned,
    {
        text_rows::csv_rows(path.as_ref(), builder)?
            .collect::<Result<_, _>>()
            .map(Self::new)
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
