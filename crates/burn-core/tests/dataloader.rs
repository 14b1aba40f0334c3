//! Loaders: every item once an epoch, in batches, whatever the number of threads.

use std::sync::Arc;

use burn_core::data::dataloader::batcher::Batcher;
use burn_core::data::dataloader::split::split_dataloader;
use burn_core::data::dataloader::{DataLoader, DataLoaderBuilder, Progress};
use burn_core::data::dataset::{Dataset, DatasetError, InMemDataset};
use burn_core::tensor::Device;

/// Passes items on as they are.
struct Items;

impl Batcher<usize, Vec<usize>> for Items {
    fn batch(&self, items: Vec<usize>, _device: &Device) -> Vec<usize> {
        assert!(!items.contains(&UNLUCKY), "no batch with {UNLUCKY}");
        items
    }
}

/// A batch with this item cannot be made.
const UNLUCKY: usize = 1000;

type Loader = Arc<dyn DataLoader<Vec<usize>>>;

fn loader(len: usize, batch_size: usize, workers: usize, seed: Option<u64>) -> Loader {
    let builder = DataLoaderBuilder::new(Items)
        .batch_size(batch_size)
        .num_workers(workers);
    let builder = match seed {
        Some(seed) => builder.shuffle(seed),
        None => builder,
    };
    builder.build(InMemDataset::new((0..len).collect()))
}

#[track_caller]
fn epoch(loader: &Loader) -> Vec<Vec<usize>> {
    loader
        .iter()
        .collect::<Result<_, _>>()
        .expect("every item can be read")
}

