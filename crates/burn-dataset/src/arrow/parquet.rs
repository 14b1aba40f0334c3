//! Parquet files.

use core::marker::PhantomData;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::PageIndexPolicy;
use serde::de::DeserializeOwned;

use super::chunks::{Chunks, Source, guarded, invalid};
use crate::{Dataset, DatasetError};

/// Rows that are read at once: a file may hold any number of them in few bytes.
const ROWS: usize = 1024;

/// Parts beyond which a file is not believed: a billion rows.
const MOST_PARTS: usize = 1 << 20;

/// The rows of a Parquet file. Some are read at once when one of them is asked for, and some of these parts are kept.
pub struct ParquetDataset<I> {
    rows: Chunks<Parts>,
    item: PhantomData<fn() -> I>,
}

impl<I> ParquetDataset<I> {
    /// Reads what the file at `path` says of itself; its pages may be compressed by Snappy, gzip or LZ4.
    ///
    /// # Errors
    /// If the file cannot be read or is none of Parquet; names the file.
    pub fn new<P: AsRef<Path>>(path: P) -> Result<Self, io::Error> {
        let (parts, lens) = Parts::open(path.as_ref())?;
        Ok(Self {
            rows: Chunks::new(parts, lens)?,
            item: PhantomData,
        })
    }

    /// Sets how many parts of 1024 rows are kept in memory: 4, if nothing is said.
    pub fn with_kept_parts(mut self, parts: usize) -> Self {
        self.rows.keep(parts);
        self
    }
}

impl<I: DeserializeOwned + Send + Sync> Dataset<I> for ParquetDataset<I> {
    fn get(&self, index: usize) -> Result<I, DatasetError> {
        self.rows.get("ParquetDataset", index)
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<I>, DatasetError> {
        self.rows.get_many("ParquetDataset", &indices)
    }
}

/// Parts of row groups.
struct Parts {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    parts: Vec<Part>,
}

struct Part {
    group: usize,
    /// The first row, counted from that of the group.
    start: usize,
    len: usize,
}

impl Parts {
    fn open(path: &Path) -> io::Result<(Self, Vec<usize>)> {
        let file = open(path)?;
        guarded(path, || {
            let options =
                ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
            let metadata = ArrowReaderMetadata::load(&file, options);
            let metadata = metadata.map_err(|error| invalid(path, error))?;
            let mut parts = Vec::new();
            for (group, rows) in metadata.metadata().row_groups().iter().enumerate() {
                let rows = usize::try_from(rows.num_rows());
                let rows = rows.map_err(|_| invalid(path, "a row group has less than no rows"))?;
                if parts.len() + rows / ROWS > MOST_PARTS {
                    let problem = format_args!("row group {group} claims {rows} rows");
                    return Err(invalid(path, problem));
                }
                parts.extend((0..rows).step_by(ROWS).map(|start| Part {
                    group,
                    start,
                    len: ROWS.min(rows - start),
                }));
            }
            let lens = parts.iter().map(|part| part.len).collect();
            let path = path.to_owned();
            Ok((
                Self {
                    path,
                    metadata,
                    parts,
                },
                lens,
            ))
        })
    }
}

impl Source for Parts {
    fn path(&self) -> &Path {
        &self.path
    }

    fn chunk(&self, number: usize) -> io::Result<RecordBatch> {
        let path = &self.path;
        let part = &self.parts[number];
        let fail = |problem: &dyn core::fmt::Display| {
            invalid(path, format_args!("row group {}: {problem}", part.group))
        };
        // A file of its own, since threads that share one would move each other's position.
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(open(path)?, self.metadata.clone())
                .with_row_groups(vec![part.group])
                .with_offset(part.start)
                .with_limit(part.len)
                .with_batch_size(part.len);
        let mut reader = reader.build().map_err(|error| fail(&error))?;
        let batch = reader.next().ok_or_else(|| fail(&"rows are missing"))?;
        batch.map_err(|error| fail(&error))
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::open(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
