//! Training and evaluation, by a loop of our own.

use crate::model::{Parity, Rows};
use burn::optim::{AdamConfig, GradientsParams};
use burn::prelude::*;

/// How to train.
#[derive(Config, Debug)]
pub struct TrainingConfig {
    /// Steps of the optimizer.
    #[config(default = 400)]
    pub steps: usize,
    /// Rows for each step.
    #[config(default = 64)]
    pub batch_size: usize,
    /// Bits of a row.
    #[config(default = 16)]
    pub length: usize,
    /// The numbers that the model remembers.
    #[config(default = 32)]
    pub hidden: usize,
    /// The learning rate of Adam.
    #[config(default = 1e-2)]
    pub learning_rate: f64,
    /// Decides the first weights and the rows.
    #[config(default = 7)]
    pub seed: u64,
    /// The loss to get below. Guessing is ln 2 = 0.69.
    #[config(default = 0.05)]
    pub goal: f64,
}

/// Trains a model, and gives it with the mean loss of its last steps.
pub fn train(config: &TrainingConfig, device: &Device) -> (Parity, f64) {
    device.seed(config.seed);
    let device = device.clone().autodiff();
    let mut model = Parity::new(config.hidden, &device);
    let mut optimizer = AdamConfig::new().init();
    // Of the last tenth.
    let window = (config.steps / 10).max(1);
    let mut losses = Vec::new();
    for step in 1..=config.steps {
        let rows = Rows::random(config.batch_size, config.length, &device);
        let loss = model.loss(&rows);
        let grads = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(config.learning_rate, model, grads);
        losses.push(loss.into_scalar::<f64>());
        if step % window == 0 {
            println!("step {step:4}  loss {:.4}", mean(&losses, window));
        }
    }
    (model.valid(), mean(&losses, window))
}

/// The share of bits of which a model says the right thing, over rows of `length` it never saw.
pub fn evaluate(model: &Parity, length: usize, device: &Device) -> f64 {
    let rows = Rows::random(256, length, device);
    let said = model.forward(rows.bits).argmax(2).squeeze_dim::<2>(2);
    let right = said.equal(rows.parity).float();
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
            .with_steps(120)
            .with_length(4)
            .with_hidden(16)
            .with_batch_size(32)
            .with_learning_rate(3e-2);
        let device = Device::default();
        let (model, loss) = train(&config, &device);
        // Guessing is 0.69 and one half.
        assert!(loss < 0.3, "{loss}");
        assert!(evaluate(&model, 4, &device) > 0.8);
    }
}
