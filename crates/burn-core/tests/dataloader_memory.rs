//! Epochs leave no memory behind, and no more batches wait than were said to. Alone in its process, as it counts the
//! memory of all.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn_core::data::dataloader::batcher::Batcher;
use burn_core::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn_core::data::dataset::InMemDataset;
use burn_core::tensor::{Device, Tensor, TensorData};

static USED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size(), Ordering::Relaxed);
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

struct Rows;

impl Batcher<[f32; 8], Tensor<2>> for Rows {
    fn batch(&self, items: Vec<[f32; 8]>, device: &Device) -> Tensor<2> {
        let rows = items.len();
        Tensor::from_data(TensorData::new(items.concat(), [rows, 8]), device)
    }
}

fn epoch(loader: &Arc<dyn DataLoader<Tensor<2>>>) -> usize {
    let rows = loader
        .iter()
        .map(|batch| batch.expect("it can be read").dims()[0]);
    rows.sum()
}

#[test]
fn fifty_epochs_leave_no_memory_behind() {
    let items = InMemDataset::new(vec![[1.0; 8]; 1000]);
    let builder = DataLoaderBuilder::new(Rows).batch_size(64).shuffle(1);
    let loader = builder
        .num_workers(3)
        .set_device(Device::flex())
        .build(items);
    assert_eq!(epoch(&loader), 1000);
    assert_eq!(epoch(&loader), 1000);
    let before = USED.load(Ordering::SeqCst);
    for round in 0..48 {
        assert_eq!(epoch(&loader), 1000);
        // An epoch that is left early, too.
        assert!(round % 8 > 0 || loader.iter().next().is_some());
    }
    // The last thing that a thread says may still wait to be freed: the order of an epoch is 8 bytes an item.
    let after = USED.load(Ordering::SeqCst);
    let grown = after.saturating_sub(before);
    assert!(
        grown < 32_000,
        "{grown} bytes more after 50 epochs than after 2"
    );
}
