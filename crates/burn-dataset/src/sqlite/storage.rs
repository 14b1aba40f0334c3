//! Where a database is.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Result, SqliteDataset, SqliteDatasetWriter};
use crate::cache;

/// A place for a database, whether there is one or not.
#[derive(Clone, Debug)]
pub struct SqliteDatasetStorage {
    name: Option<String>,
    file: Option<PathBuf>,
    base_dir: Option<PathBuf>,
}

impl SqliteDatasetStorage {
    /// The database `NAME.db` in the base folder.
    pub fn from_name(name: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            file: None,
            base_dir: None,
        }
    }

    /// The database in this file.
    pub fn from_file<P: AsRef<Path>>(db_file: P) -> Self {
        Self {
            name: None,
            file: Some(db_file.as_ref().to_owned()),
            base_dir: None,
        }
    }

    /// Sets the base folder.
    pub fn with_base_dir<P: AsRef<Path>>(mut self, base_dir: P) -> Self {
        self.base_dir = Some(base_dir.as_ref().to_owned());
        self
    }

    /// The base folder: the one given, or that for datasets among the user's caches.
    pub fn base_dir(base_dir: Option<PathBuf>) -> PathBuf {
        base_dir.unwrap_or_else(cache::dir)
    }

    /// Whether there is a database.
    pub fn exists(&self) -> bool {
        self.db_file().is_file()
    }

    /// The path of the database. Of a name, only letters, digits, `-`, `_` and `.` are kept; others become `_`.
    pub fn db_file(&self) -> PathBuf {
        if let Some(file) = &self.file {
            return file.clone();
        }
        let name = self.name.as_deref().unwrap_or_default();
        let plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        let name: String = name
            .chars()
            .map(|letter| if plain(letter) { letter } else { '_' })
            .collect();
        Self::base_dir(self.base_dir.clone()).join(format!("{name}.db"))
    }

    /// Opens a split.
    ///
    /// # Errors
    /// If there is no such database or no such split.
    pub fn reader<I>(&self, split: &str) -> Result<SqliteDataset<I>>
    where
        I: Clone + Send + Sync + Serialize + DeserializeOwned,
    {
        SqliteDataset::from_db_file(self.db_file(), split)
    }

    /// Starts a database.
    ///
    /// # Errors
    /// If there is one that is not to be replaced, or none can be made.
    pub fn writer<I>(&self, overwrite: bool) -> Result<SqliteDatasetWriter<I>>
    where
        I: Clone + Send + Sync + Serialize + DeserializeOwned,
    {
        SqliteDatasetWriter::new(self.db_file(), overwrite)
    }
}
