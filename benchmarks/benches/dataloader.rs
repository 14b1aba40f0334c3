//! An epoch of a loader whose items cost a millisecond of computing each: how well threads share it.

use std::hint::black_box;
use std::sync::Arc;

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::{Dataset, DatasetError};
use burn::tensor::Device;
use divan::Bencher;

fn main() {
    divan::main();
}

/// Items that are computed when they are read.
struct Computed;

impl Dataset<u64> for Computed {
    fn get(&self, index: usize) -> Result<u64, DatasetError> {
        // xorshift (Marsaglia, 2003): each step waits for the last, so that it is the core that is measured.
        let step = |state: u64, _| {
            let state = state ^ (state << 13);
            let state = state ^ (state >> 7);
            black_box(state ^ (state << 17))
        };
        Ok((0..400_000).fold(index as u64 + 1, step))
    }

    fn len(&self) -> usize {
        400
    }
}

struct Sum;

impl Batcher<u64, u64> for Sum {
    fn batch(&self, items: Vec<u64>, _device: &Device) -> u64 {
        items.into_iter().fold(0, u64::wrapping_add)
    }
}

#[divan::bench(args = [0, 1, 2, 4], sample_count = 5, sample_size = 1)]
fn epoch(bencher: Bencher, workers: usize) {
    let builder = DataLoaderBuilder::new(Sum).batch_size(8).shuffle(1);
    let loader: Arc<dyn DataLoader<u64>> = builder.num_workers(workers).build(Computed);
    bencher.bench(|| loader.iter().filter(Result::is_ok).count());
}
