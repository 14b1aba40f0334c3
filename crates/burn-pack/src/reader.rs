//! Reads tensors and what belongs to them from memory or a file. Elements are read when they are asked for.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::metadata::{Metadata, check_file_size};
use crate::tensor::Tensor;
use crate::{
    Bytes, Error, FORMAT_VERSION, HEADER_SIZE, Header, MAX_METADATA_SIZE, Scalar,
    aligned_data_section_start,
};

/// Reads tensors, text metadata and scalars.
#[derive(Debug)]
pub struct Reader {
    metadata: Metadata,
    data: Data,
}

/// The bytes of the file, and where the elements of tensors start in them.
#[derive(Clone, Debug)]
struct Data {
    storage: Arc<Storage>,
    start: u64,
}

#[derive(Debug)]
enum Storage {
    Memory(Bytes),
    #[cfg(feature = "std")]
    File(file::Shared),
}

impl Reader {
    /// Reads a file that is in memory.
    ///
    /// # Errors
    /// If the bytes are not a valid file.
    pub fn from_bytes(bytes: Bytes) -> Result<Self, Error> {
        let len = bytes.len() as u64;
        Self::open(Storage::Memory(bytes), len)
    }

    /// Checks everything but the values of elements. `len` is what the storage holds, in bytes.
    fn open(storage: Storage, len: u64) -> Result<Self, Error> {
        check_file_size(len)?;
        let mut header = [0; HEADER_SIZE];
        if len < HEADER_SIZE as u64 {
            return Err(Error::InvalidHeader);
        }
        storage.read(0, &mut header)?;
        let header = Header::from_bytes(&header)?;
        if header.version != FORMAT_VERSION {
            return Err(Error::InvalidVersion);
        }
        let size = header.metadata_size;
        if size > MAX_METADATA_SIZE || HEADER_SIZE as u64 + u64::from(size) > len {
            return Err(Error::ValidationError(format!(
                "the header announces {size} bytes of metadata, the file has {len} in all and the limit is \
                 {MAX_METADATA_SIZE}"
            )));
        }
        let mut metadata = vec![0; size as usize];
        storage.read(HEADER_SIZE as u64, &mut metadata)?;
        let start = aligned_data_section_start(metadata.len()) as u64;
        // A file without elements may end before the data would start.
        let metadata = Metadata::decode(&metadata, len.saturating_sub(start))?;
        Ok(Self {
            metadata,
            data: Data {
                storage: Arc::new(storage),
                start,
            },
        })
    }

    /// The text metadata by name.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata.metadata
    }

    /// The single values by name.
    pub fn scalars(&self) -> &BTreeMap<String, Scalar> {
        &self.metadata.scalars
    }

    /// The names of the tensors, sorted.
    pub fn tensor_names(&self) -> Vec<&str> {
        self.metadata.tensors.keys().map(String::as_str).collect()
    }

    /// Reads the elements of a tensor.
    ///
    /// # Errors
    /// [`Error::TensorNotFound`], or [`Error::IoError`] if the file cannot be read.
    pub fn tensor_data(&self, name: &str) -> Result<Vec<u8>, Error> {
        let tensor = self.metadata.tensors.get(name);
        let range = tensor
            .ok_or_else(|| Error::TensorNotFound(name.into()))?
            .range();
        let mut bytes = vec![0; byte_len(&range)];
        self.data.read(&range, &mut bytes)?;
        Ok(bytes)
    }

    /// All tensors, sorted by name. Their elements are read when they are asked for.
    ///
    /// # Errors
    /// None today: a reader exists only for a valid file.
    pub fn into_tensors(self) -> Result<Vec<Tensor>, Error> {
        let tensor = |(name, tensor): (String, crate::metadata::Descriptor)| {
            let (data, range) = (self.data.clone(), tensor.range());
            let len = byte_len(&range);
            let read = move || {
                let mut bytes = Bytes::zeroed(len);
                data.read(&range, &mut bytes)?;
                Ok(bytes)
            };
            Tensor::deferred(name, tensor.dtype, tensor.shape, tensor.param_id, len, read)
        };
        Ok(self.metadata.tensors.into_iter().map(tensor).collect())
    }
}

/// The length of the elements of a checked tensor: it is at most `MAX_TENSOR_SIZE`, a `usize`.
fn byte_len(range: &Range<u64>) -> usize {
    (range.end - range.start) as usize
}

impl Data {
    fn read(&self, range: &Range<u64>, buffer: &mut [u8]) -> Result<(), Error> {
        if buffer.is_empty() {
            return Ok(());
        }
        self.storage.read(self.start + range.start, buffer)
    }
}

impl Storage {
    /// Fills `buffer` with the bytes at `start`, which are in the file as it was opened.
    fn read(&self, start: u64, buffer: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Memory(bytes) => {
                let start = start as usize;
                buffer.copy_from_slice(&bytes[start..start + buffer.len()]);
                Ok(())
            }
            #[cfg(feature = "std")]
            Self::File(file) => file.read(start, buffer),
        }
    }
}

#[cfg(feature = "std")]
mod file {
    //! Reading from files.

    use std::fs::File;
    use std::io::{Read, Seek, SeekFrom};
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, PoisonError};

    use super::{Reader, Storage};
    use crate::error::io;
    use crate::{Error, with_default_extension};

    /// An open file that tensors share; it stays readable when its path is given to another one.
    #[derive(Debug)]
    pub(super) struct Shared {
        path: PathBuf,
        file: Mutex<File>,
    }

    impl Shared {
        pub fn read(&self, start: u64, buffer: &mut [u8]) -> Result<(), Error> {
            // Each read seeks first, so one that panicked leaves nothing behind.
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(start))
                .and_then(|_| file.read_exact(buffer))
                .map_err(|error| io("read", &self.path, error))
        }
    }

    impl Reader {
        /// Reads the file of this path or, where there is none and the path has no extension, with the extension of
        /// the format.
        ///
        /// # Errors
        /// [`Error::IoError`], or what says that it is not a valid file.
        pub fn from_file<P: AsRef<Path>>(path: P) -> Result<Self, Error> {
            let path = path.as_ref();
            if path.is_file() {
                Self::from_file_exact(path)
            } else {
                Self::from_file_exact(with_default_extension(path))
            }
        }

        /// Reads the file of exactly this path.
        ///
        /// # Errors
        /// [`Error::IoError`], or what says that it is not a valid file.
        pub fn from_file_exact<P: AsRef<Path>>(path: P) -> Result<Self, Error> {
            let path = path.as_ref();
            let file = File::open(path).map_err(|error| io("open", path, error))?;
            let len = file
                .metadata()
                .map_err(|error| io("read", path, error))?
                .len();
            Self::open(
                Storage::File(Shared {
                    path: path.into(),
                    file: Mutex::new(file),
                }),
                len,
            )
        }
    }
}
