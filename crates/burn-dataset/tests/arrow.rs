//! Arrow and Parquet files: every type that can be read, any order, damage.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, Float64Array, RecordBatch, StringArray,
    StructArray, TimestampMillisecondArray, UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use burn_dataset::Dataset;
use burn_dataset::arrow::{ArrowDataset, ParquetDataset};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel};
use parquet::file::properties::WriterProperties;
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Item {
    id: u8,
    name: String,
    score: Option<f32>,
    good: bool,
    time: i64,
    kind: Kind,
    bytes: Vec<u8>,
    tokens: Vec<i32>,
    place: Place,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
enum Kind {
    Plain,
    Odd,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Place {
    x: f64,
}

fn item(id: u8) -> Item {
    Item {
        id,
        name: format!("item {id}"),
        score: (id % 3 != 0).then_some(f32::from(id) / 2.0),
        good: id % 2 == 0,
        time: i64::from(id) * 1000,
        kind: if id % 2 == 0 { Kind::Plain } else { Kind::Odd },
        bytes: vec![id; 3],
        tokens: (0..i32::from(id % 4)).collect(),
        place: Place {
            x: f64::from(id) + 0.25,
        },
    }
}

fn batch(ids: std::ops::Range<u8>) -> RecordBatch {
    let items: Vec<Item> = ids.map(item).collect();
    let mut tokens = ListBuilder::new(Int32Builder::new());
    for item in &items {
        tokens.append_value(item.tokens.iter().copied().map(Some));
    }
    let kinds = items.iter().map(|item| {
        if item.kind == Kind::Odd {
            "Odd"
        } else {
            "Plain"
        }
    });
    let x: ArrayRef = Arc::new(Float64Array::from_iter_values(
        items.iter().map(|item| item.place.x),
    ));
    let place = StructArray::try_from(vec![("x", x)]).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("tokens", Arc::new(tokens.finish())),
        (
            "id",
            Arc::new(UInt8Array::from_iter_values(
                items.iter().map(|item| item.id),
            )),
        ),
        (
            "name",
            Arc::new(StringArray::from_iter_values(
                items.iter().map(|item| &item.name),
            )),
        ),
        (
            "score",
            Arc::new(Float64Array::from_iter(
                items.iter().map(|item| item.score.map(f64::from)),
            )),
        ),
        (
            "good",
            Arc::new(BooleanArray::from_iter(
                items.iter().map(|item| Some(item.good)),
            )),
        ),
        (
            "time",
            Arc::new(TimestampMillisecondArray::from_iter_values(
                items.iter().map(|item| item.time),
            )),
        ),
        (
            "kind",
            Arc::new(kinds.collect::<DictionaryArray<Int8Type>>()),
        ),
        (
            "bytes",
            Arc::new(BinaryArray::from_iter_values(
                items.iter().map(|item| &item.bytes),
            )),
        ),
        ("place", Arc::new(place)),
        (
            "unread",
            Arc::new(StringArray::from_iter_values(items.iter().map(|_| "x"))),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

const BATCHES: [std::ops::Range<u8>; 3] = [0..50, 50..51, 51..120];

fn file(path: &Path, compression: Option<CompressionType>) {
    let options = IpcWriteOptions::default()
        .try_with_compression(compression)
        .unwrap();
    let schema = batch(0..1).schema();
    let mut writer =
        FileWriter::try_new_with_options(File::create(path).unwrap(), &schema, options).unwrap();
    // The same dictionary in each batch, as a file needs it.
    let whole = batch(0..120);
    for range in BATCHES {
        writer
            .write(&whole.slice(range.start.into(), range.len()))
            .unwrap();
    }
    writer.finish().unwrap();
}

fn stream(path: &Path) {
    let whole = batch(0..120);
    let mut writer = StreamWriter::try_new(File::create(path).unwrap(), &whole.schema()).unwrap();
    for range in BATCHES {
        writer
            .write(&whole.slice(range.start.into(), range.len()))
            .unwrap();
    }
    writer.finish().unwrap();
}

fn parquet(path: &Path, compression: Compression) {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(50));
    let whole = batch(0..120);
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, whole.schema(), Some(properties.build())).unwrap();
    writer.write(&whole).unwrap();
    writer.close().unwrap();
}

/// Opens a file of either kind, by its name.
fn open(path: &Path) -> std::io::Result<Box<dyn Dataset<Item>>> {
    Ok(
        match path
            .extension()
            .is_some_and(|extension| extension == "parquet")
        {
            true => Box::new(ParquetDataset::new(path)?),
            false => Box::new(ArrowDataset::new(path)?),
        },
    )
}

/// The same items in every format.
fn files(dir: &Path) -> Vec<PathBuf> {
    let named = |name: &str| dir.join(name);
    file(&named("plain.arrow"), None);
    file(&named("lz4.arrow"), Some(CompressionType::LZ4_FRAME));
    stream(&named("stream.arrow"));
    parquet(&named("plain.parquet"), Compression::UNCOMPRESSED);
    parquet(&named("snappy.parquet"), Compression::SNAPPY);
    parquet(
        &named("gzip.parquet"),
        Compression::GZIP(GzipLevel::default()),
    );
    parquet(&named("lz4.parquet"), Compression::LZ4_RAW);
    let names = [
        "plain.arrow",
        "lz4.arrow",
        "stream.arrow",
        "plain.parquet",
        "snappy.parquet",
        "gzip.parquet",
        "lz4.parquet",
    ];
    names.map(named).to_vec()
}

#[test]
fn every_format_and_compression_gives_the_same_items() {
    let dir = tempfile::tempdir().unwrap();
    for path in files(dir.path()) {
        let items = open(&path).unwrap();
        assert_eq!(items.len(), 120, "{}", path.display());
        for id in 0..120 {
            assert_eq!(
                items.get(id.into()).unwrap(),
                item(id),
                "{}",
                path.display()
            );
        }
        let many = items.get_many(vec![119, 3, 50, 3]).unwrap();
        assert_eq!(many, [item(119), item(3), item(50), item(3)]);
    }
}

#[test]
fn a_field_of_the_wrong_type_is_named_with_file_and_row() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is not read")]
    struct Wrong {
        place: WrongPlace,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is not read")]
    struct WrongPlace {
        x: bool,
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.arrow");
    file(&path, None);
    let error = ArrowDataset::<Wrong>::new(&path)
        .unwrap()
        .get(60)
        .unwrap_err()
        .to_string();
    let expected =
        "row 60, column `place.x`: invalid type: floating point `60.25`, expected a boolean";
    assert_eq!(error, format!("{}: {expected}", path.display()));
}

#[test]
fn a_missing_column_and_a_missing_value_are_named() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is not read")]
    struct More {
        colour: String,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is not read")]
    struct Always {
        score: f32,
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.parquet");
    parquet(&path, Compression::SNAPPY);
    let error = ParquetDataset::<More>::new(&path)
        .unwrap()
        .get(0)
        .unwrap_err()
        .to_string();
    assert!(error.contains("row 0, missing field `colour`"), "{error}");
    let error = ParquetDataset::<Always>::new(&path)
        .unwrap()
        .get(3)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("row 3, column `score`: invalid type: unit value, expected f32"),
        "{error}"
    );
}

#[test]
fn what_is_no_such_file_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["x.arrow", "x.parquet"] {
        let path = dir.path().join(name);
        let missing = open(&path).map(|_| ()).unwrap_err();
        assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
        for content in [
            &b""[..],
            b"x",
            b"hello, world",
            b"PAR1PAR1",
            b"ARROW1\0\0",
            &[0xff; 64],
            &[0; 64],
        ] {
            fs::write(&path, content).unwrap();
            let error = open(&path).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}

#[test]
fn a_message_that_claims_more_than_there_is_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.arrow");
    // A head of nearly 2 GB, then one of nearly 4.
    for len in [i32::MAX as u32, u32::MAX - 1] {
        fs::write(&path, [u32::MAX.to_le_bytes(), len.to_le_bytes()].concat()).unwrap();
        let error = open(&path).map(|_| ()).unwrap_err().to_string();
        assert!(
            error.contains(&format!("a message claims {len} bytes, 8 are left")),
            "{error}"
        );
    }
}

#[test]
fn a_damaged_file_is_an_error_or_other_items() {
    let dir = tempfile::tempdir().unwrap();
    for (number, path) in files(dir.path()).into_iter().enumerate() {
        let whole = fs::read(&path).unwrap();
        let mut noticed = 0;
        for round in 0..60 {
            // A fixed spread over the file: 7919 is prime.
            let at = (round * 7919 + number * 31) % whole.len();
            let mut bytes = whole.clone();
            match round % 3 {
                0 => bytes.truncate(at),
                1 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
                _ => bytes[at] ^= 0x41,
            }
            fs::write(&path, bytes).unwrap();
            let read = || {
                let items = open(&path).ok()?;
                items.get_many((0..items.len().min(200)).collect()).ok()
            };
            noticed += usize::from(read().is_none());
        }
        assert!(
            noticed > 8,
            "{noticed} of 60 were noticed in {}",
            path.display()
        );
    }
}

#[test]
fn a_compressed_buffer_that_claims_too_much_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.arrow");
    file(&path, Some(CompressionType::LZ4_FRAME));
    let mut bytes = fs::read(&path).unwrap();
    // An LZ4 frame begins with its magic number; the length that it should have is before it.
    let frame = bytes
        .windows(4)
        .position(|window| window == 0x184d_2204u32.to_le_bytes())
        .unwrap();
    bytes[frame - 8..frame].copy_from_slice(&(1i64 << 60).to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let error = ArrowDataset::<Item>::new(&path)
        .and_then(|items| items.get(0).map_err(std::io::Error::other));
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("claims to hold 1152921504606846976"),
        "{error}"
    );
}
