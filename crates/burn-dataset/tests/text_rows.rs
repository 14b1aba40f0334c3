//! CSV, and JSON by the line: as datasets in memory and as streams.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use burn_dataset::{CsvRows, Dataset, InMemDataset, IterableDataset, JsonRows};
use csv::ReaderBuilder;
use serde::Deserialize;
use tempfile::TempDir;

#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Flower {
    name: String,
    petals: u8,
    length: f32,
    colour: Option<String>,
}

fn flower(name: &str, petals: u8, length: f32, colour: Option<&str>) -> Flower {
    let (name, colour) = (name.to_owned(), colour.map(str::to_owned));
    Flower {
        name,
        petals,
        length,
        colour,
    }
}

/// A file of this content; it goes with the folder.
fn file(content: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder can be made");
    let path = dir.path().join("rows.txt");
    fs::write(&path, content).expect("it can be written");
    (dir, path)
}

fn items<I: Clone + Send + Sync>(dataset: &InMemDataset<I>) -> Vec<I> {
    dataset
        .iter()
        .collect::<Result<_, _>>()
        .expect("memory can be read")
}

#[test]
fn fields_of_csv_go_to_those_of_their_names() {
    let (_dir, path) = file("petals,name,length,colour\n5,rose,2.5,red\n3,\"lily, white\",1e1,\n");
    let flowers =
        InMemDataset::<Flower>::from_csv(path, &ReaderBuilder::new()).expect("it is right");
    let expected = [
        flower("rose", 5, 2.5, Some("red")),
        flower("lily, white", 3, 10.0, None),
    ];
    assert_eq!(items(&flowers), expected);
}

#[test]
fn the_format_of_csv_is_what_the_builder_says() {
    let (_dir, path) = file("rose;5;2.5;red\nlily;3;1;\n");
    let mut format = ReaderBuilder::new();
    format.delimiter(b';').has_headers(false);
    let flowers = InMemDataset::<Flower>::from_csv(path, &format).expect("it is right");
    assert_eq!(
        items(&flowers),
        [
            flower("rose", 5, 2.5, Some("red")),
            flower("lily", 3, 1.0, None)
        ]
    );
}

#[test]
fn a_bad_field_of_csv_is_named_with_file_line_and_value() {
    for (row, problem) in [
        (
            "rose,900,1,red",
            "line 3, field `petals` with value \"900\": ",
        ),
        (
            "rose,five,1,red",
            "line 3, field `petals` with value \"five\": ",
        ),
        ("rose,5", "line: 3"),
    ] {
        let (_dir, path) = file(&format!("name,petals,length,colour\nlily,3,1,\n{row}\n"));
        let error = InMemDataset::<Flower>::from_csv(&path, &ReaderBuilder::new());
        let error = error.expect_err("the second row is wrong").to_string();
        assert!(error.contains(problem), "{error}");
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
}

#[test]
fn a_missing_column_is_named() {
    let (_dir, path) = file("name,petals\nlily,3\n");
    let error = InMemDataset::<Flower>::from_csv(&path, &ReaderBuilder::new());
    let error = error.expect_err("a column is missing").to_string();
    assert!(error.contains("line 2: missing field `length`"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let csv = InMemDataset::<Flower>::from_csv("no/such.csv", &ReaderBuilder::new()).map(|_| ());
    let json = InMemDataset::<Flower>::from_json_rows("no/such.json").map(|_| ());
    for (result, name) in [(csv, "no/such.csv"), (json, "no/such.json")] {
        let error = result.expect_err("it is missing");
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_stream_goes_on_after_a_bad_row() {
    let (_dir, csv) = file("name,petals,length,colour\na,1,1,\nb,x,1,\nc,3,1,\n");
    let (_dir, json) = file(
        "{\"name\":\"a\",\"petals\":1,\"length\":1}\n\n{\"name\":\"b\",\"petals\":-1}\n{\"name\":\"c\",\"petals\":3,\"length\":1}",
    );
    let sources: [(Box<dyn IterableDataset<Flower>>, &str); 2] = [
        (
            Box::new(CsvRows::new(csv, ReaderBuilder::new())),
            "line 3, field `petals`",
        ),
        (
            Box::new(JsonRows::new(json)),
            "line 3: invalid value: integer `-1`",
        ),
    ];
    for (source, problem) in sources {
        for _ in 0..2 {
            let rows: Vec<_> = source.stream().collect();
            assert_eq!(rows.len(), 3);
            let names: Vec<_> = rows
                .iter()
                .flatten()
                .map(|flower| flower.name.as_str())
                .collect();
            assert_eq!(names, ["a", "c"]);
            let error = rows[1]
                .as_ref()
                .expect_err("the second row is wrong")
                .to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}

#[test]
fn a_stream_of_a_missing_file_is_one_error() {
    let rows: Vec<_> = JsonRows::<Flower>::new("no/such.json").stream().collect();
    assert!(matches!(&rows[..], [Err(error)] if error.to_string().contains("no/such.json")));
}

#[test]
fn a_function_is_a_stream() {
    let squares = || (0..3).map(|number| Ok(number * number));
    let items: Vec<i32> = squares
        .stream()
        .collect::<Result<_, _>>()
        .expect("they are there");
    assert_eq!(items, [0, 1, 4]);
}

#[test]
fn bytes_that_are_no_text_are_an_error() {
    let (_dir, path) = file("");
    let mut bytes = fs::File::create(&path).expect("it can be written");
    bytes
        .write_all(b"{\"name\":\"\xff\xfe\"}\n")
        .expect("it can be written");
    assert!(InMemDataset::<Flower>::from_json_rows(&path).is_err());
    bytes.write_all(b"\xff,\xfe\n").expect("it can be written");
    assert!(InMemDataset::<Flower>::from_csv(&path, &ReaderBuilder::new()).is_err());
}