#[test]
fn without_threads_batches_come_in_the_order_of_the_dataset() {
    let loader = loader(7, 3, 0, None);
    assert_eq!(epoch(&loader), [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    assert_eq!(loader.num_items(), 7);
}

#[test]
fn each_item_comes_once_an_epoch() {
    for workers in 0..5 {
        for (len, batch_size) in [(0, 4), (1, 4), (4, 4), (11, 4), (97, 10), (3, 1)] {
            let loader = loader(len, batch_size, workers, Some(1));
            for _ in 0..3 {
                let batches = epoch(&loader);
                assert!(batches.iter().all(|batch| batch.len() <= batch_size));
                let mut items = batches.concat();
                items.sort_unstable();
                assert!(items.into_iter().eq(0..len), "{workers} {len} {batch_size}");
            }
        }
    }
}

#[test]
fn an_order_is_drawn_in_each_epoch_and_repeats_with_the_seed() {
    for workers in [0, 3] {
        let (one, same) = (
            loader(50, 8, workers, Some(3)),
            loader(50, 8, workers, Some(3)),
        );
        let first = epoch(&one);
        assert_eq!(first, epoch(&same));
        let second = epoch(&one);
        assert_ne!(first, second);
        assert_eq!(second, epoch(&same));
        assert_ne!(epoch(&loader(50, 8, workers, Some(4))), first);
    }
}

#[test]
fn progress_counts_items() {
    for workers in [0, 2] {
        let loader = loader(10, 4, workers, None);
        let mut epoch = loader.iter();
        assert_eq!(epoch.progress().items_processed, 0);
        while let Some(batch) = epoch.next() {
            let done = epoch.progress().items_processed;
            assert!(done >= batch.expect("it can be read").len());
        }
        let done = Progress::new(10, 10, Some("items".to_string()));
        assert_eq!(epoch.progress(), done);
        assert!(done.is_completed());
    }
}

/// Numbers, of which every tenth cannot be read.
struct Faulty(usize);

impl Dataset<usize> for Faulty {
    fn get(&self, index: usize) -> Result<usize, DatasetError> {
        match index % 10 {
            9 => Err(DatasetError::new(std::io::Error::other(format!(
                "item {index} is gone"
            )))),
            _ => Ok(index),
        }
    }

    fn len(&self) -> usize {
        self.0
    }
}

#[test]
fn an_item_that_cannot_be_read_is_an_error_and_the_epoch_goes_on() {
    for workers in [0, 3] {
        let builder = DataLoaderBuilder::new(Items)
            .batch_size(5)
            .num_workers(workers);
        let loader = builder.build(Faulty(20));
        let (batches, errors): (Vec<_>, Vec<_>) = loader.iter().partition(Result::is_ok);
        let mut items: Vec<usize> = batches.into_iter().flatten().flatten().collect();
        items.sort_unstable();
        assert_eq!(items, [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]);
        let mut errors: Vec<String> = errors
            .into_iter()
            .map(|error| error.expect_err("errors only").to_string())
            .collect();
        errors.sort();
        assert_eq!(errors.len(), 2);
        assert!(
            errors.iter().any(|error| error.contains("item 9 is gone")),
            "{errors:?}"
        );
        assert!(
            errors.iter().any(|error| error.contains("item 19 is gone")),
            "{errors:?}"
        );
    }
}

#[test]
fn a_batcher_that_panics_on_a_thread_is_an_error_and_the_epoch_goes_on() {
    for workers in [1, 3] {
        let builder = DataLoaderBuilder::new(Items)
            .batch_size(1)
            .num_workers(workers);
        let loader = builder.build(InMemDataset::new(vec![1, UNLUCKY, 3]));
        let (batches, errors): (Vec<_>, Vec<_>) = loader.iter().partition(Result::is_ok);
        assert_eq!((batches.len(), errors.len()), (2, 1));
        let error = errors.into_iter().next().and_then(Result::err);
        let error = error.expect("one is an error").to_string();
        assert!(error.contains("it panicked: no batch with 1000"), "{error}");
    }
}

/// Numbers, of which one panics when it is read.
struct Explosive;

impl Dataset<usize> for Explosive {
    fn get(&self, index: usize) -> Result<usize, DatasetError> {
        assert_ne!(index, 4, "item 4 explodes");
        Ok(index)
    }

    fn len(&self) -> usize {
        10
    }
}

#[test]
fn an_item_that_panics_on_a_thread_is_an_error_and_the_epoch_goes_on() {
    let builder = DataLoaderBuilder::new(Items).batch_size(2).num_workers(2);
    let loader = builder.build(Explosive);
    for _ in 0..2 {
        let (batches, errors): (Vec<_>, Vec<_>) = loader.iter().partition(Result::is_ok);
        let mut items: Vec<usize> = batches.into_iter().flatten().flatten().collect();
        items.sort_unstable();
        assert_eq!(items, [0, 1, 2, 3, 6, 7, 8, 9]);
        assert_eq!(errors.len(), 1);
    }
}

/// A dataset of no use.
struct Broken;

impl Dataset<usize> for Broken {
    fn get(&self, _index: usize) -> Result<usize, DatasetError> {
        panic!("there is none")
    }

    fn len(&self) -> usize {
        // The loader asks on its own thread first, then the workers on theirs.
        let name = std::thread::current().name().map(str::to_owned);
        assert_ne!(name.as_deref(), Some("burn-dataloader"), "it has no length");
        3
    }
}

#[test]
fn a_dataset_that_always_panics_ends_the_epoch() {
    let loader = DataLoaderBuilder::new(Items).num_workers(2).build(Broken);
    let results: Vec<_> = loader.iter().collect();
    assert_eq!(results.len(), 2, "each thread gives up");
    assert!(results.iter().all(Result::is_err));
}

/// As many numbers as there are, of which the seventh cannot be read.
fn stream() -> impl Iterator<Item = Result<usize, DatasetError>> {
    (0..10).map(|number| match number {
        7 => Err(DatasetError::new(std::io::Error::other("7 is gone"))),
        _ => Ok(number),
    })
}

#[test]
fn a_stream_of_unknown_length_is_read_to_its_end() {
    for workers in [0, 1, 4] {
        let builder = DataLoaderBuilder::new(Items)
            .batch_size(4)
            .num_workers(workers);
        let loader = builder.build_iterable(stream);
        assert_eq!(loader.num_items(), 0);
        for _ in 0..2 {
            let mut epoch = loader.iter();
            let first = epoch.next().expect("there is a batch");
            assert_eq!(first.expect("it can be read"), [0, 1, 2, 3]);
            assert!(!epoch.progress().is_completed());
            let rest: Vec<_> = epoch.by_ref().collect();
            let error = rest[0].as_ref().expect_err("one cannot be read");
            assert!(error.to_string().contains("7 is gone"), "{error}");
            let rest: Vec<_> = rest.into_iter().flatten().collect();
            assert_eq!(rest, [vec![4, 5, 6, 8], vec![9]]);
            assert!(epoch.progress().is_completed());
            assert_eq!(epoch.progress().items_total, 10);
        }
    }
}

#[test]
fn a_stream_is_shuffled_by_its_seed() {
    let numbers = || (0..1000).map(Ok);
    let epochs = |seed, workers| {
        let builder = DataLoaderBuilder::new(Items)
            .batch_size(4)
            .shuffle(seed)
            .num_workers(workers);
        let loader = builder.build_iterable(numbers);
        [epoch(&loader).concat(), epoch(&loader).concat()]
    };
    let [first, second] = epochs(1, 0);
    assert_ne!(first, second);
    assert_eq!([first.clone(), second], epochs(1, 1));
    assert_ne!(first, epochs(2, 0)[0]);
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..1000));
    // 64 batches of 4 change places: no item comes earlier than that.
    assert!(
        first
            .iter()
            .enumerate()
            .all(|(place, &item)| item < place + 256)
    );
}

#[test]
fn a_stream_is_cut_between_devices() {
    let loader = DataLoaderBuilder::new(Items)
        .batch_size(3)
        .build_iterable(|| (0..10).map(Ok));
    assert_eq!(epoch(&loader.slice(2, 6)).concat(), [2, 3, 4, 5]);
    let part = loader.slice(2, 9).slice(1, 100).to_device(&Device::flex());
    assert_eq!(epoch(&part).concat(), [3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_loader_is_split_between_devices_without_loss() {
    let devices = [Device::flex(), Device::flex()];
    let parts = split_dataloader(loader(11, 3, 0, None), &devices);
    let items: Vec<Vec<usize>> = parts.iter().map(|part| epoch(part).concat()).collect();
    assert_eq!(items, [(0..5).collect::<Vec<_>>(), (5..11).collect()]);
    assert_eq!(split_dataloader(loader(11, 3, 0, None), &[]).len(), 1);
}

#[test]
#[should_panic(expected = "a batch cannot have 0 items")]
fn a_batch_of_no_items_is_refused() {
    let _ = loader(3, 0, 0, None);
}
