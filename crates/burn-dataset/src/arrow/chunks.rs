//! Rows by their index, over whatever gives them in chunks.
//!
//! Readers check much of what a file says, but not everything without a panic: one in a reader becomes an error.

use core::fmt::Display;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use serde::de::DeserializeOwned;

use super::row;
use crate::DatasetError;
use crate::dataset::check_index;

/// Chunks that are kept unless somebody says otherwise.
const KEPT: usize = 4;

/// Whatever gives rows in chunks.
pub(super) trait Source: Send + Sync {
    /// Where the chunks come from.
    fn path(&self) -> &Path;

    /// Reads the chunk of this number.
    fn chunk(&self, number: usize) -> io::Result<RecordBatch>;
}

/// The rows of all chunks, some of which are in memory.
pub(super) struct Chunks<S> {
    source: S,
    /// For each chunk, the index of the first row behind it.
    ends: Vec<usize>,
    kept: usize,
    /// With their numbers; the one used last is at the end.
    recent: Mutex<Vec<(usize, Arc<RecordBatch>)>>,
}

impl<S: Source> Chunks<S> {
    /// The rows of chunks of these lengths.
    pub fn new(source: S, lens: Vec<usize>) -> io::Result<Self> {
        let mut len = 0usize;
        let end = |part: usize| {
            len = len
                .checked_add(part)
                .filter(|&len| len < isize::MAX as usize)?;
            Some(len)
        };
        let ends: Option<Vec<_>> = lens.into_iter().map(end).collect();
        let ends =
            ends.ok_or_else(|| invalid(source.path(), "it claims more rows than can be counted"))?;
        Ok(Self {
            source,
            ends,
            kept: KEPT,
            recent: Mutex::default(),
        })
    }

    pub fn keep(&mut self, chunks: usize) {
        self.kept = chunks;
    }

    pub fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    pub fn get<I: DeserializeOwned>(&self, dataset: &str, index: usize) -> Result<I, DatasetError> {
        check_index(dataset, index, self.len());
        let number = self.number(index);
        let chunk = self.chunk(number).map_err(DatasetError::new)?;
        self.item(&chunk, number, index)
    }

    /// Reads items chunk by chunk, whatever the order of the indices.
    pub fn get_many<I: DeserializeOwned>(
        &self,
        dataset: &str,
        indices: &[usize],
    ) -> Result<Vec<I>, DatasetError> {
        for &index in indices {
            check_index(dataset, index, self.len());
        }
        let mut order: Vec<usize> = (0..indices.len()).collect();
        order.sort_by_key(|&position| indices[position]);
        let mut items: Vec<Option<I>> = indices.iter().map(|_| None).collect();
        let mut current: Option<(usize, Arc<RecordBatch>)> = None;
        for position in order {
            let number = self.number(indices[position]);
            let chunk = match &current {
                Some((last, chunk)) if *last == number => chunk,
                _ => {
                    let chunk = self.chunk(number).map_err(DatasetError::new)?;
                    &current.insert((number, chunk)).1
                }
            };
            items[position] = Some(self.item(chunk, number, indices[position])?);
        }
        Ok(items.into_iter().flatten().collect())
    }

    /// The chunk that the row is in.
    fn number(&self, index: usize) -> usize {
        self.ends.partition_point(|&end| end <= index)
    }

    fn item<I: DeserializeOwned>(
        &self,
        chunk: &RecordBatch,
        number: usize,
        index: usize,
    ) -> Result<I, DatasetError> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let row = || row::read(chunk, index - start);
        let item =
            catch_unwind(AssertUnwindSafe(row)).unwrap_or_else(|_| Err(row::Error::damaged()));
        item.map_err(|error| {
            let text = format!("row {index}, {error}");
            DatasetError::new(invalid(self.source.path(), text))
        })
    }

    fn chunk(&self, number: usize) -> io::Result<Arc<RecordBatch>> {
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut recent = recent();
            if let Some(at) = recent.iter().position(|(kept, _)| *kept == number) {
                let found = recent.remove(at);
                recent.push(found);
                return Ok(recent[recent.len() - 1].1.clone());
            }
        }
        // Without the lock, so that threads may read different chunks at once.
        let chunk = guarded(self.source.path(), || self.source.chunk(number))?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let expected = self.ends[number] - start;
        if chunk.num_rows() != expected {
            let text = format!("a part of {expected} rows has {} of them", chunk.num_rows());
            return Err(invalid(self.source.path(), text));
        }
        let chunk = Arc::new(chunk);
        let mut recent = recent();
        recent.push((number, chunk.clone()));
        let surplus = recent.len().saturating_sub(self.kept);
        recent.drain(..surplus);
        Ok(chunk)
    }
}

/// Makes a panic of a reader an error.
pub(super) fn guarded<T>(path: &Path, read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let answer = catch_unwind(AssertUnwindSafe(read));
    answer.unwrap_or_else(|_| Err(invalid(path, "it is damaged")))
}

/// The error of a file that is not what it should be.
pub(super) fn invalid(path: &Path, problem: impl Display) -> io::Error {
    let text = format!("{}: {problem}", path.display());
    io::Error::new(io::ErrorKind::InvalidData, text)
}
