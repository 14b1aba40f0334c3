//! `cargo xtask`: the project's checks, tests, tidy rules, book and targets.
//!
//! Only the command line is here; each subcommand lives in the module of its name.

mod book;
mod checks;
mod curves;
mod gpu;
mod llvm;
mod sanitize;
mod targets;
mod tidy;
mod util;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Everything this project does besides `cargo build`.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything a change must pass: `lint`, the tests and the book's snippets; the sample table on another engine
    RunChecks {
        #[command(flatten)]
        extent: checks::Extent,
    },
    /// Format, clippy, spelling, documentation, no_std builds and tidy; runs no test
    Lint,
    /// Unit, integration and documentation tests of the whole workspace; the sample table on another engine
    Test {
        #[command(flatten)]
        extent: checks::Extent,
    },
    /// Trains the digits example with fusion and autotune on and off, and compares the losses
    Curves {
        #[command(flatten)]
        engine: checks::Engine,
    },
    /// The house rules: crate edges, operation names, sizes, module docs, op budget
    Tidy,
    /// Runs the Rust snippets of the book and README, and builds the book if mdbook is there
    Book,
    /// Builds the no_std crates for bare metal and the facade for the web
    Targets {
        /// Install what is missing, by rustup or else by apt
        #[arg(long)]
        install: bool,
    },
    /// Installs the LLVM that the `cpu` and `cuda` engines link, from Python wheels
    Llvm,
    /// Runs the CPU kernels' unsafe code under AddressSanitizer and Miri, which need a nightly toolchain
    Sanitize,
    /// Builds the program that checks and times an NVIDIA GPU, to carry to a machine that has one
    Gpu {
        /// The folder to leave it in, with the script that runs it
        #[arg(default_value = "target/gpu")]
        out: std::path::PathBuf,
    },
}

fn main() -> ExitCode {
    let task = Cli::parse().task;
    let mut steps = util::Steps::new();
    let outcome = match task {
        Task::RunChecks { extent } => checks::run_checks(&mut steps, &extent),
        Task::Lint => checks::lint(&mut steps),
        Task::Test { extent } => checks::test(&mut steps, &extent),
        Task::Curves { engine } => curves::run(&mut steps, engine.backend),
        Task::Tidy => tidy::run(&mut steps),
        Task::Book => book::run(&mut steps),
        Task::Targets { install } => targets::run(&mut steps, install),
        Task::Llvm => llvm::run(&mut steps),
        Task::Sanitize => sanitize::run(&mut steps),
        Task::Gpu { out } => gpu::run(&mut steps, &out),
    };
    steps.finish(outcome)
}
