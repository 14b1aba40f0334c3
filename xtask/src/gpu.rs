//! `gpu`: one stripped program with the sample table and the speed table of a GPU, to carry to a machine that has one.
//!
//! What it measures is in `benchmarks/src/bin/gpu`; `run.sh`, which is copied beside it, runs it there.

use crate::util::{Result, Steps, cargo, root, target_dir};
use std::fs;
use std::path::{Path, PathBuf};

/// What runs the program, from `benchmarks/gpu`.
const BESIDE: [&str; 2] = ["run.sh", "torch_peer.py"];

/// Builds the program, and leaves it in `out` with the scripts that run it.
pub(crate) fn run(steps: &mut Steps, out: &Path) -> Result {
    let mut build = cargo(&[
        "build",
        "--release",
        "--package",
        "benchmarks",
        "--bin",
        "gpu",
        "--features",
        "cuda",
    ]);
    build.env("CARGO_PROFILE_RELEASE_STRIP", "true");
    build.env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    steps.command("build", &mut build)?;
    steps.step("place", || {
        let copy = |from: PathBuf, name: &str| {
            fs::copy(&from, out.join(name)).map_err(|error| format!("{}: {error}", from.display()))
        };
        fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
        copy(target_dir().join("release/gpu"), "gpu")?;
        for script in BESIDE {
            copy(root().join("benchmarks/gpu").join(script), script)?;
        }
        println!(
            "on the machine with the GPU: {}/run.sh RESULTS",
            out.display()
        );
        Ok(())
    })
}
