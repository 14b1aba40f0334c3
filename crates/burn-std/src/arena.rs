//! Buffers cut from large chunks of memory, on Linux.
//!
//! glibc's heap mixes the buffers of tensors with whatever else a program allocates: small blocks that live long hold
//! holes between buffers open, and the steps of a training loop end with four tenths more memory than their tensors take.
//! Here buffers have memory of their own. A buffer takes the smallest hole that it fits into, and as neighbours that are
//! free become one hole, memory that a training step gave back is what the next one takes. A chunk is only addresses
//! until it is written to, so that what was never in use costs nothing.

use crate::sync::Mutex;
use alloc::alloc::{alloc, dealloc};
use alloc::vec::Vec;
use core::alloc::Layout;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// The sizes of buffers that are cut from chunks: bytes. Allocators are good at smaller ones, and larger ones are mapped
/// from the system each for itself.
const SIZES: Range<usize> = 32 * 1024..32 * 1024 * 1024;

/// Bytes of a chunk.
const CHUNK: usize = 1 << 28;

/// Whether there are chunks at all: where memory is mapped when it is written, and unless a tool looks for errors at the
/// ends of buffers, which are to be allocations of their own then.
const ON: bool = cfg!(all(
    target_os = "linux",
    target_pointer_width = "64",
    not(miri),
    not(plain_allocations)
));

/// Sizes are multiples of this, so that no hole is too small for any buffer.
const GRAIN: usize = 1024;

/// The most that a chunk keeps behind its last buffer, in bytes: as [`reuse`](crate::reuse) does.
const MOST: usize = 64 * 1024 * 1024;

/// Which parts of a chunk are free.
struct Space {
    /// By where they start; no two touch.
    holes: Vec<Range<usize>>,
    /// The end of what was ever in use, and was not given back.
    touched: usize,
}

impl Space {
    fn new() -> Self {
        Self {
            holes: alloc::vec![0..CHUNK],
            touched: 0,
        }
    }

    /// The start of `len` bytes in the smallest hole that has them, the first of several. What no buffer has been in is
    /// the last resort.
    fn take(&mut self, len: usize) -> Option<usize> {
        let size = |hole: &Range<usize>| match hole.end {
            CHUNK => CHUNK,
            _ => hole.len(),
        };
        let fits = |(_, hole): &(usize, &Range<usize>)| hole.len() >= len;
        let holes = self.holes.iter().enumerate().filter(fits);
        let (at, _) = holes.min_by_key(|(_, hole)| size(hole))?;
        let hole = &mut self.holes[at];
        let start = hole.start;
        hole.start += len;
        if hole.start == hole.end {
            self.holes.remove(at);
        }
        self.touched = self.touched.max(start + len);
        Some(start)
    }

    fn give(&mut self, part: Range<usize>) {
        let at = self.holes.partition_point(|hole| hole.start < part.start);
        let follows = |at: usize| Some(self.holes.get(at.checked_sub(1)?)?.end);
        let (before, after) = (
            follows(at) == Some(part.start),
            self.holes
                .get(at)
                .is_some_and(|hole| hole.start == part.end),
        );
        match (before, after) {
            (true, true) => self.holes[at - 1].end = self.holes.remove(at).end,
            (true, false) => self.holes[at - 1].end = part.end,
            (false, true) => self.holes[at].start = part.start,
            (false, false) => self.holes.insert(at, part),
        }
    }

    /// The start of the free end.
    fn end(&self) -> usize {
        match self.holes.last() {
            Some(hole) if hole.end == CHUNK => hole.start,
            _ => CHUNK,
        }
    }

    fn is_empty(&self) -> bool {
        self.end() == 0
    }

    /// What is free and may have been written to.
    fn idle(&self) -> impl Iterator<Item = Range<usize>> {
        let touched = |hole: &Range<usize>| hole.start..hole.end.min(self.touched);
        self.holes
            .iter()
            .map(touched)
            .filter(|part| part.start < part.end)
    }
}

struct Chunk {
    ptr: *mut u8,
    space: Space,
}

// SAFETY: an owned block of plain memory.
unsafe impl Send for Chunk {}

impl Chunk {
    const LAYOUT: Layout = match Layout::from_size_align(CHUNK, 64) {
        Ok(layout) => layout,
        Err(_) => panic!("the alignment is a power of two"),
    };

    fn new() -> Option<Self> {
        // SAFETY: the size is not 0.
        let ptr = unsafe { alloc(Self::LAYOUT) };
        let space = Space::new();
        (!ptr.is_null()).then_some(Self { ptr, space })
    }

    /// Gives what is free behind the last buffer back to the system, if that is more than is kept.
    fn trim(&mut self) {
        let free = self.space.end()..self.space.touched;
        if free.len() > MOST {
            self.forget(free.clone());
            self.space.touched = free.start;
        }
    }

    /// Gives all that is free back to the system.
    fn release(&mut self) {
        for part in self.space.idle() {
            self.forget(part);
        }
        self.space.touched = self.space.touched.min(self.space.end());
    }

