//! Training, evaluation and saving.

use crate::data::{CLASSES, Digit, DigitBatcher};
use crate::model::{Classifier, ClassifierConfig};
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::InMemDataset;
use burn::optim::{AdamConfig, GradientsParams};
use burn::prelude::*;
use comfy_table::Table;
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// How to train.
#[derive(clap::Args, Clone, Debug)]
pub struct TrainArguments {
    /// The number of passes over the training split.
    #[arg(long, default_value_t = 30)]
    epochs: usize,
    /// The number of digits for each step.
    #[arg(long, default_value_t = 32)]
    batch_size: usize,
    /// The learning rate of Adam.
    #[arg(long, default_value_t = 2e-3)]
    learning_rate: f64,
    /// Decides the initial weights and the order of the digits.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// A file for the mean loss of each pass, one a line.
    #[arg(long)]
    losses: Option<PathBuf>,
}

impl Default for TrainArguments {
    fn default() -> Self {
        Self {
            epochs: 30,
            batch_size: 32,
            learning_rate: 2e-3,
            seed: 7,
            losses: None,
        }
    }
}

/// The model's weights, below the folder it is kept in.
pub const WEIGHTS: &str = "weights";
/// The model's sizes, below the folder it is kept in.
pub const CONFIG: &str = "config.json";

/// Trains a classifier, reports how it does on the test split, and saves it.
pub fn train(
    options: &TrainArguments,
    train: InMemDataset<Digit>,
    test: InMemDataset<Digit>,
    folder: &Path,
    device: &Device,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    device.seed(options.seed);
    let config = ClassifierConfig::new();
    let train = DataLoaderBuilder::new(DigitBatcher)
        .batch_size(options.batch_size)
        .shuffle(options.seed)
        .set_device(device.clone().autodiff())
        .build(train);
    let test = DataLoaderBuilder::new(DigitBatcher)
        .batch_size(256)
        .set_device(device.clone())
        .build(test);

    let (model, losses) = fit(
        options,
        config.init(&device.clone().autodiff()),
        &train,
        &test,
    )?;
    if let Some(file) = &options.losses {
        let lines: Vec<String> = losses.iter().map(|loss| format!("{loss}\n")).collect();
        std::fs::write(file, lines.concat())?;
    }
    let model = model.valid();
    let confusion = evaluate(&model, &test)?;
    println!("{}", confusion.table());
    println!(
        "test accuracy {:.2} % after {:.1} s",
        100.0 * confusion.accuracy(),
        start.elapsed().as_secs_f64()
    );

    std::fs::create_dir_all(folder)?;
    config.save(folder.join(CONFIG))?;
    model.save_file(folder.join(WEIGHTS))?;
    println!("saved to {}", folder.display());
    Ok(())
}

type Loader = Arc<dyn DataLoader<crate::data::DigitBatch>>;

fn fit(
    options: &TrainArguments,
    mut model: Classifier,
    train: &Loader,
    test: &Loader,
) -> Result<(Classifier, Vec<f64>), Box<dyn Error>> {
    let mut losses = Vec::new();
    let mut optimizer = AdamConfig::new().init();
    let style =
        ProgressStyle::with_template("epoch {prefix:>5} [{bar:30}] {msg}")?.progress_chars("=> ");
    for epoch in 1..=options.epochs {
        let bar = ProgressBar::new(train.num_items() as u64).with_style(style.clone());
        bar.set_prefix(format!("{epoch}/{}", options.epochs));
        let (mut loss_sum, mut correct, mut seen) = (0.0, 0, 0);
        for batch in train.iter() {
            let batch = batch?;
            let items = batch.labels.dims()[0];
            let scores = model.forward(batch.images);
            let loss = model.loss(scores.clone(), batch.labels.clone());
            let grads = GradientsParams::from_grads(loss.backward(), &model);
            model = optimizer.step(options.learning_rate, model, grads);

            loss_sum += loss.into_scalar::<f64>() * items as f64;
            correct += hits(scores.inner(), batch.labels.inner());
            seen += items;
            bar.inc(items as u64);
            bar.set_message(format!(
                "loss {:.4}  accuracy {:5.1} %",
                loss_sum / seen as f64,
                100.0 * correct as f64 / seen as f64
            ));
        }
        losses.push(loss_sum / seen as f64);
        let accuracy = evaluate(&model.valid(), test)?.accuracy();
        let summary = format!("{}  test {:5.1} %", bar.message(), 100.0 * accuracy);
        // Where no terminal shows the bar, a line tells the same.
        if bar.is_hidden() {
            println!("epoch {epoch}/{} {summary}", options.epochs);
        }
        bar.finish_with_message(summary);
    }
    Ok((model, losses))
}

