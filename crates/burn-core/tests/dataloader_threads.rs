//! A loader has as many threads as were wished for, in every epoch the same. Alone in its process, as it counts the threads
//! of all.

use burn_core::data::dataloader::DataLoaderBuilder;
use burn_core::data::dataloader::batcher::Batcher;
use burn_core::data::dataset::InMemDataset;
use burn_core::tensor::Device;

struct Items;

impl Batcher<usize, Vec<usize>> for Items {
    fn batch(&self, items: Vec<usize>, _device: &Device) -> Vec<usize> {
        items
    }
}

/// The threads of this process.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the system lists its threads");
    tasks.count()
}

/// Whether the process comes down to `count` threads. A thread that was joined is listed until the system has cleaned up
/// after it, so the first look may be too early.
#[cfg(target_os = "linux")]
fn settle_at(count: usize) -> bool {
    (0..100_000).any(|_| {
        std::thread::yield_now();
        threads() == count
    })
}

#[test]
#[cfg(target_os = "linux")]
fn threads_are_the_same_in_every_epoch_and_end_with_the_loader() {
    let before = threads();
    let loader = DataLoaderBuilder::new(Items)
        .batch_size(2)
        .shuffle(5)
        .num_workers(3)
        .build(InMemDataset::new((0..100).collect()));
    assert_eq!(threads(), before);

    let mut left_early = loader.iter();
    for _ in 0..2 {
        assert!(left_early.next().is_some());
    }
    assert_eq!(threads(), before + 3);
    drop(left_early);

    for _ in 0..20 {
        let batches = loader.iter().collect::<Result<Vec<_>, _>>();
        let mut items = batches.expect("every item can be read").concat();
        items.sort_unstable();
        assert!(items.into_iter().eq(0..100));
        assert_eq!(threads(), before + 3);
    }

    let epochs = [loader.iter(), loader.iter()];
    assert_eq!(
        threads(),
        before + 6,
        "two epochs at once have threads each"
    );
    drop(epochs);
    assert!(settle_at(before + 3), "{} threads", threads());
    drop(loader);
    assert!(settle_at(before), "{} threads", threads());
}
