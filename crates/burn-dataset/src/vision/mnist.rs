//! Handwritten digits (LeCun, Cortes and Burges), in the IDX format that they came in.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};

use crate::dataset::check_index;
use crate::download::Remote;
use crate::{Dataset, DatasetError, cache};

/// Where the files are; the original place does not give them any more.
const PLACE: &str = "https://storage.googleapis.com/cvdf-datasets/mnist/";

/// Pixels of an image in a row, and rows.
const SIDE: usize = 28;

/// Bytes that no file of this kind needs: a small file may decompress to any size.
const MOST: u64 = 1 << 30;

/// A digit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MnistItem {
    /// Rows of pixels, 0 for white to 255 for black.
    pub image: [[f32; SIDE]; SIDE],
    /// 0 to 9.
    pub label: u8,
}

/// The digits of one split, which are all in memory as bytes.
#[derive(Clone, Debug)]
pub struct MnistDataset {
    /// Image by image.
    pixels: Vec<u8>,
    labels: Vec<u8>,
}

impl MnistDataset {
    /// The 60,000 digits for training; fetched and kept when they are asked for first.
    ///
    /// # Panics
    /// If they cannot be fetched or kept.
    pub fn train() -> Self {
        Self::fetched(&[
            (
                "train-images-idx3-ubyte.gz",
                "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            ),
            (
                "train-labels-idx1-ubyte.gz",
                "d53e105ee54ea40749a09fcbcd1e9432",
            ),
        ])
    }

    /// The 10,000 digits for tests; fetched and kept when they are asked for first.
    ///
    /// # Panics
    /// If they cannot be fetched or kept.
    pub fn test() -> Self {
        Self::fetched(&[
            (
                "t10k-images-idx3-ubyte.gz",
                "9fb629c4189551a2d022fa330f9573f3",
            ),
            (
                "t10k-labels-idx1-ubyte.gz",
                "ec29112dd5afa0611ce80d1b7f02629c",
            ),
        ])
    }

    fn fetched(files: &[(&str, &str); 2]) -> Self {
        let dir = cache::dir().join("mnist");
        let [images, labels] = files.map(|(name, md5)| {
            let url = &format!("{PLACE}{name}");
            Remote { url, md5 }.cached(&dir)
        });
        let read = || Self::from_files(images?, labels?);
        read().unwrap_or_else(|error| panic!("MNIST: {error}"))
    }

    /// Reads digits, or other images of 28 by 28 pixels, from IDX files, which may be compressed by gzip.
    ///
    /// # Errors
    /// If a file cannot be read, is not what it should be or does not fit the other; names it.
    pub fn from_files<P: AsRef<Path>>(images: P, labels: P) -> io::Result<Self> {
        let (sizes, pixels) = idx::<3>(images.as_ref())?;
        if sizes[1..] != [SIDE, SIDE] {
            let [_, height, width] = sizes;
            return Err(invalid(
                images.as_ref(),
                &format!("images have {height} by {width} pixels, not 28 by 28"),
            ));
        }
        let ([len], labels_read) = idx::<1>(labels.as_ref())?;
        if len != sizes[0] {
            let problem = format!("there are {len} labels for {} images", sizes[0]);
            return Err(invalid(labels.as_ref(), &problem));
        }
        Ok(Self {
            pixels,
            labels: labels_read,
        })
    }
}

impl Dataset<MnistItem> for MnistDataset {
    fn get(&self, index: usize) -> Result<MnistItem, DatasetError> {
        check_index("MnistDataset", index, self.labels.len());
        let pixels = &self.pixels[index * SIDE * SIDE..][..SIDE * SIDE];
        let mut image = [[0.0; SIDE]; SIDE];
        for (row, bytes) in image.iter_mut().zip(pixels.chunks_exact(SIDE)) {
            for (value, &byte) in row.iter_mut().zip(bytes) {
                *value = f32::from(byte);
            }
        }
        let label = self.labels[index];
        Ok(MnistItem { image, label })
    }

    fn len(&self) -> usize {
        self.labels.len()
    }
}

/// Reads an array of bytes with `D` dimensions from an IDX file: two zeros, 8 for bytes, the number of dimensions, their
/// sizes in big-endian, the values.
fn idx<const D: usize>(path: &Path) -> io::Result<([usize; D], Vec<u8>)> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(named)?;
    let mut reader: Box<dyn Read> =
        match path.extension().is_some_and(|extension| extension == "gz") {
            true => Box::new(GzDecoder::new(BufReader::new(file))),
            false => Box::new(BufReader::new(file)),
        };
    let mut word = [0; 4];
    reader.read_exact(&mut word).map_err(named)?;
    if word != [0, 0, 8, D as u8] {
        return Err(invalid(
            path,
            &format!("it is no IDX file of bytes with {D} dimensions: it begins with {word:?}"),
        ));
    }
    let mut sizes = [0; D];
    for size in &mut sizes {
        reader.read_exact(&mut word).map_err(named)?;
        *size = u32::from_be_bytes(word) as usize;
    }
    let claim = sizes
        .iter()
        .try_fold(1u64, |bytes, &size| bytes.checked_mul(size as u64));
    let Some(claim) = claim.filter(|&bytes| bytes <= MOST) else {
        return Err(invalid(
            path,
            &format!("it claims the sizes {sizes:?}, which is more than a gigabyte"),
        ));
    };
    // Memory grows with what is there, not with what is claimed; one byte more shows whether the file ends.
    let mut values = Vec::new();
    reader
        .take(claim + 1)
        .read_to_end(&mut values)
        .map_err(named)?;
    if values.len() as u64 != claim {
        let relation = if (values.len() as u64) < claim {
            "fewer"
        } else {
            "more"
        };
        return Err(invalid(
            path,
            &format!("there are {relation} values than the {claim} of the sizes {sizes:?}"),
        ));
    }
    Ok((sizes, values))
}

fn invalid(path: &Path, problem: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{}: {problem}", path.display()),
    )
}
