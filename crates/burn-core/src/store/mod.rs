//! Records of modules: the values of parameters under their paths, in memory and in burnpack
//! files. Other file formats live in their own crate.

mod apply;
mod collect;
mod error;
mod record;

pub use error::RecordError;
pub use record::{DTypePolicy, ModuleRecord};
