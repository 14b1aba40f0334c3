//! The backend contract, the lowerings, and the erased engines that every layer runs on.
//!
//! A backend is [`Backend::execute`] over instructions. [`Local`] turns a backend into an [`Engine`], and engines are
//! all that layers and users see: a [`Device`] runs instructions over [`Handle`]s. Kernels, gradient rules and the
//! user's tensor types are elsewhere.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod backend;
mod build;
mod device;
mod fuse;
mod handle;
mod local;
mod lower;
mod memory;

pub use backend::{Backend, Emit, On, Recorder};
pub use build::Build;
pub use device::{Device, Engine};
pub use fuse::{FuseBackend, Group, Slot};
pub use handle::{AnyTensor, Handle};
pub use local::Local;
pub use lower::{AttentionRows, attention_weights, lower};
pub use memory::{MemoryPoolUsage, SlicedPoolReport};
