//! The burnpack file format: named tensors, text metadata and scalars in one file.
//!
//! ```text
//! 0     magic number   u32  "NRUB"
//! 4     version        u16  1
//! 6     metadata size  u32
//! 10    metadata       a CBOR map (RFC 8949):
//!         tensors   name -> { dtype, shape, data_offsets: [start, end], param_id? }
//!         metadata  name -> text, where there is any
//!         scalars   name -> { Bool | Int | UInt | Float: value }, where there are any
//! ...   zeros up to a multiple of 256
//! data  the elements of each tensor, from a multiple of 256 on
//! ```
//!
//! Numbers are little-endian, those of tensors too: on a big-endian host the caller swaps them. Offsets count from the
//! start of the data. A [`Reader`] believes nothing in a file: what it does not refuse can be read, and what it
//! allocates is bounded by the length of the file, not by what the file claims.
//!
//! Not here: modules, their parameters' paths, and other formats.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(feature = "std")]
mod atomic;
mod error;
mod header;
mod metadata;
mod reader;
mod scalar;
mod tensor;
mod writer;

pub use burn_std::{Bytes, DType, Shape};

#[cfg(feature = "std")]
pub use atomic::AtomicFile;
pub use error::Error;
pub use header::Header;
pub use reader::Reader;
pub use scalar::{Scalar, ScalarConversionError};
pub use tensor::Tensor;
pub use writer::Writer;

/// The extension of files in this format.
pub const EXTENSION: &str = "bpk";
/// The version of the format that is written, and the only one that is read.
pub const FORMAT_VERSION: u16 = 1;
/// The first four bytes of a file, as a little-endian number: `"NRUB"`.
pub const MAGIC_NUMBER: u32 = u32::from_le_bytes(*b"NRUB");
/// Bytes of the header: magic number, version and metadata size.
pub const HEADER_SIZE: usize = 10;
/// Tensors start at multiples of this many bytes, so that a mapped file can be used in place.
pub const TENSOR_ALIGNMENT: u64 = 256;
/// How deep the metadata may nest.
pub const MAX_CBOR_RECURSION_DEPTH: usize = 128;
/// The most bytes of a file: 100 GiB.
pub const MAX_FILE_SIZE: u64 = 100 << 30;
/// The most bytes of encoded metadata: 100 MiB.
pub const MAX_METADATA_SIZE: u32 = 100 << 20;
/// The most tensors in a file.
pub const MAX_TENSOR_COUNT: usize = 100_000;
/// The most bytes of one tensor: 10 GiB, or all memory where that is less.
pub const MAX_TENSOR_SIZE: usize = if usize::BITS > 32 {
    (10u64 << 30) as usize
} else {
    usize::MAX
};

/// The offset in a file at which the data starts, after `metadata_size` bytes of metadata.
pub fn aligned_data_section_start(metadata_size: usize) -> usize {
    (HEADER_SIZE + metadata_size).next_multiple_of(TENSOR_ALIGNMENT as usize)
}

/// `path` with the extension of the format, unless it has one.
#[cfg(feature = "std")]
fn with_default_extension(path: &std::path::Path) -> std::path::PathBuf {
    match path.extension() {
        Some(_) => path.into(),
        None => path.with_extension(EXTENSION),
    }
}
