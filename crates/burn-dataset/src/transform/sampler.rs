//! Random draws from a dataset. The order changes with every pass; [`ShuffledDataset`] keeps one.
//!
//! [`ShuffledDataset`]: super::ShuffledDataset

use core::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::{RngSource, SizeConfig};
use crate::dataset::check_index;
use crate::{Dataset, DatasetError};

/// How a [`SamplerDataset`] draws. The default draws as many items as there are, with replacement, differently in
/// each run.
#[derive(Debug)]
pub struct SamplerDatasetOptions {
    /// Whether an item goes back into the urn after it was drawn.
    pub replace_samples: bool,
    /// How many draws make a pass.
    pub size_config: SizeConfig,
    /// Where the draws come from.
    pub rng_source: RngSource,
}

impl Default for SamplerDatasetOptions {
    fn default() -> Self {
        Self {
            replace_samples: true,
            size_config: SizeConfig::Default,
            rng_source: RngSource::Default,
        }
    }
}

impl SamplerDatasetOptions {
    /// Sets whether an item goes back into the urn after it was drawn.
    pub fn with_replace_samples(mut self, replace_samples: bool) -> Self {
        self.replace_samples = replace_samples;
        self
    }

    /// Puts an item back into the urn after it was drawn.
    pub fn with_replacement(self) -> Self {
        self.with_replace_samples(true)
    }

    /// Draws each item once before any is drawn again.
    pub fn without_replacement(self) -> Self {
        self.with_replace_samples(false)
    }

    /// Sets where the draws come from.
    pub fn with_rng<R>(mut self, rng_source: R) -> Self
    where
        R: Into<RngSource>,
    {
        self.rng_source = rng_source.into();
        self
    }

    /// Draws differently in each run.
    pub fn with_system_rng(self) -> Self {
        self.with_rng(RngSource::Default)
    }

    /// Draws the same items in each run.
    pub fn with_seed(self, seed: u64) -> Self {
        self.with_rng(seed)
    }

    /// Sets how many draws make a pass.
    pub fn with_size<S>(mut self, size: S) -> Self
    where
        S: Into<SizeConfig>,
    {
        self.size_config = size.into();
        self
    }

    /// Draws as many items a pass as the source has.
    pub fn with_source_size(self) -> Self {
        self.with_size(SizeConfig::source())
    }

    /// Draws `size` items a pass.
    pub fn with_fixed_size(self, size: usize) -> Self {
        self.with_size(size)
    }

    /// Draws `ratio` times as many items a pass as the source has.
    pub fn with_size_ratio(self, ratio: f64) -> Self {
        self.with_size(ratio)
    }
}

/// The default with a fixed number of draws.
impl From<usize> for SamplerDatasetOptions {
    fn from(size: usize) -> Self {
        Self::default().with_fixed_size(size)
    }
}

/// The default where there is nothing.
impl<T> From<Option<T>> for SamplerDatasetOptions
where
    T: Into<SamplerDatasetOptions>,
{
    fn from(options: Option<T>) -> Self {
        options.map_or_else(Self::default, T::into)
    }
}

/// Random draws from a dataset.
///
/// Reading any index draws the next item, so that each pass over the dataset sees other draws. Without
/// replacement each pass starts with a full urn: up to the size of the source no item of a pass repeats, and beyond
/// it every item comes equally often, give or take one.
pub struct SamplerDataset<D, I> {
    dataset: D,
    size: usize,
    replace_samples: bool,
    state: Mutex<State>,
    item: PhantomData<I>,
}

struct State {
    rng: StdRng,
    /// Indices not drawn yet, drawn from the end; stays empty with replacement.
    urn: Vec<usize>,
    /// Draws until the pass ends.
    left: usize,
}

impl<D, I> SamplerDataset<D, I>
where
    D: Dataset<I>,
    I: Send + Sync,
{
    /// Draws from `dataset`; a number of draws is an option too.
    ///
    /// # Panics
    /// If there is to be a draw from an empty dataset.
    #[track_caller]
    pub fn new<O>(dataset: D, options: O) -> Self
    where
        O: Into<SamplerDatasetOptions>,
    {
        let options = options.into();
        let size = options.size_config.resolve(dataset.len());
        assert!(
            size == 0 || !dataset.is_empty(),
            "SamplerDataset: cannot draw {size} items from an empty dataset"
        );
        Self {
            dataset,
            size,
            replace_samples: options.replace_samples,
            state: Mutex::new(State {
                rng: options.rng_source.into(),
                urn: Vec::new(),
                left: size,
            }),
            item: PhantomData,
        }
    }

    /// Draws `size` items a pass and puts each back after it was drawn.
    #[track_caller]
    pub fn with_replacement(dataset: D, size: usize) -> Self {
        Self::new(
            dataset,
            SamplerDatasetOptions::from(size).with_replacement(),
        )
    }

    /// Draws `size` items a pass, each once before any is drawn again.
    #[track_caller]
    pub fn without_replacement(dataset: D, size: usize) -> Self {
        Self::new(
            dataset,
            SamplerDatasetOptions::from(size).without_replacement(),
        )
    }

    /// Whether an item goes back into the urn after it was drawn.
    pub fn is_with_replacement(&self) -> bool {
        self.replace_samples
    }

    /// Draws the next `count` indices.
    fn draw(&self, count: usize) -> Vec<usize> {
        // A draw leaves no state half-written that a later one could trip over.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (0..count)
            .map(|_| state.draw(&self.dataset, self.size, self.replace_samples))
            .collect()
    }
}

impl State {
    fn draw<I>(&mut self, dataset: &impl Dataset<I>, size: usize, replace: bool) -> usize {
        let len = dataset.len();
        if replace {
            return self.rng.random_range(0..len);
        }
        if self.left == 0 {
            self.left = size;
            self.urn.clear();
        }
        self.left -= 1;
        if self.urn.is_empty() {
            self.urn.extend(0..len);
            self.urn.shuffle(&mut self.rng);
        }
        self.urn
            .pop()
            .expect("the urn was just filled from a dataset that is not empty")
    }
}

impl<D, I> Dataset<I> for SamplerDataset<D, I>
where
    D: Dataset<I>,
    I: Send + Sync,
{
    fn get(&self, index: usize) -> Result<I, DatasetError> {
        check_index("SamplerDataset", index, self.size);
        self.dataset.get(self.draw(1)[0])
    }

    fn len(&self) -> usize {
        self.size
    }

    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<I>, DatasetError> {
        for &index in &indices {
            check_index("SamplerDataset", index, self.size);
        }
        self.dataset.get_many(self.draw(indices.len()))
    }
}
