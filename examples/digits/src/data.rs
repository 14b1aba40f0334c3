//! The digits: reading them, splitting them and putting them into batches.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::prelude::*;
use flate2::read::GzDecoder;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The width and the height of an image, in pixels.
pub const SIDE: usize = 8;
/// The number of pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;
/// The number of classes.
pub const CLASSES: usize = 10;

/// The ink of a full pixel.
const FULL: f32 = 16.0;
/// Every fifth digit is for testing.
const TEST_SHARE: usize = 5;
/// The order in which digits are dealt to the splits; any number, as long as it stays.
const SPLIT_SEED: u64 = 1797;

/// An image and what it shows.
#[derive(Clone, Debug)]
pub struct Digit {
    /// Ink from 0 to 1, row by row.
    pub pixels: [f32; PIXELS],
    /// 0 to 9.
    pub label: u8,
}

/// All digits, in the order of the file.
pub struct Digits(Vec<Digit>);

impl Digits {
    /// Reads the digits.
    ///
    /// # Errors
    /// If the file cannot be read, or a line of it is no digit; the message names the file and the line.
    pub fn load(path: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let path = path.map_or_else(shipped, Path::to_path_buf);
        let named =
            |error: &dyn Error| format!("cannot read digits from {}: {error}", path.display());
        let file = File::open(&path).map_err(|error| named(&error))?;
        let digits = parse(GzDecoder::new(file)).map_err(|error| named(&*error))?;
        Ok(Self(digits))
    }

    /// A training and a test split, the same on every run.
    pub fn split(self) -> (InMemDataset<Digit>, InMemDataset<Digit>) {
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        shuffle(&mut order, SPLIT_SEED);
        let (test, train) = order.split_at(order.len() / TEST_SHARE);
        let pick =
            |at: &[usize]| InMemDataset::new(at.iter().map(|at| self.0[*at].clone()).collect());
        (pick(train), pick(test))
    }
}

/// The copy that comes with the example.
fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/digits.csv.gz")
}

fn parse(reader: impl Read) -> Result<Vec<Digit>, Box<dyn Error>> {
    let lines = BufReader::new(reader).lines().enumerate();
    lines
        .map(|(at, line)| {
            digit(&line?).ok_or_else(|| format!("line {} is no digit", at + 1).into())
        })
        .collect()
}

/// 64 pixels from 0 to 16 and a label from 0 to 9, separated by commas.
fn digit(line: &str) -> Option<Digit> {
    let numbers: Vec<f32> = line
        .split(',')
        .map(|number| number.trim().parse().ok())
        .collect::<Option<_>>()?;
    let (label, ink) = numbers.split_last()?;
    let ink: [f32; PIXELS] = ink.try_into().ok()?;
    let legal =
        ink.iter().all(|ink| (0.0..=FULL).contains(ink)) && (0.0..CLASSES as f32).contains(label);
    legal.then(|| Digit {
        pixels: ink.map(|ink| ink / FULL),
        label: *label as u8,
    })
}

/// Fisher and Yates's shuffle (Knuth, The Art of Computer Programming, volume 2, algorithm P), driven by Knuth's linear
/// congruential generator for MMIX: the split must not change when a library changes its generator.
fn shuffle(order: &mut [usize], seed: u64) {
    let mut state = seed;
    for at in (1..order.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        order.swap(at, (state >> 33) as usize % (at + 1));
    }
}

/// Puts digits into tensors.
#[derive(Clone, Debug)]
pub struct DigitBatcher;

/// Some digits as tensors.
#[derive(Clone, Debug)]
pub struct DigitBatch {
    /// `[batch, PIXELS]`
    pub images: Tensor<2>,
    /// `[batch]`
    pub labels: Tensor<1, Int>,
}

impl Batcher<Digit, DigitBatch> for DigitBatcher {
    fn batch(&self, digits: Vec<Digit>, device: &Device) -> DigitBatch {
        let pixels: Vec<f32> = digits.iter().flat_map(|digit| digit.pixels).collect();
        let labels: Vec<i32> = digits.iter().map(|digit| i32::from(digit.label)).collect();
        DigitBatch {
            images: Tensor::from_data(TensorData::new(pixels, [digits.len(), PIXELS]), device),
            labels: Tensor::from_data(TensorData::new(labels, [digits.len()]), device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::data::dataset::Dataset;

    #[test]
    fn the_shipped_file_holds_every_digit_and_splits_without_overlap() {
        let (train, test) = Digits::load(None).unwrap().split();
        assert_eq!((train.len(), test.len()), (1438, 359));
        assert!((0..10).all(|label| test.iter().any(|digit| digit.unwrap().label == label)));
    }

    #[test]
    fn a_missing_file_is_an_error_that_names_it() {
        let error = Digits::load(Some(Path::new("no/such.csv.gz")))
            .err()
            .unwrap();
        assert!(error.to_string().contains("no/such.csv.gz"), "{error}");
    }

    #[test]
    fn a_line_that_is_no_digit_is_named_by_its_number() {
        let good = format!("{}3\n", "0,".repeat(PIXELS));
        let error = parse(format!("{good}1,2,3\n").as_bytes()).err().unwrap();
        assert_eq!(error.to_string(), "line 2 is no digit");
        assert_eq!(parse(good.as_bytes()).unwrap()[0].label, 3);
    }
}
