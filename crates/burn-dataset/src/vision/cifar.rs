//! Small colour images of ten and of a hundred classes (Krizhevsky, 2009), in their binary format: a byte for each label,
//! then 3,072 bytes, channel by channel and row by row.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};

use crate::dataset::check_index;
use crate::download::Remote;
use crate::{Dataset, DatasetError, cache};

/// Bytes of an image: 3 channels of 32 by 32.
const IMAGE: usize = 3 * 32 * 32;

/// Bytes that no archive of this kind holds for a split: a small file may decompress to any size.
const MOST: u64 = 1 << 30;

/// A small colour image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CifarItem {
    /// Channels of rows of pixels, `[3, 32, 32]`.
    pub image: Vec<u8>,
    /// The class.
    pub label: u8,
    /// The class among the twenty coarse ones of CIFAR-100.
    pub coarse_label: Option<u8>,
}

/// The records of one split, which are all in memory.
#[derive(Clone, Debug)]
struct Records {
    /// Labels before each image.
    labels: usize,
    bytes: Vec<u8>,
}

impl Records {
    /// Reads the files of an archive whose names `wanted` accepts, in the order of the archive, which is that of their
    /// numbers.
    fn from_archive(path: &Path, labels: usize, wanted: impl Fn(&str) -> bool) -> io::Result<Self> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let invalid = |problem: String| named(io::Error::new(io::ErrorKind::InvalidData, problem));
        let file = File::open(path).map_err(named)?;
        let mut archive = tar::Archive::new(GzDecoder::new(BufReader::new(file)));
        let mut files = Vec::new();
        let mut left = MOST;
        for entry in archive.entries().map_err(named)? {
            let mut entry = entry.map_err(named)?;
            let name = entry
                .path()
                .map_err(named)?
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            let Some(name) = name.filter(|name| wanted(name)) else {
                continue;
            };
            let mut bytes = Vec::new();
            (&mut entry)
                .take(left)
                .read_to_end(&mut bytes)
                .map_err(named)?;
            if bytes.len() as u64 == left {
                return Err(invalid("it holds more than a gigabyte".to_owned()));
            }
            if bytes.is_empty() || bytes.len() % (labels + IMAGE) != 0 {
                let size = bytes.len();
                return Err(invalid(format!(
                    "{name}: {size} bytes are no whole number of images"
                )));
            }
            left -= bytes.len() as u64;
            files.push((name, bytes));
        }
        if files.is_empty() {
            return Err(invalid(
                "the archive does not hold the files of the split".to_owned(),
            ));
        }
        files.sort();
        let bytes = files.into_iter().flat_map(|(_, bytes)| bytes).collect();
        Ok(Self { labels, bytes })
    }

    fn fetched(remote: Remote<'_>, labels: usize, wanted: impl Fn(&str) -> bool) -> Self {
        let read =
            || Self::from_archive(&remote.cached(&cache::dir().join("cifar"))?, labels, wanted);
        read().unwrap_or_else(|error| panic!("CIFAR: {error}"))
    }

    fn len(&self) -> usize {
        self.bytes.len() / (self.labels + IMAGE)
    }

    fn get(&self, dataset: &str, index: usize) -> CifarItem {
        check_index(dataset, index, self.len());
        let size = self.labels + IMAGE;
        let (labels, image) = self.bytes[index * size..][..size].split_at(self.labels);
        CifarItem {
            image: image.to_vec(),
            label: labels[self.labels - 1],
            coarse_label: (self.labels == 2).then(|| labels[0]),
        }
    }
}

/// The two collections differ in nothing but the numbers of files and labels.
macro_rules! collection {
    ($(#[$doc:meta])* $name:ident, $labels:literal, $remote:expr, $train:expr, $test:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(Records);

        impl $name {
            /// The 50,000 images for training; fetched and kept when they are asked for first.
            ///
            /// # Panics
            /// If they cannot be fetched or kept.
            pub fn train() -> Self {
                Self(Records::fetched($remote, $labels, $train))
            }

            /// The 10,000 images for tests; fetched and kept when they are asked for first.
            ///
            /// # Panics
            /// If they cannot be fetched or kept.
            pub fn test() -> Self {
                Self(Records::fetched($remote, $labels, $test))
            }

            /// Reads the split for training, or that for tests, from the collection's binary archive.
            ///
            /// # Errors
            /// If it cannot be read or is not what it should be; names it.
            pub fn from_archive<P: AsRef<Path>>(path: P, train: bool) -> io::Result<Self> {
                let wanted: fn(&str) -> bool = if train { $train } else { $test };
                Records::from_archive(path.as_ref(), $labels, wanted).map(Self)
            }
        }

        impl Dataset<CifarItem> for $name {
            fn get(&self, index: usize) -> Result<CifarItem, DatasetError> {
                Ok(self.0.get(stringify!($name), index))
            }

            fn len(&self) -> usize {
                self.0.len()
            }
        }
    };
}

collection!(
    /// CIFAR-10.
    Cifar10Dataset,
    1,
    Remote {
        url: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        md5: "c32a1d4ab5d03f1284b67883e8d87530",
    },
    |name| name.starts_with("data_batch_"),
    |name| name == "test_batch.bin"
);

collection!(
    /// CIFAR-100.
    Cifar100Dataset,
    2,
    Remote {
        url: "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
        md5: "03b5dce01913d631647c71ecec9e9cb8",
    },
    |name| name == "train.bin",
    |name| name == "test.bin"
);
