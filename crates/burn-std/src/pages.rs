//! What the system does with the pages of memory. Only Linux is asked; others decide by themselves.

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use core::ffi::{c_int, c_void};
    use core::ops::Range;

    // Values of `asm-generic/mman-common.h`, the same on every architecture but Alpha.
    pub const DONTNEED: c_int = 4;
    pub const HUGEPAGE: c_int = 14;

    unsafe extern "C" {
        safe fn getpagesize() -> c_int;
        fn madvise(start: *mut c_void, len: usize, advice: c_int) -> c_int;
    }

    pub fn page() -> usize {
        getpagesize().max(1) as usize
    }

    /// Advice for whole pages, `range` bytes from `ptr`. A refusal changes nothing.
    ///
    /// # Safety
    /// The pages are the caller's, and the advice does to them what it may.
    pub unsafe fn advise(ptr: *mut u8, range: Range<isize>, advice: c_int) {
        let len = range.end - range.start;
        if len > 0 {
            // SAFETY: the caller's promise.
            unsafe {
                madvise(
                    ptr.wrapping_offset(range.start).cast(),
                    len as usize,
                    advice,
                )
            };
        }
    }
}

/// Asks for huge pages under a buffer, if it is large. Otherwise Linux maps 4 KiB at a time, as most distributions leave the
/// choice to programs ("madvise"): a machine then looks up an address for every 64 lines of cache, a virtual one twice, and
/// the system clears pages one by one when a buffer is first written.
#[cfg_attr(any(not(target_os = "linux"), miri), expect(unused_variables))]
pub(crate) fn enlarge(ptr: *mut u8, len: usize) {
    /// Bytes from which on it pays. A page may reach beyond a buffer, into memory that is free: with 4 MiB here the training
    /// step of a small CNN took 50 MiB instead of 45.
    const LARGE: usize = 8 * 1024 * 1024;
    #[cfg(all(target_os = "linux", not(miri)))]
    if len >= LARGE {
        // From the start of the first page, which holds the allocator's notes.
        let before = ptr.addr() % linux::page();
        // SAFETY: pages of an allocation are mapped, and the advice changes the content of none.
        unsafe { linux::advise(ptr, -(before as isize)..len as isize, linux::HUGEPAGE) };
    }
}

/// Gives the whole pages of a part of memory back, whose content is lost.
///
/// # Safety
/// Nobody has a use for the content, and the part belongs to the caller.
#[cfg_attr(any(not(target_os = "linux"), miri), expect(unused_variables))]
pub(crate) unsafe fn forget(ptr: *mut u8, len: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let page = linux::page();
        let start = ptr.addr().next_multiple_of(page) - ptr.addr();
        let end = start + len.saturating_sub(start) / page * page;
        // SAFETY: whole pages of what is the caller's, who gives up the content.
        unsafe { linux::advise(ptr, start as isize..end as isize, linux::DONTNEED) };
    }
}
