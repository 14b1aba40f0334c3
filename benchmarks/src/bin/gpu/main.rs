//! The sample table and the speed table of a GPU, in one program that needs nothing but the driver: built on a machine
//! without a GPU, it is carried to one that has it. `cargo xtask gpu` builds it; `benchmarks/gpu/run.sh` runs it.
//!
//! What the workloads are is in [`workloads`], how they are timed in [`timing`].

mod report;
mod timing;
mod workloads;

use burn::tensor::Device;
use burn_backend_tests::modes;
use std::process::ExitCode;
use timing::Timing;

const USAGE: &str = "usage: gpu table
       gpu speed [--label NAME] [--secs S] [WORKLOAD...]
       gpu report TITLE FILE.jsonl...";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("table") => table(),
        Some("speed") => workloads::run(&mut Timing::from_args(args), &Device::cuda(0)),
        Some("report") => report::print(args),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The sample table in all modes. Panics with the samples that fail.
fn table() {
    let plain = burn_cubecl::cuda(0).unwrap_or_else(|error| panic!("{error}"));
    let fused = burn_dispatch::registry::fused(plain);
    let mode = |name: &str, run: &dyn Fn()| {
        let start = std::time::Instant::now();
        run();
        println!("passed: {name} ({:.1} s)", start.elapsed().as_secs_f64());
    };
    mode("values, unfused", &|| modes::values(plain));
    mode("values, fused", &|| modes::values(fused));
    mode("lowering", &|| modes::lowering(plain));
    mode("fused = unfused", &|| modes::fused(plain, fused));
}
