//! A file larger than what it is read with. Alone in its process, as it counts the memory of all.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use burn_dataset::{IterableDataset, JsonRows};

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_stream_of_any_length_is_read_in_the_memory_of_a_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.json");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let row = "x".repeat(1000);
    for _ in 0..20_000 {
        writeln!(file, "\"{row}\"").unwrap();
    }
    file.into_inner().unwrap();

    let before = USED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let rows = JsonRows::<String>::new(path);
    assert_eq!(rows.stream().filter(Result::is_ok).count(), 20_000);
    let needed = PEAK.load(Ordering::Relaxed) - before;
    assert!(needed < 100_000, "{needed} bytes for 20 MB");
}
