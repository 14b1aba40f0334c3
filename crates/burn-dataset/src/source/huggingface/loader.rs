//! What to import, and whether it is there already.

use std::path::PathBuf;

use serde::de::DeserializeOwned;

use super::importer::{self, Import, ImporterError};
use crate::{SqliteDataset, SqliteDatasetStorage};

/// Loads a dataset of the hub. It is imported when it is asked for first, with all of its splits, and then stays.
#[derive(Clone, Debug)]
pub struct HuggingfaceDatasetLoader {
    import: Import,
    base_dir: Option<PathBuf>,
    use_python_venv: bool,
}

impl HuggingfaceDatasetLoader {
    /// The dataset `name` of the hub, or that in a folder.
    pub fn new(name: &str) -> Self {
        Self {
            import: Import {
                name: name.to_owned(),
                ..Import::default()
            },
            base_dir: None,
            use_python_venv: true,
        }
    }

    /// Chooses one of the dataset's configurations.
    pub fn with_subset(mut self, subset: &str) -> Self {
        self.import.subset = Some(subset.to_owned());
        self
    }

    /// Sets the folder of the databases.
    pub fn with_base_dir(mut self, base_dir: &str) -> Self {
        self.base_dir = Some(base_dir.into());
        self
    }

    /// Shows who is asking, for datasets that not everybody may read.
    pub fn with_huggingface_token(mut self, huggingface_token: &str) -> Self {
        self.import.token = Some(huggingface_token.to_owned());
        self
    }

    /// Sets where the library `datasets` keeps what it fetches.
    pub fn with_huggingface_cache_dir(mut self, huggingface_cache_dir: &str) -> Self {
        self.import.cache_dir = Some(huggingface_cache_dir.to_owned());
        self
    }

    /// Sets the folder within the dataset that its files are in, or for some the one that they were put into by hand.
    pub fn with_huggingface_data_dir(mut self, huggingface_data_dir: &str) -> Self {
        self.import.data_dir = Some(huggingface_data_dir.to_owned());
        self
    }

    /// Sets whether programs that come with the dataset may run.
    pub fn with_trust_remote_code(mut self, trust_remote_code: bool) -> Self {
        self.import.trust_remote_code = trust_remote_code;
        self
    }

    /// Sets whether the library `datasets` is installed in an environment of its own; otherwise the Python that is found
    /// has it already.
    pub fn with_use_python_venv(mut self, use_python_venv: bool) -> Self {
        self.use_python_venv = use_python_venv;
        self
    }

    /// The items of a split.
    ///
    /// # Errors
    /// If the dataset cannot be imported or has no such split.
    pub fn dataset<I: DeserializeOwned + Clone>(
        self,
        split: &str,
    ) -> Result<SqliteDataset<I>, ImporterError> {
        let file = self.db_file()?;
        Ok(SqliteDataset::from_db_file(file, split)?)
    }

    /// The path of the database, which is made if it is not there.
    ///
    /// # Errors
    /// If the dataset cannot be imported.
    pub fn db_file(self) -> Result<PathBuf, ImporterError> {
        let mut name = self.import.name.clone();
        if let Some(subset) = &self.import.subset {
            name = format!("{name}-{subset}");
        }
        let base_dir = SqliteDatasetStorage::base_dir(self.base_dir);
        let storage = SqliteDatasetStorage::from_name(&name).with_base_dir(&base_dir);
        let file = storage.db_file();
        if !storage.exists() {
            importer::run(&self.import, &file, &base_dir, self.use_python_venv)?;
        }
        Ok(file)
    }
}
