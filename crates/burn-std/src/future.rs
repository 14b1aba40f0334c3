//! The boxed future of reads. Running one to its end is in [`crate::reader`].

use alloc::boxed::Box;
use core::future::Future;
use core::pin::Pin;

/// A boxed future that may move between threads.
pub type DynFut<T> = Pin<Box<dyn Future<Output = T> + Send>>;
