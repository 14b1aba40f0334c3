//! CIFAR from archives of their format.

use std::fs::File;
use std::path::Path;

use burn_dataset::Dataset;
use burn_dataset::vision::{Cifar10Dataset, Cifar100Dataset};
use flate2::Compression;
use flate2::write::GzEncoder;

/// An archive of these files.
fn archive(path: &Path, files: &[(&str, Vec<u8>)]) {
    let mut archive = tar::Builder::new(GzEncoder::new(
        File::create(path).unwrap(),
        Compression::fast(),
    ));
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        archive
            .append_data(&mut header, format!("cifar/{name}"), &bytes[..])
            .unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
}

/// A record: its labels, then an image of one value.
fn record(labels: &[u8], value: u8) -> Vec<u8> {
    [labels, &[value; 3072]].concat()
}

#[test]
fn images_come_in_the_order_of_the_files_names() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cifar.tar.gz");
    archive(
        &path,
        &[
            ("readme.html", b"text".to_vec()),
            ("data_batch_2.bin", record(&[5], 50)),
            (
                "data_batch_1.bin",
                [record(&[3], 30), record(&[4], 40)].concat(),
            ),
            ("test_batch.bin", record(&[9], 90)),
            ("train.bin", record(&[11, 77], 1)),
        ],
    );
    let train = Cifar10Dataset::from_archive(&path, true).unwrap();
    let items: Vec<_> = train.iter().map(|item| item.unwrap()).collect();
    let labels: Vec<_> = items
        .iter()
        .map(|item| (item.label, item.image[3071], item.coarse_label))
        .collect();
    assert_eq!(labels, [(3, 30, None), (4, 40, None), (5, 50, None)]);
    let test = Cifar10Dataset::from_archive(&path, false).unwrap();
    assert_eq!((test.len(), test.get(0).unwrap().label), (1, 9));
    let hundred = Cifar100Dataset::from_archive(&path, true)
        .unwrap()
        .get(0)
        .unwrap();
    assert_eq!(
        (hundred.label, hundred.coarse_label, hundred.image),
        (77, Some(11), vec![1; 3072])
    );
}

#[test]
fn bad_archives_are_errors_that_name_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cifar.tar.gz");
    archive(&path, &[("test_batch.bin", vec![0; 3072])]);
    let error = Cifar10Dataset::from_archive(&path, false)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("cifar.tar.gz: test_batch.bin: 3072 bytes are no whole number of images"),
        "{error}"
    );
    let error = Cifar10Dataset::from_archive(&path, true)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("does not hold the files of the split"),
        "{error}"
    );
    std::fs::write(&path, "no archive").unwrap();
    let error = Cifar10Dataset::from_archive(&path, true)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cifar.tar.gz: "), "{error}");
}
