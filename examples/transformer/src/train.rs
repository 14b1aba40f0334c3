//! Training and evaluation, by a loop of our own.

use crate::model::{DIGITS, Reverser, ReverserConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::prelude::*;
use burn::tensor::Distribution;

/// How to train.
#[derive(Config, Debug)]
pub struct TrainingConfig {
    /// The sizes of the model.
    #[config(default = "ReverserConfig::new()")]
    pub model: ReverserConfig,
    /// Steps of the optimizer.
    #[config(default = 500)]
    pub steps: usize,
    /// Rows for each step.
    #[config(default = 64)]
    pub batch_size: usize,
    /// Digits of a row.
    #[config(default = 8)]
    pub length: usize,
    /// The learning rate of Adam.
    #[config(default = 3e-3)]
    pub learning_rate: f64,
    /// Decides the first weights and the rows.
    #[config(default = 7)]
    pub seed: u64,
    /// The loss to get below. Guessing is ln 10 = 2.30.
    #[config(default = 0.1)]
    pub goal: f64,
}

/// Random rows of digits, `[batch, length]`.
fn rows(batch: usize, length: usize, device: &Device) -> Tensor<2, Int> {
    let range = Distribution::Uniform(0.0, DIGITS as f64);
    Tensor::random([batch, length], range, device)
}

/// Trains a model, and gives it with the mean loss of its last steps.
pub fn train(config: &TrainingConfig, device: &Device) -> (Reverser, f64) {
    device.seed(config.seed);
    let device = device.clone().autodiff();
    let mut model = config.model.init(&device);
    let mut optimizer = AdamConfig::new().init();
    // Of the last tenth.
    let window = (config.steps / 10).max(1);
    let mut losses = Vec::new();
    for step in 1..=config.steps {
        let loss = model.loss(rows(config.batch_size, config.length, &device));
        let grads = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(config.learning_rate, model, grads);
        losses.push(loss.into_scalar::<f64>());
        if step % window == 0 {
            println!("step {step:4}  loss {:.4}", mean(&losses, window));
        }
    }
    (model.valid(), mean(&losses, window))
}

/// The share of digits that a model writes right, over rows of `length` it never saw.
pub fn evaluate(model: &Reverser, length: usize, device: &Device) -> f64 {
    let rows = rows(256, length, device);
    let right = model.write(rows.clone()).equal(rows.flip([1])).float();
    right.mean().into_scalar::<f64>()
}

/// The mean of the last losses.
fn mean(losses: &[f64], window: usize) -> f64 {
    let last = &losses[losses.len().saturating_sub(window)..];
    last.iter().sum::<f64>() / last.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_row_is_learned_in_a_few_steps() {
        let config = TrainingConfig::new()
            .with_model(ReverserConfig::new().with_d_model(16).with_n_heads(2))
            .with_steps(150)
            .with_length(3)
            .with_batch_size(32)
            .with_learning_rate(1e-2);
        let device = Device::default();
        let (model, loss) = train(&config, &device);
        // Guessing is 2.3 and one tenth.
        assert!(loss < 1.0, "{loss}");
        assert!(evaluate(&model, 3, &device) > 0.6);
    }
}
