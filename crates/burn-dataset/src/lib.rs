//! Datasets, transforms and sources.
