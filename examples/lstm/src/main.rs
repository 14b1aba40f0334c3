//! An LSTM learns to tell at each bit of a row whether the ones so far are odd: it has to remember, and to forget.

mod model;
mod train;

use burn::prelude::*;
use std::process::ExitCode;
use std::time::Instant;
use train::TrainingConfig;

fn main() -> ExitCode {
    let start = Instant::now();
    let config = TrainingConfig::new();
    let device = Device::default();
    let (model, loss) = train::train(&config, &device);
    let accuracy = train::evaluate(&model, 2 * config.length, &device);
    println!(
        "{:.2} % right on rows twice as long, after {:.1} s",
        100.0 * accuracy,
        start.elapsed().as_secs_f64()
    );
    match loss < config.goal {
        true => ExitCode::SUCCESS,
        false => {
            eprintln!("error: the loss is {loss:.4}, the goal {}", config.goal);
            ExitCode::FAILURE
        }
    }
}
