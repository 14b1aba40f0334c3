//! Composite functions.

use super::{FLOATS, INF, NAN, WIDE};
use crate::reference::erfc;
use crate::{Input, Sample};
use burn_ir::{ActivationOp, Operation};
use core::f64::consts::FRAC_1_SQRT_2;

fn activation(note: &str, shape: &[usize], op: ActivationOp) -> Sample {
    Sample::new(note, FLOATS, vec![Input::new(shape)], move |_| {
        Operation::Activation { op, input: 0 }
    })
    .within(-4.0, 4.0)
}

fn relu(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x }
}

fn gelu(x: f64) -> f64 {
    // 1 + erf(z) = erfc(-z), which does not cancel.
    x * 0.5 * erfc(-x * FRAC_1_SQRT_2)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn softmax(line: &[f64]) -> Vec<f64> {
    let max = line.iter().copied().fold(-INF, f64::max);
    let exps = line.iter().map(|x| (x - max).exp());
    let sum: f64 = exps.clone().sum();
    exps.map(|exp| exp / sum).collect()
}

fn log_softmax(line: &[f64]) -> Vec<f64> {
    let max = line.iter().copied().fold(-INF, f64::max);
    let sum: f64 = line.iter().map(|x| (x - max).exp()).sum();
    line.iter().map(|x| x - max - sum.ln()).collect()
}

pub(super) fn samples() -> Vec<Sample> {
    let mut samples = vec![
        activation("", &WIDE, ActivationOp::Relu)
            .reference(relu)
            .edges([0.0, -0.0, INF, -INF, NAN])
            .kinked(),
        // Where Φ cancels, an error of four roundoffs in erf, its own tolerance, counts half relative to x.
        activation("", &WIDE, ActivationOp::Gelu)
            .reference(gelu)
            .edges([0.0, INF, NAN])
            .ulps(8.0)
            .slack(|x| 2.0 * x.abs())
            .smooth()
            .thrice(),
        activation("", &WIDE, ActivationOp::Sigmoid)
            .reference(sigmoid)
            .edges([0.0, INF, -INF, NAN])
            .ulps(4.0)
            .smooth()
            .thrice(),
    ];
    for (note, dim, shape) in [
        ("over the first dim", 0, &[5, 3, 4][..]),
        ("over the middle dim", 1, &[3, 5, 4]),
        ("over the last dim", 2, &[3, 4, 37]),
        ("of one line", 0, &[67]),
    ] {
        // The subtraction rounds arguments of up to 8 by half a unit, which moves the exponential by 4 roundoffs or
        // 8 units at worst; the sum and the quotient add theirs. The logarithm of nearly 1 is as wrong as that 1.
        samples.push(
            activation(note, shape, ActivationOp::Softmax { dim })
                .lines(dim, softmax)
                .ulps(16.0)
                .smooth(),
        );
        samples.push(
            activation(note, shape, ActivationOp::LogSoftmax { dim })
                .lines(dim, log_softmax)
                .ulps(8.0)
                .slack(|x| 8.0 + x.abs())
                .smooth(),
        );
    }
    samples
}