/// The number of scores whose largest is at the label.
fn hits(scores: Tensor<2>, labels: Tensor<1, Int>) -> i64 {
    scores
        .argmax(1)
        .squeeze_dim::<1>(1)
        .equal(labels)
        .int()
        .sum()
        .into_scalar()
}

/// How often each digit (row) was taken for each (column).
pub struct Confusion([[usize; CLASSES]; CLASSES]);

/// Classifies every digit of a split.
pub fn evaluate(model: &Classifier, split: &Loader) -> Result<Confusion, Box<dyn Error>> {
    let mut counts = [[0; CLASSES]; CLASSES];
    for batch in split.iter() {
        let batch = batch?;
        let guesses = model
            .forward(batch.images)
            .argmax(1)
            .try_into_vec_as::<u8>()?;
        for (label, guess) in batch
            .labels
            .try_into_vec_as::<u8>()?
            .into_iter()
            .zip(guesses)
        {
            counts[usize::from(label)][usize::from(guess)] += 1;
        }
    }
    Ok(Confusion(counts))
}

impl Confusion {
    /// The share of digits that were taken for what they are.
    pub fn accuracy(&self) -> f64 {
        let all: usize = self.0.iter().flatten().sum();
        let right: usize = (0..CLASSES).map(|digit| self.0[digit][digit]).sum();
        right as f64 / all as f64
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::UTF8_FULL_CONDENSED);
        let header = std::iter::once("digit \\ guess".to_string())
            .chain((0..CLASSES).map(|guess| guess.to_string()));
        table.set_header(header);
        for (digit, row) in self.0.iter().enumerate() {
            let cells = row.iter().map(|count| {
                if *count == 0 {
                    String::new()
                } else {
                    count.to_string()
                }
            });
            table.add_row(std::iter::once(digit.to_string()).chain(cells));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Digits;
    use crate::{classify, export};

    #[test]
    fn a_model_trains_and_is_the_same_when_it_is_loaded_and_as_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let device = Device::default();
        let (digits, test) = Digits::load(None).unwrap().split();
        let options = TrainArguments {
            epochs: 3,
            ..Default::default()
        };
        train(&options, digits, test.clone(), folder.path(), &device).unwrap();

        let loader = DataLoaderBuilder::new(DigitBatcher).batch_size(256);
        let model = classify::load(folder.path(), &device).unwrap();
        let confusion = evaluate(&model, &loader.build(test.clone())).unwrap();
        // Chance is 10 %; three of thirty epochs are well on their way.
        assert!(confusion.accuracy() > 0.8, "{}", confusion.accuracy());

        let program = folder.path().join("program");
        export::export(&test, folder.path(), &program).unwrap();
        export::replay(&test, folder.path(), &program, &device).unwrap();
        classify::classify(&test, 42, folder.path(), &device).unwrap();
    }

    #[test]
    fn without_a_model_the_error_says_how_to_train_one() {
        let folder = tempfile::tempdir().unwrap();
        let error = classify::load(folder.path(), &Device::default())
            .err()
            .unwrap();
        let error = error.to_string();
        assert!(error.contains("cargo run --release -p digits"), "{error}");
    }
}
