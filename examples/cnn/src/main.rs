//! Trains a convolutional network to tell drawn shapes apart, by a loop that is written out, and fails if it does not
//! learn.

mod data;
mod model;

use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::optim::{AdamConfig, GradientsParams};
use burn::prelude::*;
use data::{DrawingBatch, DrawingBatcher, drawings};
use model::{Net, NetConfig};
use std::error::Error;
use std::time::Instant;

const EPOCHS: usize = 6;
const BATCH_SIZE: usize = 32;
const LEARNING_RATE: f64 = 5e-3;
const SEED: u64 = 7;

/// What has been learnt when the loss and the share of right answers on drawings never seen are these.
const MAX_LOSS: f64 = 0.1;
const MIN_ACCURACY: f64 = 0.97;

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let device = Device::default();
    let (loss, accuracy) = train(2048, EPOCHS, &device)?;
    println!("{:.1} s", start.elapsed().as_secs_f64());
    if loss > MAX_LOSS || accuracy < MIN_ACCURACY {
        return Err(format!(
            "not learnt: the loss is {loss:.4}, no more than {MAX_LOSS} was asked for; \
             {:.1} % are right, {:.1} % were asked for",
            100.0 * accuracy,
            100.0 * MIN_ACCURACY
        )
        .into());
    }
    Ok(())
}

/// Trains on `count` drawings, and gives loss and accuracy on others.
fn train(count: usize, epochs: usize, device: &Device) -> Result<(f64, f64), Box<dyn Error>> {
    device.seed(SEED);
    let training = device.clone().autodiff();
    let train = DataLoaderBuilder::new(DrawingBatcher)
        .batch_size(BATCH_SIZE)
        .shuffle(SEED)
        .set_device(training.clone())
        .build(drawings(count, SEED));
    let test = DataLoaderBuilder::new(DrawingBatcher)
        .batch_size(256)
        .set_device(device.clone())
        .build(drawings(512, SEED + 1));

    let mut model = NetConfig::new().init(&training);
    println!("{model}");
    let mut optimizer = AdamConfig::new().init();
    let mut result = (f64::NAN, 0.0);
    for epoch in 1..=epochs {
        let mut sum = 0.0;
        for batch in train.iter() {
            let batch = batch?;
            let items = batch.labels.dims()[0];
            let scores = model.forward(batch.images);
            let loss = model.loss(scores, batch.labels);
            let grads = GradientsParams::from_grads(loss.backward(), &model);
            model = optimizer.step(LEARNING_RATE, model, grads);
            sum += loss.into_scalar::<f64>() * items as f64;
        }
        // Without dropout, and with the running statistics.
        result = evaluate(&model.valid(), &*test)?;
        println!(
            "epoch {epoch}/{epochs}  loss {:.4}  test loss {:.4}  test accuracy {:.1} %",
            sum / count as f64,
            result.0,
            100.0 * result.1
        );
    }
    Ok(result)
}

/// The mean loss, and the share of drawings whose shape has the largest score.
fn evaluate(
    model: &Net,
    split: &dyn DataLoader<DrawingBatch>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let (mut loss, mut right, mut seen) = (0.0, 0, 0);
    for batch in split.iter() {
        let batch = batch?;
        let items = batch.labels.dims()[0];
        let scores = model.forward(batch.images);
        let guesses: Tensor<1, Int> = scores.clone().argmax(1).squeeze_dim(1);
        let hits = guesses.equal(batch.labels.clone()).int().sum();
        let mean = model.loss(scores, batch.labels);
        loss += mean.into_scalar::<f64>() * items as f64;
        right += hits.into_scalar::<i64>();
        seen += items;
    }
    Ok((loss / seen as f64, right as f64 / seen as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_drawings_are_learnt_better_than_by_chance() {
        let (loss, accuracy) = train(512, 2, &Device::flex()).unwrap();
        // Chance has the loss ln 4 = 1.39 and is right in a quarter.
        assert!(loss < 1.2 && accuracy > 0.4, "{loss} {accuracy}");
    }
}
