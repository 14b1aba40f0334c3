//! Datasets of the Hugging Face hub. Python imports one with the library `datasets` into a database, once.

mod importer;
mod loader;

pub use importer::ImporterError;
pub use loader::HuggingfaceDatasetLoader;
