//! Why a file cannot be read or written.

use alloc::string::String;
use core::fmt;

/// Why a file cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Fewer bytes than a header has.
    InvalidHeader,
    /// The first bytes are not those of a burnpack file.
    InvalidMagicNumber,
    /// The file was written by a version of the format that this one does not read.
    InvalidVersion,
    /// The metadata cannot be decoded.
    MetadataDeserializationError(String),
    /// The metadata cannot be encoded.
    MetadataSerializationError(String),
    /// The operating system failed to read or write.
    IoError(String),
    /// There is no tensor of this name.
    TensorNotFound(String),
    /// A deferred tensor gave another number of bytes than it declared.
    TensorBytesSizeMismatch(String),
    /// The content contradicts itself or exceeds a limit.
    ValidationError(String),
    /// There is a file of this path and it must not be overwritten.
    AlreadyExists(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidHeader => f.write_str("invalid header: fewer bytes than a header has"),
            Self::InvalidMagicNumber => f.write_str("invalid magic number: not a burnpack file"),
            Self::InvalidVersion => write!(
                f,
                "unsupported version of the format; this one reads version {}",
                crate::FORMAT_VERSION
            ),
            Self::MetadataDeserializationError(why) => {
                write!(f, "metadata cannot be decoded: {why}")
            }
            Self::MetadataSerializationError(why) => write!(f, "metadata cannot be encoded: {why}"),
            Self::IoError(why) => write!(f, "I/O error: {why}"),
            Self::TensorNotFound(name) => write!(f, "there is no tensor '{name}'"),
            Self::TensorBytesSizeMismatch(why) => write!(f, "tensor size mismatch: {why}"),
            Self::ValidationError(why) => write!(f, "invalid content: {why}"),
            Self::AlreadyExists(path) => write!(
                f,
                "file '{path}' already exists; `overwrite(true)` of a writer, or `commit` of an atomic file, replaces it"
            ),
        }
    }
}

impl core::error::Error for Error {}

/// A failure of the operating system while doing something to `path`.
#[cfg(feature = "std")]
pub(crate) fn io(what: &str, path: &std::path::Path, error: std::io::Error) -> Error {
    Error::IoError(std::format!("cannot {what} '{}': {error}", path.display()))
}
