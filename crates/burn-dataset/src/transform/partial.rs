//! A contiguous range of a dataset, and ways to cut one into such ranges.

use core::error::Error;
use core::marker::PhantomData;
use std::sync::Arc;

use super::equal_ranges;
use crate::Dataset;
use crate::dataset::check_index;

/// The items of a dataset from one index up to another.
#[derive(Clone, Debug)]
pub struct PartialDataset<D, I> {
    dataset: D,
    start: usize,
    end: usize,
    item: PhantomData<I>,
}

impl<D, I> PartialDataset<D, I> {
    /// The items `start..end` of `dataset`. An end beyond the last item is moved to it when items are read.
    ///
    /// # Panics
    /// If `start > end`.
    #[track_caller]
    pub fn new(dataset: D, start: usize, end: usize) -> Self {
        assert!(
            start <= end,
            "PartialDataset: range {start}..{end} ends before it starts"
        );
        Self {
            dataset,
            start,
            end,
            item: PhantomData,
        }
    }

    /// Cuts `dataset` into `num` parts of equal length; the last takes the rest.
    ///
    /// # Panics
    /// If `num` is zero.
    #[track_caller]
    pub fn split<E>(dataset: D, num: usize) -> Vec<PartialDataset<Arc<D>, I>>
    where
        D: Dataset<I, E>,
        E: Error + Send + Sync + 'static,
    {
        let dataset = Arc::new(dataset);
        equal_ranges(dataset.len(), num)
            .map(|range| PartialDataset::new(dataset.clone(), range.start, range.end))
            .collect()
    }

    /// Cuts `dataset` into at most `num` parts with an equal number of whole batches of `batch_size` items, give or
    /// take one; only the last batch of all may be smaller. Parts that would be empty are left out.
    ///
    /// # Panics
    /// If `num` or `batch_size` is zero.
    #[track_caller]
    pub fn split_chunks<E>(
        dataset: D,
        num: usize,
        batch_size: usize,
    ) -> Vec<PartialDataset<Arc<D>, I>>
    where
        D: Dataset<I, E>,
        E: Error + Send + Sync + 'static,
    {
        assert!(num > 0, "a dataset cannot be split into 0 parts");
        assert!(batch_size > 0, "a batch cannot have 0 items");
        let len = dataset.len();
        let batches = len.div_ceil(batch_size);
        let dataset = Arc::new(dataset);
        let mut start = 0;
        (0..num.min(batches))
            .map(|part| {
                // The first parts take one of the batches that do not divide evenly.
                let size = (batches / num + usize::from(part < batches % num)) * batch_size;
                let end = (start + size).min(len);
                PartialDataset::new(dataset.clone(), core::mem::replace(&mut start, end), end)
            })
            .collect()
    }
}

impl<D, I, E> Dataset<I, E> for PartialDataset<D, I>
where
    D: Dataset<I, E>,
    I: Clone + Send + Sync,
    E: Error + Send + Sync + 'static,
{
    fn get(&self, index: usize) -> Result<I, E> {
        check_index("PartialDataset", index, self.len());
        self.dataset.get(self.start + index)
    }

    fn len(&self) -> usize {
        self.end.min(self.dataset.len()).saturating_sub(self.start)
    }

    fn get_many(&self, mut indices: Vec<usize>) -> Result<Vec<I>, E> {
        let len = self.len();
        for index in &mut indices {
            check_index("PartialDataset", *index, len);
            *index += self.start;
        }
        self.dataset.get_many(indices)
    }
}
