//! [`BatchStrategy`]: when there are enough items for a batch.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

/// Gathers items until they make a batch.
pub trait BatchStrategy<I>: Send + Sync {
    /// Takes an item.
    fn add(&mut self, item: I);

    /// The items of a batch if there are enough, or, with `force`, if there is any.
    fn batch(&mut self, force: bool) -> Option<Vec<I>>;

    /// A new strategy of the same kind, without items.
    fn clone_dyn(&self) -> Box<dyn BatchStrategy<I>>;

    /// The number of items in a batch, if it is always the same.
    fn batch_size(&self) -> Option<usize>;
}

/// Batches of the same size; the last one may be smaller.
pub struct FixBatchStrategy<I> {
    items: Vec<I>,
    size: usize,
}

impl<I> FixBatchStrategy<I> {
    /// Batches of `size` items.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    pub fn new(size: usize) -> Self {
        assert!(size > 0, "a batch cannot have 0 items");
        Self {
            items: Vec::new(),
            size,
        }
    }
}

impl<I: Send + Sync + 'static> BatchStrategy<I> for FixBatchStrategy<I> {
    fn add(&mut self, item: I) {
        self.items.push(item);
    }

    fn batch(&mut self, force: bool) -> Option<Vec<I>> {
        let enough = self.items.len() >= self.size || (force && !self.items.is_empty());
        enough.then(|| {
            let rest = self.items.split_off(self.items.len().min(self.size));
            mem::replace(&mut self.items, rest)
        })
    }

    fn clone_dyn(&self) -> Box<dyn BatchStrategy<I>> {
        Box::new(Self::new(self.size))
    }

    fn batch_size(&self) -> Option<usize> {
        Some(self.size)
    }
}
