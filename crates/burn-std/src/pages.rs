//! What the system does with the pages of memory.

/// Gives the whole pages of a part of memory back, whose content is lost. A refusal changes nothing.
///
/// # Safety
/// Nobody has a use for the content, and the part belongs to the caller.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn forget(ptr: *mut u8, len: usize) {
    use core::ffi::{c_int, c_void};
    /// `MADV_DONTNEED` of Linux' `asm-generic/mman-common.h`, the same on every architecture but Alpha.
    const DONTNEED: c_int = 4;
    unsafe extern "C" {
        safe fn getpagesize() -> c_int;
        fn madvise(start: *mut c_void, len: usize, advice: c_int) -> c_int;
    }
    let page = getpagesize().max(1) as usize;
    let head = ptr.addr().next_multiple_of(page) - ptr.addr();
    let len = len.saturating_sub(head) / page * page;
    if len > 0 {
        // SAFETY: whole pages of what is the caller's, who gives up the content.
        unsafe { madvise(ptr.wrapping_add(head).cast(), len, DONTNEED) };
    }
}

/// Nothing: only Linux is asked.
///
/// # Safety
/// None; see the other.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn forget(_ptr: *mut u8, _len: usize) {}
