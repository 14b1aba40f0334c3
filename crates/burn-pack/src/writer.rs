//! Writes tensors and what belongs to them to memory or a file.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::metadata::{Descriptor, Metadata, check_count, check_file_size, check_size};
use crate::tensor::Tensor;
use crate::{
    Bytes, Error, HEADER_SIZE, Header, Scalar, TENSOR_ALIGNMENT, aligned_data_section_start,
};

/// Writes tensors, text metadata and scalars.
#[derive(Debug)]
pub struct Writer {
    tensors: Vec<Tensor>,
    metadata: BTreeMap<String, String>,
    scalars: BTreeMap<String, Scalar>,
    overwrite: bool,
    auto_extension: bool,
}

/// Where everything goes.
struct Layout {
    metadata: Vec<u8>,
    /// Where each tensor starts, in bytes from the start of the file.
    starts: Vec<u64>,
    size: u64,
}

impl Writer {
    /// Writes `tensors`, in this order.
    pub fn new(tensors: Vec<Tensor>) -> Self {
        Self {
            tensors,
            metadata: BTreeMap::new(),
            scalars: BTreeMap::new(),
            overwrite: true,
            auto_extension: true,
        }
    }

    /// Adds text under a name.
    pub fn with_metadata(mut self, key: &str, value: &str) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Adds a single value under a name.
    pub fn with_scalar(mut self, key: &str, value: Scalar) -> Self {
        self.scalars.insert(key.into(), value);
        self
    }

    /// Whether a file of the same path is replaced, which is the default, or an error.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Whether a path without extension gets the one of the format, which is the default.
    pub fn auto_extension(mut self, auto_extension: bool) -> Self {
        self.auto_extension = auto_extension;
        self
    }

    /// The number of bytes that will be written.
    ///
    /// # Errors
    /// [`Error::ValidationError`] if a name repeats, a tensor's size is not that of its shape and dtype, or a limit of
    /// the format is exceeded.
    pub fn size(&self) -> Result<usize, Error> {
        let size = self.layout()?.size;
        usize::try_from(size)
            .map_err(|_| Error::ValidationError(format!("{size} bytes do not fit into memory")))
    }

