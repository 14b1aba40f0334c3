//! `run-checks`, `lint` and `test`: what cargo and its tools find, in a fixed order.
//!
//! The house rules are in [`crate::tidy`], the book's snippets in [`crate::book`].

use crate::util::{Result, Steps, cargo, installed, program};
use crate::{book, llvm, tidy};
use clap::{Args, ValueEnum};

/// The engine that runs the tests.
#[derive(Args)]
pub(crate) struct Engine {
    /// Engine that the tests run on
    #[arg(long, value_enum, default_value_t = Backend::Flex)]
    pub(crate) backend: Backend,
}

/// Engines by the name that users know them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// CPU kernels in pure Rust
    Flex,
    /// JIT-compiled CPU kernels
    Cpu,
    /// Vulkan through wgpu
    Vulkan,
    /// NVIDIA GPUs
    Cuda,
}

impl Backend {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Flex => "flex",
            Self::Cpu => "cpu",
            Self::Vulkan => "vulkan",
            Self::Cuda => "cuda",
        }
    }

    /// Whether its build links LLVM.
    fn links_llvm(self) -> bool {
        matches!(self, Self::Cpu | Self::Cuda)
    }
}

/// A crate that must build without the standard library, with the features to leave on.
///
/// Beyond the names of engines and layers there is nothing to choose: `rayon` and `simd` are
/// extras of the hosted build.
pub(crate) const NO_STD: &[(&str, &str)] = &[
    ("burn-std", ""),
    ("burn-ir", ""),
    ("burn-backend", ""),
    ("burn-flex", ""),
    ("burn-autodiff", ""),
    ("burn-capture", ""),
    ("burn-fusion", ""),
    ("burn-dispatch", "autodiff,capture"),
    ("burn-tensor", "flex,autodiff,capture,fusion"),
    ("burn-linalg", ""),
    ("burn-signal", ""),
    ("burn-pack", ""),
    ("burn-core", "flex,autodiff,capture,fusion"),
    ("burn-nn", "flex,autodiff,capture,fusion"),
    ("burn-optim", "flex,autodiff,capture,fusion"),
    ("burn", "flex,nn,optim,capture,fusion,linalg,signal"),
];

/// Everything a change must pass before it is merged; on another engine than flex, the tests of that engine.
pub(crate) fn run_checks(steps: &mut Steps, backend: Backend) -> Result {
    if backend != Backend::Flex {
        return test(steps, backend);
    }
    lint(steps)?;
    test(steps, backend)?;
    book::run(steps)
}

/// Whatever can be found without running a test.
pub(crate) fn lint(steps: &mut Steps) -> Result {
    steps.command("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    tidy::run(steps)?;
    if installed("typos") {
        steps.command("spelling", &mut program("typos", &[]))?;
    } else {
        steps.skip("spelling", "typos is not installed");
    }
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    steps.command("clippy", &mut cargo(&clippy))?;
    let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
    steps.command("documentation", doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    for (name, features) in NO_STD {
        let check = [
            "check",
            "-p",
            name,
            "--no-default-features",
            "--features",
            features,
        ];
        steps.command(&format!("no_std: {name}"), &mut cargo(&check))?;
    }
    Ok(())
}

/// The tests of the whole workspace, documentation tests included; on another engine than flex, the sample table and the
/// tests of its crate, with autotune and without. Each of these runs compares fused and unfused.
pub(crate) fn test(steps: &mut Steps, backend: Backend) -> Result {
    let name = backend.name();
    if backend == Backend::Flex {
        steps.command("test on flex", &mut cargo(&["test", "--workspace"]))?;
        let sources = [
            "test",
            "-p",
            "burn-dataset",
            "--features",
            "builtin-sources,parquet",
        ];
        return steps.command("sources of data", &mut cargo(&sources));
    }
    if backend.links_llvm() {
        llvm::run(steps)?;
    }
    // One command for both crates: cargo builds CubeCL anew for every set of features of what is shared.
    let features = format!("burn-backend-tests/{name},burn-cubecl/{name}");
    for (switch, value) in [("with autotune", "1"), ("without autotune", "0")] {
        let mut tests = cargo(&["test", "-p", "burn-backend-tests", "-p", "burn-cubecl"]);
        tests.args(["--features", &features, "--lib", "--test", name]);
        let title = format!("sample table on {name}, {switch}");
        steps.command(&title, tests.env("BURN_AUTOTUNE", value))?;
    }
    Ok(())
}
