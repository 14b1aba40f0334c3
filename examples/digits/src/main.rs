//! Trains a small classifier on 1,797 real handwritten digits, and tries it on one of them.

mod classify;
mod data;
mod export;
mod model;
mod train;

use burn::prelude::*;
use clap::{Parser, Subcommand};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Trains a classifier on handwritten digits, and tries it.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// The file with the digits, instead of the copy that comes with the example.
    #[arg(long, global = true)]
    data: Option<PathBuf>,

    /// Where the trained model is kept.
    #[arg(long, global = true, default_value = "target/digits")]
    model: PathBuf,
}

#[derive(Subcommand)]
enum Command {
    /// Trains, evaluates and saves a model. The default.
    Train(train::TrainArguments),
    /// Draws a digit of the test split and says what the saved model sees in it.
    Classify {
        /// The position of the digit in the test split.
        sample: usize,
    },
    /// Captures the saved model as a program over one batch, and writes it with its weights.
    Export {
        /// The file to write.
        program: PathBuf,
    },
    /// Runs an exported program on the test split, without the model's code.
    Replay {
        /// The file to read.
        program: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let device = Device::default();
    let digits = data::Digits::load(arguments.data.as_deref())?;
    let (train, test) = digits.split();
    match arguments
        .command
        .unwrap_or_else(|| Command::Train(Default::default()))
    {
        Command::Train(options) => train::train(&options, train, test, &arguments.model, &device),
        Command::Classify { sample } => {
            classify::classify(&test, sample, &arguments.model, &device)
        }
        Command::Export { program } => export::export(&test, &arguments.model, &program),
        Command::Replay { program } => export::replay(&test, &arguments.model, &program, &device),
    }
}
