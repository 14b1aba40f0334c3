//! Datasets in databases: what is written is read, by many threads, and what is wrong is named.

use std::fs;
use std::path::Path;
use std::thread;

use burn_dataset::{
    Dataset, RowError, SqliteDataset, SqliteDatasetError, SqliteDatasetStorage, SqliteDatasetWriter,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Item {
    name: String,
    values: Vec<f32>,
    kind: Kind,
    note: Option<u64>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
enum Kind {
    Plain,
    Sized { width: u8 },
}

fn item(index: usize) -> Item {
    Item {
        name: format!("item {index}"),
        values: vec![index as f32, 0.5],
        kind: match index % 2 {
            0 => Kind::Plain,
            _ => Kind::Sized { width: index as u8 },
        },
        note: (index % 3 == 0).then_some(index as u64),
    }
}

/// Files of a folder, without what is inside.
fn names(dir: &Path) -> Vec<String> {
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

/// A database of `train` with so many items, and an empty split.
fn written(path: &Path, len: usize) {
    let mut writer = SqliteDatasetWriter::<Item>::new(path, false).unwrap();
    for index in 0..len {
        assert_eq!(writer.write("train", &item(index)).unwrap(), index);
    }
    writer.write("test \"quoted\"", &item(7)).unwrap();
    writer.set_completed().unwrap();
}

#[test]
fn what_is_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("below/items.db");
    // More than are written together.
    written(&path, 2500);
    assert_eq!(names(path.parent().unwrap()), ["items.db"]);

    let train = SqliteDataset::<Item>::from_db_file(&path, "train").unwrap();
    assert_eq!(
        (train.len(), train.split(), train.db_file()),
        (2500, "train", path.clone())
    );
    for (index, read) in train.iter().enumerate().step_by(333) {
        assert_eq!(read.unwrap(), item(index));
    }
    assert_eq!(
        train.get_many(vec![2499, 0, 2499]).unwrap(),
        [item(2499), item(0), item(2499)]
    );
    let test = SqliteDataset::<Item>::from_db_file(&path, "test \"quoted\"").unwrap();
    assert_eq!(test.get(0).unwrap(), item(7));
    assert_eq!(
        names(path.parent().unwrap()),
        ["items.db"],
        "reading leaves nothing behind"
    );
}

#[test]
fn threads_read_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.db");
    written(&path, 100);
    let train = &SqliteDataset::<Item>::from_db_file(&path, "train").unwrap();
    thread::scope(|scope| {
        for start in 0..4 {
            scope.spawn(move || {
                for index in (start..100).step_by(3) {
                    assert_eq!(train.get(index).unwrap(), item(index));
                }
            });
        }
    });
}

#[test]
fn threads_write_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let storage = SqliteDatasetStorage::from_name("a/b c").with_base_dir(dir.path());
    assert_eq!(storage.db_file(), dir.path().join("a_b_c.db"));
    assert!(!storage.exists());
    let mut writer = storage.writer::<u32>(false).unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                (0..50).for_each(|item| drop(writer.write("train", &(thread * 50 + item)).unwrap()))
            });
        }
    });
    writer.set_completed().unwrap();
    assert!(storage.exists());
    let mut items: Vec<u32> = storage
        .reader("train")
        .unwrap()
        .iter()
        .collect::<Result<_, _>>()
        .unwrap();
    items.sort_unstable();
    assert!(items.into_iter().eq(0..200));
}

#[test]
fn a_writer_that_does_not_complete_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.db");
    let writer = SqliteDatasetWriter::<Item>::new(&path, false).unwrap();
    writer.write("train", &item(0)).unwrap();
    assert!(!path.exists());
    drop(writer);
    assert!(names(dir.path()).is_empty(), "{:?}", names(dir.path()));
}

#[test]
fn a_database_is_replaced_only_if_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.db");
    written(&path, 3);
    let refused = SqliteDatasetWriter::<Item>::new(&path, false).map(|_| ());
    assert!(matches!(refused, Err(SqliteDatasetError::FileExists(file)) if file == path));
    let mut writer = SqliteDatasetWriter::<Item>::new(&path, true).unwrap();
    writer.write("train", &item(9)).unwrap();
    writer.set_completed().unwrap();
    let train = SqliteDataset::<Item>::from_db_file(&path, "train").unwrap();
    assert_eq!((train.len(), train.get(0).unwrap()), (1, item(9)));
    let late = writer.write("train", &item(1)).unwrap_err().to_string();
    assert!(late.contains("the database is complete"), "{late}");
}

#[test]
fn what_is_wrong_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.db");
    written(&path, 3);
    let file = path.display().to_string();

    let split = SqliteDataset::<Item>::from_db_file(&path, "valid")
        .unwrap_err()
        .to_string();
    assert!(split.contains("valid") && split.contains(&file), "{split}");

    let missing = SqliteDataset::<Item>::from_db_file(dir.path().join("no.db"), "train");
    let missing = missing.unwrap_err();
    assert!(matches!(&missing, SqliteDatasetError::Io(_)) && missing.to_string().contains("no.db"));
    assert_eq!(names(dir.path()), ["items.db"], "reading makes no file");

    let wrong = SqliteDataset::<u32>::from_db_file(&path, "train").unwrap();
    let wrong = wrong.get(1).unwrap_err();
    assert!(matches!(&wrong, SqliteDatasetError::Deserialize(_)));
    assert!(
        wrong
            .to_string()
            .contains(&format!("row 2 of \"train\" in {file}")),
        "{wrong}"
    );
}

#[test]
fn a_row_error_says_its_column() {
    let error = RowError::Column {
        column: "label".into(),
        source: "it is missing".into(),
    };
    assert_eq!(error.to_string(), "column `label`: it is missing");
}

#[test]
fn a_damaged_database_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("items.db");
    written(&path, 200);
    let whole = fs::read(&path).unwrap();
    let mut damaged = 0;
    for (round, at) in (0..whole.len()).step_by(whole.len() / 120).enumerate() {
        let mut bytes = whole.clone();
        match round % 3 {
            0 => bytes.truncate(at),
            1 => bytes[at..]
                .iter_mut()
                .take(64)
                .for_each(|byte| *byte = 0xff),
            _ => bytes[at] ^= 0x55,
        }
        // A file of its own: the engine knows those that it has seen.
        let path = dir.path().join(format!("{round}.db"));
        fs::write(&path, bytes).unwrap();
        let read = SqliteDataset::<Item>::from_db_file(&path, "train")
            .and_then(|train| train.get_many((0..train.len().min(300)).collect()));
        damaged += usize::from(read.is_err());
    }
    assert!(damaged > 40, "{damaged} of 120 were noticed");
}
