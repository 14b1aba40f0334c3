//! What a saved model sees in one digit.

use crate::data::{Digit, DigitBatcher, SIDE};
use crate::model::{Classifier, ClassifierConfig};
use crate::train::{CONFIG, WEIGHTS};
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::{Dataset, InMemDataset};
use burn::prelude::*;
use burn::tensor::activation::softmax;
use std::error::Error;
use std::path::Path;

/// Draws a digit of the test split and says what the saved model sees in it.
pub fn classify(
    test: &InMemDataset<Digit>,
    sample: usize,
    folder: &Path,
    device: &Device,
) -> Result<(), Box<dyn Error>> {
    if sample >= test.len() {
        return Err(format!(
            "there is no digit {sample}: the test split holds 0 to {}",
            test.len() - 1
        )
        .into());
    }
    let digit = test.get(sample)?;
    let model = load(folder, device)?;
    let batch = DigitBatcher.batch(vec![digit.clone()], device);
    let scores: Vec<f32> = softmax(model.forward(batch.images), 1).try_into_vec_as()?;

    println!("{}", drawing(&digit));
    for (class, share) in scores.iter().enumerate() {
        println!(
            "{class} {:6.2} % {}",
            100.0 * share,
            "#".repeat((40.0 * share).round() as usize)
        );
    }
    let guess = (0..scores.len()).max_by(|one, other| scores[*one].total_cmp(&scores[*other]));
    println!(
        "the model sees {}; it is {}",
        guess.unwrap_or_default(),
        digit.label
    );
    Ok(())
}

/// The saved model.
pub fn load(folder: &Path, device: &Device) -> Result<Classifier, Box<dyn Error>> {
    let hint =
        |error: &dyn Error| format!("{error}\ntrain a model first: cargo run --release -p digits");
    let config = ClassifierConfig::load(folder.join(CONFIG)).map_err(|error| hint(&error))?;
    let model = config
        .init(device)
        .try_load_file(folder.join(WEIGHTS))
        .map_err(|error| hint(&error))?;
    Ok(model)
}

/// Two characters a pixel, darker for more ink.
fn drawing(digit: &Digit) -> String {
    const SHADES: [&str; 5] = ["  ", "░░", "▒▒", "▓▓", "██"];
    let shade = |ink: &f32| SHADES[(ink * (SHADES.len() - 1) as f32).round() as usize];
    let rows: Vec<String> = digit
        .pixels
        .chunks(SIDE)
        .map(|row| row.iter().map(shade).collect())
        .collect();
    rows.join("\n")
}
