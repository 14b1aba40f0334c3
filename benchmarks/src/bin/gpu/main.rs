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

const USAGE: &str = "usage: gpu table
       gpu speed [--label NAME] [--secs S] [WORKLOAD...]
       gpu report TITLE FILE.jsonl...";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("table") if table() => (),
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

/// The sample table in all modes; whether each passed. What fails is printed.
fn table() -> bool {
    let plain = burn_cubecl::cuda(0).unwrap_or_else(|error| panic!("{error}"));
    let fused = burn_dispatch::registry::fused(plain);
    let mode = |name: &str, run: &dyn Fn()| {
        let start = Instant::now();
        let passed = catch_unwind(AssertUnwindSafe(run)).is_ok();
        let outcome = if passed { "passed" } else { "FAILED" };
        println!("{outcome}: {name} ({:.1} s)", start.elapsed().as_secs_f64());
        passed
    };
    [
        mode("values, unfused", &|| modes::values(plain)),
        mode("values, fused", &|| modes::values(fused)),
        mode("lowering", &|| modes::lowering(plain)),
        mode("fused = unfused", &|| modes::fused(plain, fused)),
    ]
    .into_iter()
    .all(|passed| passed)
}
