//! The sample table and the speed table of a GPU, in one program that needs nothing but the driver: built on a machine
//! without a GPU, it is carried to one that has it. `cargo xtask gpu` builds it; `benchmarks/gpu/run.sh` runs it.
//!
//! What the workloads are is in [`workloads`], how they are timed in [`timing`].

mod report;
mod timing;
mod workloads;

use burn::tensor::Device;
use burn_backend_tests::modes;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;
use timing::Timing;

const USAGE: &str = "usage: gpu table unfused|fused|lowering|same-bits
       gpu speed [--label NAME] [--secs S] [WORKLOAD...]
       gpu report TITLE FILE.jsonl...";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("table") if args.next().is_some_and(|mode| table(&mode)) => (),
        Some("table") => return ExitCode::FAILURE,
        Some("speed") => workloads::run(&mut Timing::from_args(args), &Device::cuda(0)),
        Some("report") => report::print(args),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The modes of the sample table.
const MODES: [&str; 4] = ["unfused", "fused", "lowering", "same-bits"];

/// The sample table in one mode; whether it passed. What fails is printed.
///
/// One process a mode: nearly all of the time goes into compiling kernels, which a process does one after the other.
fn table(mode: &str) -> bool {
    let plain = burn_cubecl::cuda(0).unwrap_or_else(|error| panic!("{error}"));
    let fused = burn_dispatch::registry::fused(plain);
    let start = Instant::now();
    let passed = catch_unwind(AssertUnwindSafe(|| match mode {
        "unfused" => modes::values(plain),
        "fused" => modes::values(fused),
        "lowering" => modes::lowering(plain),
        "same-bits" => modes::fused(plain, fused),
        other => panic!("`{other}` is none of {}", MODES.join(", ")),
    }));
    let outcome = if passed.is_ok() { "passed" } else { "FAILED" };
    println!("{outcome}: {mode} ({:.1} s)", start.elapsed().as_secs_f64());
    passed.is_ok()
}
