//! Files with a row of text for each item: CSV, and JSON values by the line. Read row by row, so that a file may be
//! larger than memory.

use core::fmt::Display;
use core::iter;
use core::marker::PhantomData;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::{Reader, ReaderBuilder, StringRecord};
use serde::de::DeserializeOwned;

use crate::{DatasetError, IterableDataset};

/// Bytes of a line of JSON beyond which the file is taken for something else.
const LONGEST_LINE: u64 = 1 << 28;

/// The rows of a CSV file, read anew for each pass.
#[derive(Clone, Debug)]
pub struct CsvRows<I> {
    path: PathBuf,
    format: Arc<ReaderBuilder>,
    item: PhantomData<fn() -> I>,
}

impl<I> CsvRows<I> {
    /// The rows of the file at `path`; `format` says what separates its fields, and whether its first row names them.
    pub fn new<P: AsRef<Path>>(path: P, format: ReaderBuilder) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            format: Arc::new(format),
            item: PhantomData,
        }
    }
}

impl<I: DeserializeOwned + 'static> IterableDataset<I> for CsvRows<I> {
    fn stream(&self) -> Box<dyn Iterator<Item = Result<I, DatasetError>> + Send> {
        streamed(csv_rows(&self.path, &self.format))
    }
}

/// The values of a file with one JSON value a line, read anew for each pass. Empty lines are skipped.
#[derive(Clone, Debug)]
pub struct JsonRows<I> {
    path: PathBuf,
    item: PhantomData<fn() -> I>,
}

impl<I> JsonRows<I> {
    /// The values of the file at `path`.
    pub fn new<P: AsRef<Path>>(path: P) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            item: PhantomData,
        }
    }
}

impl<I: DeserializeOwned + 'static> IterableDataset<I> for JsonRows<I> {
    fn stream(&self) -> Box<dyn Iterator<Item = Result<I, DatasetError>> + Send> {
        streamed(json_rows(&self.path))
    }
}

/// A file that cannot be opened is a stream of one error.
fn streamed<I: 'static>(
    rows: io::Result<impl Iterator<Item = io::Result<I>> + Send + 'static>,
) -> Box<dyn Iterator<Item = Result<I, DatasetError>> + Send> {
    match rows {
        Ok(rows) => Box::new(rows.map(|row| row.map_err(DatasetError::new))),
        Err(error) => Box::new(iter::once(DatasetError::new(error)).map(Err)),
    }
}

/// The items of a CSV file. Errors name the file, the line and, where there is one to blame, the field.
pub(crate) fn csv_rows<I: DeserializeOwned>(
    path: &Path,
    format: &ReaderBuilder,
) -> io::Result<impl Iterator<Item = io::Result<I>> + use<I>> {
    let file = open(path)?;
    let mut reader = format.from_reader(file);
    let names = match reader.has_headers() {
        true => Some(
            reader
                .headers()
                .map_err(|error| csv_error(path, &error))?
                .clone(),
        ),
        false => None,
    };
    let path = path.to_owned();
    let mut record = StringRecord::new();
    Ok(iter::from_fn(move || {
        next_record(&mut reader, &mut record)
            .map_err(|error| csv_error(&path, &error))
            .and_then(|more| {
                let item = more.then(|| record.deserialize(names.as_ref()));
                item.transpose()
                    .map_err(|error| field_error(&path, &record, names.as_ref(), &error))
            })
            .transpose()
    }))
}

fn next_record(reader: &mut Reader<File>, record: &mut StringRecord) -> csv::Result<bool> {
    reader.read_record(record)
}

fn csv_error(path: &Path, error: &csv::Error) -> io::Error {
    let kind = match error.kind() {
        csv::ErrorKind::Io(error) => error.kind(),
        _ => io::ErrorKind::InvalidData,
    };
    // The reader's own text says the line.
    io::Error::new(kind, format!("{}: {error}", path.display()))
}

fn field_error(
    path: &Path,
    record: &StringRecord,
    names: Option<&StringRecord>,
    error: &csv::Error,
) -> io::Error {
    let line = record.position().map_or(0, csv::Position::line);
    let csv::ErrorKind::Deserialize { err, .. } = error.kind() else {
        return csv_error(path, error);
    };
    let field = match err.field() {
        Some(index) => {
            let index = index as usize;
            let name = names.and_then(|names| names.get(index));
            let name = name.map_or_else(|| index.to_string(), |name| format!("`{name}`"));
            let value = record.get(index).unwrap_or_default();
            format!(", field {name} with value {value:?}")
        }
        None => String::new(),
    };
    at(path, format_args!(", line {line}{field}"), err.kind())
}

/// The items of a file with one JSON value a line. Errors name the file and the line; the column and the field are in
/// the parser's own text.
pub(crate) fn json_rows<I: DeserializeOwned>(
    path: &Path,
) -> io::Result<impl Iterator<Item = io::Result<I>> + use<I>> {
    let mut reader = BufReader::new(open(path)?);
    let path = path.to_owned();
    let mut number = 0;
    let mut line = Vec::new();
    let mut broken = false;
    Ok(iter::from_fn(move || {
        while !broken {
            number += 1;
            line.clear();
            let read = (&mut reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line);
            let place = format_args!(", line {number}").to_string();
            match read {
                Ok(0) => return None,
                Ok(count) if count as u64 == LONGEST_LINE => {
                    broken = true;
                    let problem =
                        format_args!("the line is longer than {LONGEST_LINE} bytes").to_string();
                    return Some(Err(at(&path, place, problem)));
                }
                Ok(_) if line.trim_ascii().is_empty() => {}
                Ok(_) => {
                    let item = serde_json::from_slice(&line);
                    return Some(item.map_err(|error| at(&path, place, error)));
                }
                Err(error) => {
                    broken = true;
                    return Some(Err(io::Error::new(
                        error.kind(),
                        format!("{}{place}: {error}", path.display()),
                    )));
                }
            }
        }
        None
    }))
}

fn open(path: &Path) -> io::Result<File> {
    File::open(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn at(path: &Path, place: impl Display, problem: impl Display) -> io::Error {
    let text = format!("{}{place}: {problem}", path.display());
    io::Error::new(io::ErrorKind::InvalidData, text)
}
