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

/// The tests to run.
#[derive(Args)]
pub(crate) struct Extent {
    #[command(flatten)]
    engine: Engine,
    /// On another engine than flex: every n-th case of the sample table only, in one run
    #[arg(long, value_name = "N")]
    every: Option<usize>,
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
pub(crate) fn run_checks(steps: &mut Steps, extent: &Extent) -> Result {
    if extent.engine.backend != Backend::Flex {
        return test(steps, extent);
    }
    lint(steps)?;
    test(steps, extent)?;
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

/// What runs on another engine than flex, for the arguments of cargo, with the feature that builds the engine in.
///
/// Always these together, and with a test among what is built: cargo builds CubeCL anew for every set of features of what is
/// shared.
pub(crate) fn packages(backend: Backend) -> Vec<String> {
    const PACKAGES: [&str; 3] = ["burn-backend-tests", "burn-cubecl", "digits"];
    let packages = PACKAGES
        .iter()
        .map(|package| format!("--package={package}"));
    let name = backend.name();
    let features = PACKAGES.map(|package| format!("{package}/{name}"));
    packages
        .chain([format!("--features={}", features.join(","))])
        .collect()
}

/// The tests of the whole workspace, documentation tests included; on another engine than flex, the sample table and the
/// tests of its crate, with autotune and without. Each of these runs compares fused and unfused.
pub(crate) fn test(steps: &mut Steps, extent: &Extent) -> Result {
    let backend = extent.engine.backend;
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
        llvm::prepare(steps)?;
    }
    let tests = || {
        let mut tests = cargo(&["test", "--lib", "--test", name]);
        tests.args(["--test", "products", "--test", "runtime"]);
        tests.args(packages(backend));
        tests
    };
    if let Some(every) = extent.every {
        let title = format!("one case in {every} of the sample table on {name}");
        let part = format!("1/{every}");
        return steps.command(&title, tests().env("BURN_SAMPLES", part));
    }
    for (switch, value) in [("with autotune", "1"), ("without autotune", "0")] {
        let title = format!("sample table on {name}, {switch}");
        steps.command(&title, tests().env("BURN_AUTOTUNE", value))?;
    }
    Ok(())
}
