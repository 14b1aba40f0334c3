//! Speech Commands (Warden, 2018): single spoken words.

use std::io::Cursor;

use hound::{SampleFormat, WavReader};
use serde::{Deserialize, Serialize};

use crate::source::huggingface::HuggingfaceDatasetLoader;
use crate::{Dataset, RowError, SqliteDataset, SqliteDatasetError};

/// Words, noise and whatever is none of them, by their numbers.
macro_rules! classes {
    ($($name:ident = $number:literal, $doc:literal;)*) => {
        /// What is said.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum SpeechCommandClass {
            $(#[doc = $doc] $name = $number,)*
        }

        /// All classes in the order of their numbers.
        const CLASSES: &[SpeechCommandClass] = &[$(SpeechCommandClass::$name),*];
    };
}

classes! {
    Yes = 0, "“yes”";
    No = 1, "“no”";
    Up = 2, "“up”";
    Down = 3, "“down”";
    Left = 4, "“left”";
    Right = 5, "“right”";
    On = 6, "“on”";
    Off = 7, "“off”";
    Stop = 8, "“stop”";
    Go = 9, "“go”";
    Zero = 10, "“zero”";
    One = 11, "“one”";
    Two = 12, "“two”";
    Three = 13, "“three”";
    Four = 14, "“four”";
    Five = 15, "“five”";
    Six = 16, "“six”";
    Seven = 17, "“seven”";
    Eight = 18, "“eight”";
    Nine = 19, "“nine”";
    Bed = 20, "“bed”";
    Bird = 21, "“bird”";
    Cat = 22, "“cat”";
    Dog = 23, "“dog”";
    Happy = 24, "“happy”";
    House = 25, "“house”";
    Marvin = 26, "“Marvin”";
    Sheila = 27, "“Sheila”";
    Tree = 28, "“tree”";
    Wow = 29, "“wow”";
    Backward = 30, "“backward”";
    Forward = 31, "“forward”";
    Follow = 32, "“follow”";
    Learn = 33, "“learn”";
    Visual = 34, "“visual”";
    Silence = 35, "No word, but noise.";
    Other = 36, "Anything else.";
}

/// A recording as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeechItemRaw {
    /// A WAV file.
    pub audio_bytes: Vec<u8>,
    /// The number of the class.
    pub label: usize,
    /// Whether the word is none of the twenty that the collection is about.
    pub is_unknown: bool,
}

/// A recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpeechItem {
    /// Values from -1 to 1.
    pub audio_samples: Vec<f32>,
    /// Values in a second.
    pub sample_rate: usize,
    /// What is said.
    pub label: SpeechCommandClass,
}

impl SpeechItemRaw {
    /// Decodes the recording; says which column is wrong, and how.
    fn decode(&self) -> Result<SpeechItem, (&'static str, String)> {
        let label = CLASSES.get(self.label).copied().ok_or_else(|| {
            let most = CLASSES.len() - 1;
            (
                "label",
                format!("there is no class {}, they go to {most}", self.label),
            )
        })?;
        let (audio_samples, sample_rate) =
            decode(&self.audio_bytes).map_err(|error| ("audio_bytes", error.to_string()))?;
        Ok(SpeechItem {
            audio_samples,
            sample_rate,
            label,
        })
    }
}

/// The values of a WAV file between -1 and 1, and how many make a second.
fn decode(bytes: &[u8]) -> Result<(Vec<f32>, usize), hound::Error> {
    let mut reader = WavReader::new(Cursor::new(bytes))?;
    let spec = reader.spec();
    let mut samples = Vec::new();
    // One by one: to make room for as many as the file claims to have would be to believe it.
    match spec.sample_format {
        SampleFormat::Int => {
            let scale = 0.5f32.powi(i32::from(spec.bits_per_sample) - 1);
            for sample in reader.samples::<i32>() {
                samples.push(sample? as f32 * scale);
            }
        }
        SampleFormat::Float => {
            for sample in reader.samples::<f32>() {
                samples.push(sample?);
            }
        }
    }
    Ok((samples, spec.sample_rate as usize))
}

/// Recordings of one split, in a database that Python imports from the Hugging Face hub when they are asked for first.
pub struct SpeechCommandsDataset {
    recordings: SqliteDataset<SpeechItemRaw>,
}

impl SpeechCommandsDataset {
    /// The recordings of `split`: `train`, `validation` or `test`.
    ///
    /// # Panics
    /// If they cannot be imported.
    pub fn new(split: &str) -> Self {
        let loader = HuggingfaceDatasetLoader::new("google/speech_commands")
            .with_subset("v0.02")
            .with_trust_remote_code(true);
        match loader.dataset(split) {
            Ok(recordings) => Self { recordings },
            Err(error) => panic!("SpeechCommandsDataset: {error}"),
        }
    }

    /// The recordings for training.
    pub fn train() -> Self {
        Self::new("train")
    }

    /// The recordings for tests.
    pub fn test() -> Self {
        Self::new("test")
    }

    /// The recordings to choose a model by.
    pub fn validation() -> Self {
        Self::new("validation")
    }

    /// The number of classes.
    pub fn num_classes() -> usize {
        CLASSES.len()
    }

    /// Recordings that were imported before.
    pub fn from_dataset(recordings: SqliteDataset<SpeechItemRaw>) -> Self {
        Self { recordings }
    }

    fn decode(&self, index: usize, raw: &SpeechItemRaw) -> Result<SpeechItem, SqliteDatasetError> {
        raw.decode().map_err(|(column, problem)| {
            let (split, file) = (self.recordings.split(), self.recordings.db_file());
            let source = format!(
                "row {} of `{split}` in {}: {problem}",
                index + 1,
                file.display()
            );
            let column = column.to_owned();
            SqliteDatasetError::Row(RowError::Column {
                column,
                source: source.into(),
            })
        })
    }
}

impl Dataset<SpeechItem, SqliteDatasetError> for SpeechCommandsDataset {
    fn get(&self, index: usize) -> Result<SpeechItem, SqliteDatasetError> {
        self.decode(index, &self.recordings.get(index)?)
    }

    fn len(&self) -> usize {
        self.recordings.len()
    }

    fn get_many(&self, indices: Vec<usize>) -> Result<Vec<SpeechItem>, SqliteDatasetError> {
        let raw = self.recordings.get_many(indices.clone())?;
        let pairs = indices.into_iter().zip(&raw);
        pairs.map(|(index, raw)| self.decode(index, raw)).collect()
    }
}
