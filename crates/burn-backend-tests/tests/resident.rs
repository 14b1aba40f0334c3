//! What a long run leaves in memory. A test binary of its own, so that nothing else allocates meanwhile.

#![cfg(target_os = "linux")]

use burn_backend::Build;
use burn_dispatch::{autodiff, registry};
use burn_flex::device as flex;
use burn_ir::UnaryOp;
use burn_std::TensorData;

/// Bytes of the process in memory.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes.expect("the status tells");
    kilobytes.parse::<i64>().expect("a number") * 1024
}

#[test]
fn a_million_forward_passes_without_a_backward_pass_leave_nothing() {
    let mut tape = registry::autodiff(flex());
    let x = tape.upload(TensorData::new(vec![0.5f32], [1]));
    let x = autodiff::require_grad(x).expect("the device has a tape");
    let mut passes = |count: usize| {
        for _ in 0..count {
            let y = tape.mul(x.clone(), x.clone());
            drop(tape.unary(UnaryOp::Exp, y));
        }
    };
    passes(10_000);
    let before = resident();
    passes(1_000_000);
    let grown = resident() - before;
    assert!(grown <= 5 << 20, "{grown} bytes");
}
