//! Large buffers that were freed, kept for whoever asks for that size next.
//!
//! General allocators give large buffers back to the operating system, which then clears each page at its next first
//! touch: a third of a millisecond for each MiB, many times what a kernel needs to fill it. What a program allocates it
//! allocates again (the next instruction, the next training step), so the last few buffers are kept. Together with those
//! in use they are never more than were in use at once, so that keeping them does not raise the peak. Small buffers stay
//! with the allocator, which is good at them. Where there is an [`arena`], it has the sizes between.

use crate::arena;
use crate::sync::Mutex;
use alloc::alloc::dealloc;
use alloc::vec::Vec;
use core::alloc::Layout;

/// Smaller buffers are not kept: bytes.
const SMALL: usize = 4096;

/// The most that is kept: what glibc's allocator keeps at the end of its heap before it trims, in bytes.
const MOST: usize = 64 * 1024 * 1024;

/// The most buffers that are kept; few enough to look through.
const COUNT: usize = 128;

/// Whether a buffer of this size is kept. A tool that looks for errors wants each to be freed.
fn keeps(size: usize) -> bool {
    size >= SMALL && !cfg!(plain_allocations)
}

struct Free {
    /// From the longest kept to the last freed. All have the alignment of a cache line.
    buffers: Vec<Buffer>,
    bytes: usize,
    /// Bytes in use, and the most that ever were.
    used: usize,
    peak: usize,
}

struct Buffer {
    ptr: *mut u8,
    layout: Layout,
}

// SAFETY: an owned buffer of plain memory.
unsafe impl Send for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and given to nobody else.
        unsafe { dealloc(self.ptr, self.layout) }
    }
}

static FREE: Mutex<Free> = Mutex::new(Free {
    buffers: Vec::new(),
    bytes: 0,
    used: 0,
    peak: 0,
});

impl Free {
    /// Counts a buffer in use, and takes out what then is too much, the longest kept first.
    fn used(&mut self, size: usize) -> Vec<Buffer> {
        self.used += size;
        self.peak = self.peak.max(self.used);
        self.surplus()
    }

    fn surplus(&mut self) -> Vec<Buffer> {
        let most = MOST.min(self.peak - self.used);
        let mut count = 0;
        while self.bytes > most || self.buffers.len() - count > COUNT {
            self.bytes -= self.buffers[count].layout.size();
            count += 1;
        }
        self.buffers.drain(..count).collect()
    }
}

/// Counts a buffer of `layout`, which is kept memory if some has room for it and hardly more: its start and the layout it
/// was allocated with. Otherwise the caller allocates.
pub(crate) fn take(layout: Layout) -> Option<(*mut u8, Layout)> {
    if let Some(ptr) = arena::take(layout) {
        return Some((ptr, layout));
    }
    let len = layout.size();
    if !keeps(len) {
        return None;
    }
    let mut free = FREE.lock();
    let fits = |buffer: &Buffer| {
        let size = buffer.layout.size();
        size >= len && size - len <= len / 8
    };
    // The last freed is likely in a cache still.
    let Some(at) = free.buffers.iter().rposition(fits) else {
        let gone = free.used(len);
        drop(free);
        drop(gone);
        return None;
    };
    let buffer = core::mem::ManuallyDrop::new(free.buffers.remove(at));
    let (ptr, layout) = (buffer.ptr, buffer.layout);
    free.bytes -= layout.size();
    free.used += layout.size();
    free.peak = free.peak.max(free.used);
    Some((ptr, layout))
}

/// Keeps a buffer that [`take`] counted, or frees it.
///
/// # Safety
/// `ptr` was given by [`take`] or allocated by the global allocator with `layout`, and belongs to the caller.
pub(crate) unsafe fn give(ptr: *mut u8, layout: Layout) {
    if arena::give(ptr, layout) {
        return;
    }
    let buffer = Buffer { ptr, layout };
    if !keeps(layout.size()) {
        return;
    }
    let mut free = FREE.lock();
    // A vector of elements of this alignment was not counted.
    free.used = free.used.saturating_sub(layout.size());
    free.bytes += layout.size();
    free.buffers.push(buffer);
    let gone = free.surplus();
    // Freed after the lock.
    drop(free);
    drop(gone);
}

/// Frees all that is kept.
pub(crate) fn release() {
    arena::release();
    let mut free = FREE.lock();
    free.bytes = 0;
    let gone = core::mem::take(&mut free.buffers);
    drop(free);
    drop(gone);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;

    fn kept() -> usize {
        FREE.lock().bytes
    }

    // Others of this process allocate too, but nothing of this size.
    #[test]
    fn a_freed_buffer_is_used_again_and_keeping_it_does_not_raise_the_peak() {
        const SIZE: usize = 48 * 1024 * 1024;
        // SAFETY: nothing reads what is not written.
        let new = |size: usize| unsafe { Bytes::uninit(size) };
        let first = new(SIZE);
        let start = first.as_ptr();
        drop(first);
        assert!(kept() >= SIZE);
        let again = new(SIZE - 100);
        assert_eq!((again.as_ptr(), again.len()), (start, SIZE - 100));
        drop(again);
        // More than both have never been in use, so that the first is given up for it.
        let other = new(SIZE / 4 * 3);
        assert!(kept() < SIZE);
        drop(other);
        release();
        assert!(kept() < SIZE / 2);
    }
}
