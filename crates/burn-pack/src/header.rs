//! The first ten bytes of a file.

use crate::{Error, FORMAT_VERSION, HEADER_SIZE, MAGIC_NUMBER};

/// The first ten bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// [`MAGIC_NUMBER`].
    pub magic: u32,
    /// The version of the format.
    pub version: u16,
    /// Bytes of encoded metadata that follow.
    pub metadata_size: u32,
}

impl Header {
    /// A header of this version.
    pub fn new(metadata_size: u32) -> Self {
        Self {
            magic: MAGIC_NUMBER,
            version: FORMAT_VERSION,
            metadata_size,
        }
    }

    /// The header as it is in a file.
    pub fn into_bytes(self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[..4].copy_from_slice(&self.magic.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.version.to_le_bytes());
        bytes[6..].copy_from_slice(&self.metadata_size.to_le_bytes());
        bytes
    }

    /// Decodes the header at the start of `bytes`, of any version.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`] for too few bytes, [`Error::InvalidMagicNumber`] for those of another format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Some(&[m0, m1, m2, m3, v0, v1, s0, s1, s2, s3]) = bytes.first_chunk() else {
            return Err(Error::InvalidHeader);
        };
        let magic = u32::from_le_bytes([m0, m1, m2, m3]);
        if magic != MAGIC_NUMBER {
            return Err(Error::InvalidMagicNumber);
        }
        Ok(Self {
            magic,
            version: u16::from_le_bytes([v0, v1]),
            metadata_size: u32::from_le_bytes([s0, s1, s2, s3]),
        })
    }
}
