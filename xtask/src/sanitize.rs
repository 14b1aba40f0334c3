//! `sanitize`: the unsafe code of the CPU kernels under AddressSanitizer and Miri, by a nightly toolchain.
//!
//! The sanitizer sees vector instructions, threads and whole sizes, but only what leaves a buffer. Miri sees every rule of
//! the language, on the scalar kernels, at a thousandth of the speed: it takes what walks pointers by strides.

use crate::util::{Result, Steps, program, target_dir};
use std::process::Command;

/// The host, since a sanitizer asks for a target.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The modules of `burn-flex` that Miri runs the tests of.
const MODULES: &[&str] = &[
    "tensor::",
    "parallel::",
    "rows::",
    "ops::movement",
    "ops::bands",
    "ops::index",
    "ops::quant",
    "ops::random",
];

/// Runs both; flags of the compiler differ from those of other builds, so each has a folder of its own.
pub(crate) fn run(steps: &mut Steps) -> Result {
    let address = |package: &str, tests: &[&str]| {
        let mut command = nightly("address");
        command.args(["test", "--target", TARGET, "--package", package]);
        command
            .args(tests)
            .env("RUSTFLAGS", "-Zsanitizer=address --cfg plain_allocations")
            .env("CARGO_PROFILE_TEST_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        command
    };
    steps.command(
        "AddressSanitizer: kernels",
        &mut address("burn-flex", &["--lib"]),
    )?;
    steps.command(
        "AddressSanitizer: sample table",
        &mut address("burn-backend-tests", &["--test", "flex"]),
    )?;
    let mut kernels = miri("std");
    kernels.args(MODULES);
    steps.command("Miri: kernels", &mut kernels)?;
    let mut team = miri("std,rayon");
    team.arg("team::");
    steps.command("Miri: threads", &mut team)
}

/// Cargo of the nightly toolchain, in a folder of its own.
fn nightly(folder: &str) -> Command {
    let mut command = program("rustup", &["run", "nightly", "cargo"]);
    command.env("CARGO_TARGET_DIR", target_dir().join(folder));
    command
}

/// The unit tests of `burn-flex` with some features under Miri; threads that live as long as the process are no leak.
fn miri(features: &str) -> Command {
    let mut command = nightly("miri");
    command
        .args(["miri", "test", "--package", "burn-flex", "--lib"])
        .args(["--no-default-features", "--features", features, "--"])
        .env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks");
    command
}