    /// Writes to memory.
    ///
    /// # Errors
    /// As [`size`](Self::size), and what reading a deferred tensor gives.
    pub fn into_bytes(self) -> Result<Bytes, Error> {
        let mut bytes = Bytes::zeroed(self.size()?);
        self.write_into(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes to the start of `buffer` and leaves the rest of it.
    ///
    /// # Errors
    /// As [`into_bytes`](Self::into_bytes), and [`Error::IoError`] if the buffer is too small.
    pub fn write_into(self, buffer: &mut [u8]) -> Result<(), Error> {
        let (size, len) = (self.size()?, buffer.len());
        let Some(mut rest) = buffer.get_mut(..size) else {
            return Err(Error::IoError(format!(
                "the buffer has {len} bytes but {size} are needed"
            )));
        };
        self.emit(&mut |bytes| {
            let (head, tail) = core::mem::take(&mut rest).split_at_mut(bytes.len());
            head.copy_from_slice(bytes);
            rest = tail;
            Ok(())
        })
    }

    /// Checks everything and decides where it goes.
    fn layout(&self) -> Result<Layout, Error> {
        check_count(self.tensors.len())?;
        let (mut tensors, mut offsets) = (BTreeMap::new(), Vec::with_capacity(self.tensors.len()));
        let mut end = 0u64;
        for tensor in &self.tensors {
            let len = tensor.byte_len() as u64;
            check_size(&tensor.name, tensor.dtype, &tensor.shape, len)?;
            // At most MAX_TENSOR_COUNT times MAX_TENSOR_SIZE, which is far below u64::MAX.
            let start = end.next_multiple_of(TENSOR_ALIGNMENT);
            end = start + len;
            offsets.push(start);
            let descriptor = Descriptor {
                dtype: tensor.dtype,
                shape: tensor.shape.to_vec(),
                data_offsets: (start, end),
                param_id: tensor.param_id,
            };
            if tensors.insert(tensor.name.clone(), descriptor).is_some() {
                return Err(Error::ValidationError(format!(
                    "the name '{}' comes twice",
                    tensor.name
                )));
            }
        }
        let metadata = Metadata {
            tensors,
            metadata: self.metadata.clone(),
            scalars: self.scalars.clone(),
        }
        .encode()?;
        let data = aligned_data_section_start(metadata.len()) as u64;
        check_file_size(data + end)?;
        let starts = offsets.iter().map(|start| data + start).collect();
        Ok(Layout {
            metadata,
            starts,
            size: data + end,
        })
    }

    /// Gives the file to `put`, piece by piece; at most one deferred tensor is in memory.
    fn emit(self, put: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let Layout {
            metadata,
            starts,
            size,
        } = self.layout()?;
        // `layout` limits the metadata to what the header can say.
        put(&Header::new(metadata.len() as u32).into_bytes())?;
        put(&metadata)?;
        let mut at = (HEADER_SIZE + metadata.len()) as u64;
        for (tensor, start) in self.tensors.into_iter().zip(starts) {
            pad(put, start - at)?;
            let bytes = tensor.into_bytes()?;
            put(&bytes)?;
            at = start + bytes.len() as u64;
        }
        pad(put, size - at)
    }
}

/// Writes zeros up to the next tensor.
fn pad(put: &mut dyn FnMut(&[u8]) -> Result<(), Error>, len: u64) -> Result<(), Error> {
    put(&[0; TENSOR_ALIGNMENT as usize][..len as usize])
}

#[cfg(feature = "std")]
mod file {
    //! Writing to files.

    use std::fs::{File, OpenOptions};
    use std::io::{BufWriter, ErrorKind, Write};
    use std::path::{Path, PathBuf};

    use super::Writer;
    use crate::error::io;
    use crate::{AtomicFile, Error, with_default_extension};

    impl Writer {
        /// Writes to a file, which appears complete or not at all.
        ///
        /// # Errors
        /// As [`into_bytes`](Self::into_bytes), [`Error::AlreadyExists`] if the file must not be overwritten, and
        /// [`Error::IoError`]. What had the path is then untouched.
        pub fn write_to_file<P: AsRef<Path>>(self, path: P) -> Result<(), Error> {
            let (path, overwrite) = (self.path(path.as_ref()), self.overwrite);
            if !overwrite && path.exists() {
                return Err(Error::AlreadyExists(path.display().to_string()));
            }
            let (target, file) = AtomicFile::create(&path)?;
            self.write_all(file, target.path())?;
            if overwrite {
                target.commit()
            } else {
                target.commit_new()
            }
        }

        /// Writes to a file directly, for places where a file cannot be renamed. A failure leaves it incomplete;
        /// prefer [`write_to_file`](Self::write_to_file).
        ///
        /// # Errors
        /// As [`write_to_file`](Self::write_to_file).
        pub fn write_to_file_in_place<P: AsRef<Path>>(mut self, path: P) -> Result<(), Error> {
            let path = self.path(path.as_ref());
            self.size()?;
            if self.overwrite && path.exists() {
                // Deferred tensors may come from the very file that is about to be cut.
                self.tensors
                    .iter_mut()
                    .try_for_each(|tensor| tensor.load())?;
            }
            let mut options = OpenOptions::new();
            match self.overwrite {
                true => options.create(true).truncate(true),
                false => options.create_new(true),
            };
            let file = options
                .write(true)
                .open(&path)
                .map_err(|error| match error.kind() {
                    ErrorKind::AlreadyExists => Error::AlreadyExists(path.display().to_string()),
                    _ => io("create", &path, error),
                })?;
            self.write_all(file, &path)
        }

        fn path(&self, path: &Path) -> PathBuf {
            if self.auto_extension {
                with_default_extension(path)
            } else {
                path.into()
            }
        }

        fn write_all(self, file: File, path: &Path) -> Result<(), Error> {
            let mut file = BufWriter::new(file);
            self.emit(&mut |bytes| {
                file.write_all(bytes)
                    .map_err(|error| io("write", path, error))
            })?;
            file.flush().map_err(|error| io("write", path, error))
        }
    }
}
