//! Activations, where a rule keeps less than the lowering would.

use super::{Keep, Kept, Output, Rule};
use burn_backend::{Build, Emit};
use burn_ir::{ActivationOp, CompareOp, Dims, ReduceOp, UnaryOp};
use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

pub(super) fn rule(op: ActivationOp) -> Rule {
    match op {
        ActivationOp::Gelu => Rule::Pullback(Keep::operands([(0, true)])),
        ActivationOp::Relu
        | ActivationOp::Sigmoid
        | ActivationOp::Softmax { .. }
        | ActivationOp::LogSoftmax { .. } => Rule::Pullback(Keep::OUTPUT),
    }
}

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    op: ActivationOp,
    input: Kept<E::Tensor>,
    output: Output<E::Tensor>,
    grad: E::Tensor,
) -> E::Tensor {
    match op {
        ActivationOp::Relu => {
            let positive = e.compare_scalar(CompareOp::Greater, output.value(), 0.0);
            e.keep_where(positive, grad, 0.0)
        }
        ActivationOp::Gelu => gelu(e, input.value(), grad),
        // y·(1 - y)
        ActivationOp::Sigmoid => {
            let y = output.value();
            let scaled = e.mul(grad, y.clone());
            let rest = e.mul(scaled.clone(), y);
            e.sub(scaled, rest)
        }
        // y·(g - Σ g·y)
        ActivationOp::Softmax { dim } => {
            let y = output.value();
            let product = e.mul(grad.clone(), y.clone());
            let sum = e.reduce(ReduceOp::Sum, product, Dims::one(dim));
            let centred = e.sub(grad, sum);
            e.mul(y, centred)
        }
        // g - e^y·Σ g
        ActivationOp::LogSoftmax { dim } => {
            let sum = e.reduce(ReduceOp::Sum, grad.clone(), Dims::one(dim));
            let probabilities = e.unary(UnaryOp::Exp, output.value());
            let share = e.mul(probabilities, sum);
            e.sub(grad, share)
        }
    }
}

/// With `y = x·Φ(x)`: `dy/dx = Φ(x) + x·φ(x)`, `φ(x) = e^(-x²/2) / √(2π)`.
fn gelu<E: Emit>(e: &mut E, x: E::Tensor, grad: E::Tensor) -> E::Tensor {
    let scaled = e.mul_scalar(x.clone(), FRAC_1_SQRT_2);
    let square = e.mul(scaled.clone(), scaled.clone());
    let erf = e.unary(UnaryOp::Erf, scaled);
    let twice_phi = e.add_scalar(erf, 1.0);
    let cumulative = e.mul_scalar(twice_phi, 0.5);
    let negative = e.neg(square);
    let bell = e.unary(UnaryOp::Exp, negative);
    // 1/√(2π) = 2/√π · 1/(2√2)
    let density = e.mul_scalar(bell, FRAC_2_SQRT_PI * FRAC_1_SQRT_2 / 2.0);
    let weighted = e.mul(x, density);
    let slope = e.add(cumulative, weighted);
    e.mul(grad, slope)
}
