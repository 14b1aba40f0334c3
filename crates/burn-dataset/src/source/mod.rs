//! Places that datasets come from.

#[cfg(feature = "sqlite")]
pub mod huggingface;
