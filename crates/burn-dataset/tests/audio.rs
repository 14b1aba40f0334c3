//! Speech Commands from a database as the import makes it.

use std::io::Cursor;
use std::path::Path;

use burn_dataset::audio::{SpeechCommandClass, SpeechCommandsDataset, SpeechItemRaw};
use burn_dataset::{Dataset, SqliteDataset, SqliteDatasetError, SqliteDatasetWriter};
use hound::{SampleFormat, WavSpec, WavWriter};

fn wav(samples: &[i16]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let spec = WavSpec {
        channels: 1,
        sample_rate: 16_000,
        bits_per_sample: 16,
        sample_format: SampleFormat::Int,
    };
    let mut writer = WavWriter::new(&mut bytes, spec).unwrap();
    samples
        .iter()
        .for_each(|&sample| writer.write_sample(sample).unwrap());
    writer.finalize().unwrap();
    bytes.into_inner()
}

fn recordings(path: &Path, recordings: &[(Vec<u8>, usize)]) -> SpeechCommandsDataset {
    let mut writer = SqliteDatasetWriter::new(path, false).unwrap();
    for (audio_bytes, label) in recordings.iter().cloned() {
        writer
            .write(
                "train",
                &SpeechItemRaw {
                    audio_bytes,
                    label,
                    is_unknown: false,
                },
            )
            .unwrap();
    }
    writer.set_completed().unwrap();
    SpeechCommandsDataset::from_dataset(SqliteDataset::from_db_file(path, "train").unwrap())
}

#[test]
fn recordings_are_decoded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("speech.db");
    let dataset = recordings(&path, &[(wav(&[0, 16_384, -32_768]), 30), (wav(&[]), 35)]);
    let item = dataset.get(0).unwrap();
    assert_eq!(
        (item.audio_samples, item.sample_rate),
        (vec![0.0, 0.5, -1.0], 16_000)
    );
    assert_eq!(item.label, SpeechCommandClass::Backward);
    assert_eq!(
        dataset.get_many(vec![1]).unwrap()[0].label,
        SpeechCommandClass::Silence
    );
    assert_eq!(SpeechCommandsDataset::num_classes(), 37);
    assert_eq!(SpeechCommandClass::Other as usize, 36);
}

#[test]
fn what_is_no_recording_is_an_error_that_names_the_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("speech.db");
    // What a WAV file claims of its data is at byte 40.
    let mut long = wav(&[1, 2]);
    long[40..44].copy_from_slice(&0xffff_fff0u32.to_le_bytes());
    let dataset = recordings(&path, &[(b"noise".to_vec(), 0), (long, 0), (wav(&[1]), 37)]);
    for (index, column) in [(0, "audio_bytes"), (1, "audio_bytes"), (2, "label")] {
        let error = dataset.get(index).unwrap_err();
        assert!(matches!(&error, SqliteDatasetError::Row(_)));
        let expected = format!(
            "column `{column}`: row {} of `train` in {}",
            index + 1,
            path.display()
        );
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}
