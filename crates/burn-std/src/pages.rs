//! Huge pages for large buffers.
//!
//! Linux maps 4 KiB at a time unless a program asks for more, which most distributions leave to programs ("madvise"). A
//! machine then looks up an address for every 64 lines of cache, a virtual one twice, and the system clears pages one by
//! one when a buffer is first written.

/// Asks for huge pages under a new allocation, if it is large. A refusal changes nothing.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn advise(ptr: *mut u8, len: usize) {
    use core::ffi::{c_int, c_void};
    /// Bytes from which on it pays. A page may reach beyond a buffer, into memory that is free: with 4 MiB here the training
    /// step of a small CNN took 50 MiB instead of 45.
    const LARGE: usize = 8 * 1024 * 1024;
    /// `MADV_HUGEPAGE` of Linux' `asm-generic/mman-common.h`, the same on every architecture.
    const HUGE: c_int = 14;
    unsafe extern "C" {
        safe fn getpagesize() -> c_int;
        fn madvise(start: *mut c_void, len: usize, advice: c_int) -> c_int;
    }
    if len < LARGE {
        return;
    }
    // From the start of the first page: an allocation of its own begins there, with the allocator's notes.
    let before = ptr.addr() % (getpagesize().max(1) as usize);
    // SAFETY: pages of an allocation are mapped, and the advice changes the content of none.
    unsafe { madvise(ptr.wrapping_sub(before).cast(), before + len, HUGE) };
}

/// Nothing: other systems decide by themselves.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn advise(_ptr: *mut u8, _len: usize) {}
