//! Texts in folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dataset::check_index;
use crate::{Dataset, DatasetError};

/// Bytes of a text beyond which it is taken for something else.
const LONGEST: u64 = 1 << 28;

/// A text with its class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextDatasetItem {
    /// The text.
    pub text: String,
    /// The number of its class.
    pub label: usize,
}

/// Texts in files, which are in folders by class. A text is read when it is asked for.
#[derive(Clone, Debug)]
pub struct TextFolderDataset {
    classes: Vec<String>,
    items: Vec<(PathBuf, usize)>,
}

impl TextFolderDataset {
    /// The `txt` files in the folders of `root`, which are their classes, numbered in the order of their names.
    ///
    /// # Errors
    /// If a folder cannot be read or `root` has none; names it.
    pub fn new_classification<P: AsRef<Path>>(root: P) -> io::Result<Self> {
        let root = root.as_ref();
        let (mut classes, mut items) = (Vec::new(), Vec::new());
        for folder in entries(root)?.into_iter().filter(|path| path.is_dir()) {
            let texts = entries(&folder)?.into_iter().filter(|path| path.is_file());
            let texts =
                texts.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
            items.extend(texts.map(|path| (path, classes.len())));
            let name = folder.file_name().unwrap_or_default();
            classes.push(name.to_string_lossy().into_owned());
        }
        if classes.is_empty() {
            let error = io::Error::new(
                io::ErrorKind::NotFound,
                "it has no folders, which would be the classes",
            );
            return Err(named(root, &error));
        }
        Ok(Self { classes, items })
    }

    /// The names of the classes by their numbers.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }
}

impl Dataset<TextDatasetItem> for TextFolderDataset {
    fn get(&self, index: usize) -> Result<TextDatasetItem, DatasetError> {
        check_index("TextFolderDataset", index, self.items.len());
        let (path, label) = &self.items[index];
        let read = || {
            let size = fs::metadata(path)?.len();
            if size > LONGEST {
                let text = format!("{size} bytes are more than a text has");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            fs::read_to_string(path)
        };
        let text = read().map_err(|error| DatasetError::new(named(path, &error)))?;
        Ok(TextDatasetItem {
            text,
            label: *label,
        })
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}

/// What is in a folder, in the order of the names.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
        paths.collect()
    };
    let mut paths = read().map_err(|error| named(folder, &error))?;
    paths.sort();
    Ok(paths)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
