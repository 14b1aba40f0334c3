//! Datasets and the loaders that turn them into batches; with the feature `dataset`.

#[cfg(feature = "dataset")]
pub mod dataloader;

/// Datasets, their transforms and sources.
#[cfg(feature = "dataset")]
pub mod dataset {
    pub use burn_dataset::*;
}
