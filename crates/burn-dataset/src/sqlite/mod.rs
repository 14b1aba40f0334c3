//! Datasets in SQLite databases, read and written by Turso's engine: a table for each split.
//!
//! A table has the column `row_id`, which counts items from 1, and either the item as MessagePack in the column `item`,
//! as the writer here does, or a column for each field, as the importer of the Hugging Face hub does.

mod database;
mod error;
mod row;
mod storage;
mod writer;

use core::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::{DeserializeOwned, Error as _};
use turso_core::Value;

use crate::Dataset;
use crate::dataset::check_index;
use database::{Database, quoted};
pub use error::{RowError, SqliteDatasetError};
pub use storage::SqliteDatasetStorage;
pub use writer::SqliteDatasetWriter;

/// What reading and writing gives.
pub type Result<T> = core::result::Result<T, SqliteDatasetError>;

/// The items of one split, read from the database when they are asked for.
#[derive(Debug)]
pub struct SqliteDataset<I> {
    path: PathBuf,
    split: String,
    database: Database,
    /// The names of the columns.
    columns: Vec<String>,
    /// Whether an item is in the column `item`.
    serialized: bool,
    len: usize,
    item: PhantomData<fn() -> I>,
}

impl<I> SqliteDataset<I> {
    /// Opens the split of the database in `db_file`. Several datasets and threads may read one database at once.
    ///
    /// # Errors
    /// If there is no such file, no such split in it, or none that a dataset can be read from.
    pub fn from_db_file<P: AsRef<Path>>(db_file: P, split: &str) -> Result<Self> {
        let path = db_file.as_ref().to_owned();
        let file = std::fs::metadata(&path).map_err(|error| error::named(&path, error))?;
        if !file.is_file() {
            let error = std::io::Error::other("it is not a file");
            return Err(error::named(&path, error));
        }
        let database = Database::read(&path)?;
        let table = quoted(split);
        let columns = database.columns(&format!("SELECT * FROM {table} LIMIT 0"))?;
        if !columns.iter().any(|column| column == "row_id") {
            return Err(SqliteDatasetError::Row(RowError::Message(format!(
                "{}: the table {table} has no column `row_id`",
                path.display()
            ))));
        }
        let last = database.rows(&format!("SELECT max(row_id) FROM {table}"), [None])?;
        let len = match last.first().and_then(|row| row.first()) {
            Some(Value::Null) | None => 0,
            Some(value) => value
                .as_int()
                .and_then(|last| usize::try_from(last).ok())
                .ok_or_else(|| {
                    SqliteDatasetError::Row(RowError::Message(format!(
                        "{}: the column `row_id` of the table {table} does not count rows",
                        path.display()
                    )))
                })?,
        };
        Ok(Self {
            serialized: columns.len() == 2 && columns.iter().any(|column| column == "item"),
            split: split.to_owned(),
            path,
            database,
            columns,
            len,
            item: PhantomData,
        })
    }

    /// The name of the split.
    pub fn split(&self) -> &str {
        &self.split
    }

    /// The path of the database.
    pub fn db_file(&self) -> PathBuf {
        self.path.clone()
    }
}

impl<I: DeserializeOwned> SqliteDataset<I> {
    fn read(&self, indices: &[usize]) -> Result<Vec<I>> {
        for &index in indices {
            check_index("SqliteDataset", index, self.len);
        }
        let query = format!("SELECT * FROM {} WHERE row_id = ?1", quoted(&self.split));
        // An index is below the number of rows, which is an `i64`.
        let ids = indices.iter().map(|&index| Some(index as i64 + 1));
        let rows = self.database.rows(&query, ids)?;
        if rows.len() != indices.len() {
            return Err(self.message("a row is missing, or is there twice"));
        }
        let items = indices
            .iter()
            .zip(rows)
            .map(|(&index, row)| self.item(index, row));
        items.collect()
    }

    fn item(&self, index: usize, row: Vec<Value>) -> Result<I> {
        let place = || {
            format!(
                "row {} of {} in {}",
                index + 1,
                quoted(&self.split),
                self.path.display()
            )
        };
        if self.serialized {
            let item = self.columns.iter().position(|column| column == "item");
            if let Some(Value::Blob(bytes)) = item.and_then(|item| row.get(item)) {
                return rmp_serde::from_slice(bytes).map_err(|error| {
                    let text = format!("{}: {error}", place());
                    SqliteDatasetError::Deserialize(rmp_serde::decode::Error::custom(text))
                });
            }
        }
        row::read(&self.columns, row, &place).map_err(SqliteDatasetError::Row)
    }

    fn message(&self, problem: &str) -> SqliteDatasetError {
        let (table, path) = (quoted(&self.split), self.path.display());
        SqliteDatasetError::Row(RowError::Message(format!(
            "{path}: the table {table}: {problem}"
        )))
    }
}

impl<I> Dataset<I, SqliteDatasetError> for SqliteDataset<I>
where
    I: Clone + Send + Sync + DeserializeOwned,
{
    fn get(&self, index: usize) -> Result<I> {
        let item = self.read(&[index])?.pop();
        item.ok_or_else(|| self.message("a row is missing"))
    }

    fn len(&self) -> usize {
        self.len
    }

    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<I>> {
        self.read(&indices)
    }
}
