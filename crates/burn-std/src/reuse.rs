//! Large buffers that were freed, kept for whoever asks for that size next.
//!
//! General allocators give large buffers back to the operating system, which then clears each page at its next first
//! touch: a third of a millisecond for each MiB, many times what a kernel needs to fill it. What a program allocates it
//! allocates again (the next instruction, the next training step), so the last few buffers are kept. Small buffers stay
//! with the allocator, which is good at them.

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

struct Free {
    /// From the longest kept to the last freed. All have the alignment of a cache line.
    buffers: Vec<Buffer>,
    bytes: usize,
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
});

/// A buffer with room for `layout` and hardly more, if one was kept: its start and the layout it was allocated with.
pub(crate) fn take(layout: Layout) -> Option<(*mut u8, Layout)> {
    let len = layout.size();
    if len < SMALL {
        return None;
    }
    let mut free = FREE.lock();
    let fits = |buffer: &Buffer| {
        let size = buffer.layout.size();
        size >= len && size - len <= len / 8 && buffer.layout.align() == layout.align()
    };
    // The last freed is likely in a cache still.
    let at = free.buffers.iter().rposition(fits)?;
    let buffer = core::mem::ManuallyDrop::new(free.buffers.remove(at));
    free.bytes -= buffer.layout.size();
    Some((buffer.ptr, buffer.layout))
}

/// Keeps a buffer, or frees it.
///
/// # Safety
/// `ptr` was allocated by the global allocator with `layout` and belongs to the caller.
pub(crate) unsafe fn give(ptr: *mut u8, layout: Layout) {
    let buffer = Buffer { ptr, layout };
    let size = layout.size();
    if !(SMALL..=MOST).contains(&size) {
        return;
    }
    // What has to go is freed after the lock.
    let mut gone = Vec::new();
    let mut free = FREE.lock();
    let mut count = 0;
    while free.bytes + size > MOST || free.buffers.len() - count >= COUNT {
        free.bytes -= free.buffers[count].layout.size();
        count += 1;
    }
    gone.extend(free.buffers.drain(..count));
    free.bytes += size;
    free.buffers.push(buffer);
}

/// Bytes that are kept.
pub(crate) fn kept() -> usize {
    FREE.lock().bytes
}

/// Frees all that is kept.
pub(crate) fn release() {
    let mut free = FREE.lock();
    free.bytes = 0;
    let gone = core::mem::take(&mut free.buffers);
    drop(free);
    drop(gone);
}
