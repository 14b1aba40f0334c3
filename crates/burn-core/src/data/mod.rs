//! Datasets and the loaders that turn them into batches; with the feature `dataset`.

#[cfg(feature = "dataset")]
pub mod dataloader;

/// Datasets, their transforms and sources.
#[cfg(feature = "dataset")]
pub mod dataset {
    pub use burn_dataset::*;
}

/// Fetching files; with the feature `network`.
#[cfg(feature = "network")]
pub mod network {
    pub use burn_std::network::*;
}
