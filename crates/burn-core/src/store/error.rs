//! Why a record could not be read, written or loaded.

use alloc::string::{String, ToString};
use core::fmt;

/// Why a record could not be read, written or loaded into a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The file system refused; the text names the file.
    Io(String),
    /// The data is corrupt or does not fit the module; the text names the parameters.
    Validation(String),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(problem) => write!(f, "cannot access the record: {problem}"),
            Self::Validation(problem) => write!(f, "invalid record: {problem}"),
        }
    }
}

impl core::error::Error for RecordError {}

impl From<burn_pack::Error> for RecordError {
    fn from(error: burn_pack::Error) -> Self {
        match &error {
            burn_pack::Error::IoError(_) | burn_pack::Error::AlreadyExists(_) => {
                Self::Io(error.to_string())
            }
            _ => Self::Validation(error.to_string()),
        }
    }
}
