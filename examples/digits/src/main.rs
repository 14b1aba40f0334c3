//! Trains a small classifier on 1,797 real handwritten digits, and tries it on one of them.

mod classify;
mod data;
mod export;
mod model;
mod train;

use burn::prelude::*;
use clap::{Parser, Subcommand, ValueEnum};
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

    /// Where to compute: the fastest device that is built in and there, unless one is named.
    #[arg(long, global = true)]
    device: Option<Engine>,

    /// Where the trained model is kept.
    #[arg(long, global = true, default_value = "target/digits")]
    model: PathBuf,
}

/// A device by its engine.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Engine {
    /// The CPU.
    Flex,
    /// The CPU, through kernels that are compiled when they first run; needs the feature `cpu`.
    Cpu,
    /// The first NVIDIA GPU; needs the feature `cuda`.
    Cuda,
    /// The first GPU through Vulkan; needs the feature `vulkan`.
    Vulkan,
}

impl From<Engine> for Device {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Flex => Self::flex(),
            Engine::Cpu => Self::cpu(),
            Engine::Cuda => Self::cuda(0),
            Engine::Vulkan => Self::vulkan(Default::default()),
        }
    }
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
    let device = arguments.device.map_or_else(Device::default, Device::from);
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
