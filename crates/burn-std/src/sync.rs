//! Locks with one interface: those of the standard library, or spinning ones without `std`.
//!
//! A lock held by a thread that panicked is simply free again: what we guard is never left half
//! written, and a poisoned registry would turn one panic into many.

pub use alloc::sync::Arc;

#[cfg(feature = "std")]
pub use std::sync::{LazyLock, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

#[cfg(not(feature = "std"))]
pub use spin::{LazyLock, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

#[cfg(feature = "std")]
use std::sync as imp;

#[cfg(not(feature = "std"))]
use spin as imp;

/// One at a time.
#[derive(Debug, Default)]
pub struct Mutex<T>(imp::Mutex<T>);

impl<T> Mutex<T> {
    /// An open lock around `value`.
    pub const fn new(value: T) -> Self {
        Self(imp::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        open(self.0.lock())
    }
}

/// Many readers or one writer.
#[derive(Debug, Default)]
pub struct RwLock<T>(imp::RwLock<T>);

impl<T> RwLock<T> {
    /// An open lock around `value`.
    pub const fn new(value: T) -> Self {
        Self(imp::RwLock::new(value))
    }

    /// Waits to read.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        open(self.0.read())
    }

    /// Waits to write.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        open(self.0.write())
    }
}

#[cfg(feature = "std")]
fn open<G>(guard: std::sync::LockResult<G>) -> G {
    guard.unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(not(feature = "std"))]
fn open<G>(guard: G) -> G {
    guard
}
