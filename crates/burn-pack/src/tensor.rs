//! A tensor on its way into or out of a file: described now, its bytes at hand or read when asked for.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::{Bytes, DType, Error, Shape};

/// A tensor on its way into or out of a file.
#[derive(Debug)]
pub struct Tensor {
    /// The name in the file, one for each tensor.
    pub name: String,
    /// How an element is stored.
    pub dtype: DType,
    /// The size of each dimension.
    pub shape: Shape,
    /// The id of the parameter that the tensor belongs to.
    pub param_id: Option<u64>,
    source: Source,
}

enum Source {
    Ready(Bytes),
    Deferred {
        len: usize,
        read: Box<dyn Fn() -> Result<Bytes, Error> + Send + Sync>,
    },
}

impl Tensor {
    /// A tensor of `bytes`, little-endian and row by row. The size is checked when it is written.
    pub fn new(
        name: String,
        dtype: DType,
        shape: impl Into<Shape>,
        param_id: Option<u64>,
        bytes: Bytes,
    ) -> Self {
        Self {
            name,
            dtype,
            shape: shape.into(),
            param_id,
            source: Source::Ready(bytes),
        }
    }

    /// A tensor whose `byte_len` bytes `read` gives whenever they are asked for.
    pub fn deferred(
        name: String,
        dtype: DType,
        shape: impl Into<Shape>,
        param_id: Option<u64>,
        byte_len: usize,
        read: impl Fn() -> Result<Bytes, Error> + Send + Sync + 'static,
    ) -> Self {
        let source = Source::Deferred {
            len: byte_len,
            read: Box::new(read),
        };
        Self {
            name,
            dtype,
            shape: shape.into(),
            param_id,
            source,
        }
    }

    /// The number of bytes, as declared for deferred ones.
    pub fn byte_len(&self) -> usize {
        match &self.source {
            Source::Ready(bytes) => bytes.len(),
            Source::Deferred { len, .. } => *len,
        }
    }

    /// The bytes; copies those at hand, reads deferred ones.
    ///
    /// # Errors
    /// What reading gives, or [`Error::TensorBytesSizeMismatch`] if it gives another number of bytes than declared.
    pub fn to_bytes(&self) -> Result<Bytes, Error> {
        match &self.source {
            Source::Ready(bytes) => Ok(bytes.clone()),
            Source::Deferred { len, read } => {
                let bytes = read()?;
                if bytes.len() != *len {
                    return Err(Error::TensorBytesSizeMismatch(format!(
                        "tensor '{}' declares {len} bytes, its source gave {}",
                        self.name,
                        bytes.len()
                    )));
                }
                Ok(bytes)
            }
        }
    }

    /// The bytes; copies none that are at hand.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes).
    pub fn into_bytes(self) -> Result<Bytes, Error> {
        match self.source {
            Source::Ready(bytes) => Ok(bytes),
            Source::Deferred { .. } => self.to_bytes(),
        }
    }

    /// Name, dtype, shape, parameter id and bytes; copies none that are at hand.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes).
    pub fn into_parts(mut self) -> Result<(String, DType, Shape, Option<u64>, Bytes), Error> {
        self.load()?;
        let (name, shape) = (
            core::mem::take(&mut self.name),
            core::mem::take(&mut self.shape),
        );
        Ok((name, self.dtype, shape, self.param_id, self.into_bytes()?))
    }

    /// Reads deferred bytes now, to have them at hand.
    pub(crate) fn load(&mut self) -> Result<(), Error> {
        if let Source::Deferred { .. } = self.source {
            self.source = Source::Ready(self.to_bytes()?);
        }
        Ok(())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Deferred { len, .. } => write!(f, "{len} bytes, deferred"),
        }
    }
}