    fn forget(&self, free: Range<usize>) {
        // SAFETY: the part is free, and inside of the chunk.
        unsafe { crate::pages::forget(self.ptr.add(free.start), free.len()) };
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; no buffer is in it.
        unsafe { dealloc(self.ptr, Self::LAYOUT) }
    }
}

static CHUNKS: Mutex<Vec<Chunk>> = Mutex::new(Vec::new());

/// Whether no buffer is cut any more.
static LEFT: AtomicBool = AtomicBool::new(false);

/// Cuts no buffer any more.
pub(crate) fn leave() {
    LEFT.store(true, Ordering::Relaxed);
}

fn rounded(size: usize) -> usize {
    size.next_multiple_of(GRAIN)
}

/// A buffer of `layout`, if it is of a size that is cut from chunks.
pub(crate) fn take(layout: Layout) -> Option<*mut u8> {
    if !ON || LEFT.load(Ordering::Relaxed) || !SIZES.contains(&layout.size()) {
        return None;
    }
    let ptr = cut(rounded(layout.size()))?;
    crate::pages::enlarge(ptr, layout.size());
    Some(ptr)
}

fn cut(len: usize) -> Option<*mut u8> {
    let mut chunks = CHUNKS.lock();
    for chunk in chunks.iter_mut() {
        if let Some(start) = chunk.space.take(len) {
            return Some(chunk.ptr.wrapping_add(start));
        }
    }
    if chunks.is_empty() {
        raise();
    }
    let mut chunk = Chunk::new()?;
    let start = chunk.space.take(len)?;
    let ptr = chunk.ptr.wrapping_add(start);
    chunks.push(chunk);
    Some(ptr)
}

/// Tells glibc's allocator to keep blocks of some MiB, such as the scratch memory of products, which it otherwise maps anew
/// each time: it learns their size from the first one that is freed, and buffers no longer tell it. An f16 product of 512²
/// took 940 faults of pages and twice the time without.
fn raise() {
    const LAYOUT: Layout = Layout::new::<[u8; 8 * 1024 * 1024]>();
    // SAFETY: the size is not 0, and the block is freed as it was allocated. Nothing touches it.
    unsafe {
        let block = core::hint::black_box(alloc(LAYOUT));
        if !block.is_null() {
            dealloc(block, LAYOUT);
        }
    }
}

/// Frees a buffer that [`take`] gave; false if it did not.
pub(crate) fn give(ptr: *mut u8, layout: Layout) -> bool {
    if !ON || !SIZES.contains(&layout.size()) {
        return false;
    }
    let mut chunks = CHUNKS.lock();
    let inside = |chunk: &Chunk| ptr.addr().wrapping_sub(chunk.ptr.addr()) < CHUNK;
    let Some(at) = chunks.iter().position(inside) else {
        return false;
    };
    let more = chunks.len() > 1;
    let chunk = &mut chunks[at];
    let start = ptr.addr() - chunk.ptr.addr();
    chunk.space.give(start..start + rounded(layout.size()));
    if chunk.space.is_empty() && more {
        let gone = chunks.remove(at);
        drop(chunks);
        drop(gone);
    } else {
        chunk.trim();
    }
    true
}

/// Gives the memory that is kept for later back to the system.
pub(crate) fn release() {
    for chunk in CHUNKS.lock().iter_mut() {
        chunk.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_takes_the_smallest_hole_and_free_neighbours_become_one() {
        let mut space = Space::new();
        let starts = [3, 1, 2, 1, 4].map(|len| space.take(len).expect("it is empty"));
        assert_eq!(starts, [0, 3, 4, 6, 7]);
        space.give(0..3);
        space.give(4..6);
        assert_eq!(space.take(2), Some(4), "the hole of 2, not that of 3");
        assert_eq!(space.take(4), Some(11), "no hole has 4");
        space.give(4..6);
        space.give(3..4);
        assert_eq!(space.holes, [0..6, 15..CHUNK]);
        assert!(
            space.idle().eq(core::iter::once(0..6)),
            "nothing was behind the last buffer"
        );
        assert_eq!(space.take(6), Some(0));
        assert_eq!((space.end(), space.touched), (15, 15));
        for part in [7..11, 0..6, 11..15, 6..7] {
            space.give(part);
        }
        assert!(space.is_empty());
        assert_eq!(space.take(CHUNK + 1), None);
    }

    #[test]
    fn buffers_do_not_overlap_and_a_freed_one_is_used_again() {
        // A size that nothing else in these tests asks for.
        let layout = Layout::from_size_align(5 * 1024 * 1024, 64).expect("a legal layout");
        let first = take(layout).expect("of a size for chunks");
        let second = take(layout).expect("of a size for chunks");
        assert!(first.addr().abs_diff(second.addr()) >= layout.size());
        assert!(give(first, layout));
        assert_eq!(take(layout), Some(first));
        assert!(give(first, layout) && give(second, layout));
        let other = Layout::from_size_align(100, 64).expect("a legal layout");
        assert_eq!(take(other), None);
        assert!(!give(core::ptr::without_provenance_mut(64), layout));
    }
}
