//! Work on all threads, where that is faster than on one.

use core::ops::Range;

/// Work worth less than this many bytes of memory traffic stays on the calling thread.
///
/// Handing over to a thread that still looks for work and waiting for it costs less than a µs, waking one 10 µs and more.
/// A core moves 100 bytes a nanosecond in its own caches and 25 beyond, so this is 3 µs to 10 µs of work.
#[cfg(feature = "rayon")]
const WORTH: usize = 256 * 1024;

/// What a nanosecond of computing counts as: the memory traffic in that time.
pub(crate) const NANOSECOND: usize = 25;

/// Runs `work` over parts of `0..len` that together are the whole.
///
/// `cost` is the price of one item in bytes of memory traffic, compute included at what it would move meanwhile; parts
/// start at multiples of `align`. What `work` does for an item must not depend on the part it is in.
pub(crate) fn split(len: usize, align: usize, cost: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    #[cfg(feature = "rayon")]
    {
        let cost = len.saturating_mul(cost);
        let threads = if cost < WORTH {
            1
        } else {
            rayon::current_num_threads()
        };
        if threads > 1 {
            // Four parts a thread even out what other programs take from the cores; each is worth its handing over.
            let parts = (4 * threads).min(cost / (WORTH / 4));
            let size = len.div_ceil(parts.max(1)).next_multiple_of(align.max(1));
            return crate::team::run(len.div_ceil(size), threads - 1, &|part| {
                let start = part * size;
                work(start..len.min(start + size));
            });
        }
    }
    #[cfg(not(feature = "rayon"))]
    let _ = (align, cost);
    if len > 0 {
        work(0..len);
    }
}

/// A pointer that may cross threads. Whoever makes one says why the accesses through it do not overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared<T>(pub *mut T);

// SAFETY: sending an address is harmless; each dereference has its own argument.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The pointer itself: a method, so that closures capture the wrapper and not its field.
    pub(crate) fn get(self) -> *mut T {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn parts_cover_everything_once_and_start_aligned() {
        for len in [0, 1, 1000, 1 << 20, (1 << 20) + 3] {
            let total = AtomicUsize::new(0);
            split(len, 1024, 8, &|range| {
                assert!(range.start.is_multiple_of(1024));
                total.fetch_add(range.len(), Ordering::Relaxed);
            });
            assert_eq!(total.into_inner(), len);
        }
    }
}
