//! A transformer learns to reverse rows of digits: an encoder reads a row, a decoder writes it digit by digit.

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
    let accuracy = train::evaluate(&model, config.length, &device);
    println!(
        "{:.2} % of the digits are written right, after {:.1} s",
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
