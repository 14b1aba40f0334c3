//! What can go wrong with a database.

use core::error::Error;
use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use turso_core::LimboError;

/// A row that is not an item.
#[derive(Debug)]
pub enum RowError {
    /// One of its columns is not what the item's field needs.
    Column {
        /// The name of the column.
        column: String,
        /// What is wrong with it, and where.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The whole of it is not.
    Message(String),
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { column, source } => write!(f, "column `{column}`: {source}"),
            Self::Message(message) => f.write_str(message),
        }
    }
}

impl Error for RowError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Column { source, .. } => Some(&**source),
            Self::Message(_) => None,
        }
    }
}

/// What can go wrong with a dataset in a database.
#[derive(Debug)]
pub enum SqliteDatasetError {
    /// A file cannot be read or written.
    Io(io::Error),
    /// The database does not do what it is asked to.
    Sql(LimboError),
    /// An item cannot be written as MessagePack.
    Serde(rmp_serde::encode::Error),
    /// What is stored is not the MessagePack of an item.
    Deserialize(rmp_serde::decode::Error),
    /// The columns of a row are not those of an item.
    Row(RowError),
    /// There is a database already, which is not to be replaced.
    FileExists(PathBuf),
    /// The database cannot be opened once more, for another thread.
    ConnectionPool(LimboError),
    /// A complete database cannot take its place.
    PersistDbFile(io::Error),
    /// Anything else.
    Other(&'static str),
}

impl fmt::Display for SqliteDatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Sql(error) => write!(f, "SQL: {error}"),
            Self::Serde(error) => write!(f, "the item cannot be written: {error}"),
            Self::Deserialize(error) => error.fmt(f),
            Self::Row(error) => error.fmt(f),
            Self::FileExists(path) => write!(
                f,
                "{} is there already; remove it, or ask for it to be replaced",
                path.display()
            ),
            Self::ConnectionPool(error) => write!(f, "no further connection: {error}"),
            Self::PersistDbFile(error) => {
                write!(f, "the complete database cannot be kept: {error}")
            }
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl Error for SqliteDatasetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) | Self::PersistDbFile(error) => Some(error),
            Self::Sql(error) | Self::ConnectionPool(error) => Some(error),
            Self::Serde(error) => Some(error),
            Self::Deserialize(error) => Some(error),
            Self::Row(error) => Some(error),
            Self::FileExists(_) | Self::Other(_) => None,
        }
    }
}

/// Wraps each error in its variant.
macro_rules! wrap {
    ($($variant:ident($error:ty)),* $(,)?) => {$(
        impl From<$error> for SqliteDatasetError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        }
    )*};
}

wrap! {
    Io(io::Error),
    Sql(LimboError),
    Serde(rmp_serde::encode::Error),
    Deserialize(rmp_serde::decode::Error),
    Row(RowError),
    Other(&'static str),
}

/// The error of a file, with its name.
pub(super) fn named(path: &Path, error: io::Error) -> SqliteDatasetError {
    let text = format!("{}: {error}", path.display());
    SqliteDatasetError::Io(io::Error::new(error.kind(), text))
}
