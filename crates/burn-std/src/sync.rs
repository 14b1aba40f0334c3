//! Locks with one interface: those of the standard library, or spinning ones without `std`.
//!
//! A lock held by a thread that panicked is simply free again: what we guard is never left half
//! written, and a poisoned registry would turn one panic into many.

pub use alloc::sync::Arc;
pub use spin::Once;

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

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        open(self.0.get_mut())
    }

    /// The value, without its lock.
    pub fn into_inner(self) -> T {
        open(self.0.into_inner())
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

/// What a lock gave, whatever happened to its last holder.
#[cfg(feature = "std")]
fn open<T>(result: std::sync::LockResult<T>) -> T {
    result.unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(not(feature = "std"))]
fn open<T>(result: T) -> T {
    result
}
