//! Synchronised medians, one JSON line a workload.

use burn::tensor::Device;
use std::time::{Duration, Instant};

/// How to time, and what of all workloads.
pub(crate) struct Timing {
    label: String,
    budget: Duration,
    wanted: Vec<String>,
}

impl Timing {
    /// The options of the command line.
    pub(crate) fn from_args(mut args: impl Iterator<Item = String>) -> Self {
        let mut timing = Self {
            label: "ours".into(),
            budget: Duration::from_secs(1),
            wanted: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_else(|| panic!("{arg} takes a value"));
            match arg.as_str() {
                "--label" => timing.label = value(),
                "--secs" => {
                    timing.budget =
                        Duration::from_secs_f64(value().parse().expect("--secs takes a number"));
                }
                _ => timing.wanted.push(arg),
            }
        }
        timing
    }

    /// Times a workload: the closure that `set_up` gives, with the wait for the device and the drop of the result.
    ///
    /// The first call, which compiles and tunes, is reported apart.
    pub(crate) fn run<T, F: FnMut() -> T>(
        &self,
        name: &str,
        device: &Device,
        set_up: impl FnOnce() -> F,
    ) {
        if !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| wanted == name) {
            return;
        }
        let mut work = set_up();
        device.sync().expect("the inputs are there");
        let mut once = || {
            let start = Instant::now();
            let result = work();
            device.sync().expect("the workload runs");
            drop(result);
            start.elapsed()
        };
        let first = once();
        for _ in 0..5 {
            once();
        }
        let mut times = Vec::new();
        let start = Instant::now();
        while times.len() < 10 || start.elapsed() < self.budget {
            times.push(once());
        }
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{{\"peer\":\"{}\",\"name\":\"{name}\",\"median_ms\":{:.5},\"min_ms\":{:.5},\"first_ms\":{:.1},\"iters\":{}}}",
            self.label,
            ms(times[times.len() / 2]),
            ms(times[0]),
            ms(first),
            times.len(),
        );
    }
}
