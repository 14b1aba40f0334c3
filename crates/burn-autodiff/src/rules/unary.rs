//! Elementwise functions of one argument.

use super::{Keep, Kept, Output, Rule};
use burn_backend::{Build, Emit};
use burn_ir::{BinaryOp, UnaryOp};
use core::f64::consts::FRAC_2_SQRT_PI;

/// How an elementwise function pulls a gradient `g` back. The variant says what the tape must keep, so no rule
/// declares it twice.
enum Elementwise<E: Emit> {
    /// Constant between its steps: gradients of zeros, so that whoever waits for one gets it.
    Step,
    /// Not of floats.
    Zero,
    /// From `g` alone.
    Linear(fn(&mut E, E::Tensor) -> E::Tensor),
    /// From `g` and the argument `x`.
    FromInput(fn(&mut E, E::Tensor, E::Tensor) -> E::Tensor),
    /// From `g` and the value `y`.
    FromOutput(fn(&mut E, E::Tensor, E::Tensor) -> E::Tensor),
}

fn elementwise<E: Emit>(op: UnaryOp) -> Elementwise<E> {
    use Elementwise::{FromInput, FromOutput, Linear, Step, Zero};
    match op {
        UnaryOp::Neg => Linear(|e, g| e.neg(g)),
        UnaryOp::Abs => FromInput(|e, g, x| {
            let sign = e.unary(UnaryOp::Sign, x);
            e.mul(g, sign)
        }),
        UnaryOp::Exp => FromOutput(|e, g, y| e.mul(g, y)),
        UnaryOp::Log => FromInput(|e, g, x| e.div(g, x)),
        UnaryOp::Log1p => FromInput(|e, g, x| {
            let shifted = e.add_scalar(x, 1.0);
            e.div(g, shifted)
        }),
        UnaryOp::Sqrt => FromOutput(|e, g, y| {
            let twice = e.mul_scalar(y, 2.0);
            e.div(g, twice)
        }),
        // -1 / x² = -y²
        UnaryOp::Recip => FromOutput(|e, g, y: E::Tensor| {
            let square = e.mul(y.clone(), y);
            let product = e.mul(g, square);
            e.neg(product)
        }),
        UnaryOp::Sin => FromInput(|e, g, x| {
            let cos = e.unary(UnaryOp::Cos, x);
            e.mul(g, cos)
        }),
        UnaryOp::Cos => FromInput(|e, g, x| {
            let sin = e.unary(UnaryOp::Sin, x);
            let product = e.mul(g, sin);
            e.neg(product)
        }),
        // 1 / (1 + x²)
        UnaryOp::Atan => FromInput(|e, g, x: E::Tensor| {
            let square = e.mul(x.clone(), x);
            let divisor = e.add_scalar(square, 1.0);
            e.div(g, divisor)
        }),
        // 1 - y²
        UnaryOp::Tanh => FromOutput(|e, g: E::Tensor, y: E::Tensor| {
            let square = e.mul(y.clone(), y);
            let rest = e.mul(g.clone(), square);
            e.sub(g, rest)
        }),
        // 2/√π · e^(-x²)
        UnaryOp::Erf => FromInput(|e, g, x: E::Tensor| {
            let square = e.mul(x.clone(), x);
            let negative = e.neg(square);
            let bell = e.unary(UnaryOp::Exp, negative);
            let scaled = e.mul_scalar(bell, FRAC_2_SQRT_PI);
            e.mul(g, scaled)
        }),
        UnaryOp::Sign | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round | UnaryOp::Trunc => Step,
        UnaryOp::Not => Zero,
    }
}

pub(super) fn rule(op: UnaryOp) -> Rule {
    match elementwise::<burn_backend::Recorder>(op) {
        Elementwise::Zero => Rule::Zero,
        Elementwise::Step | Elementwise::Linear(_) => Rule::Pullback(Keep::NOTHING),
        Elementwise::FromInput(_) => Rule::Pullback(Keep::operands([(0, true)])),
        Elementwise::FromOutput(_) => Rule::Pullback(Keep::OUTPUT),
    }
}

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    op: UnaryOp,
    input: Kept<E::Tensor>,
    output: Output<E::Tensor>,
    grad: E::Tensor,
) -> Option<E::Tensor> {
    match elementwise::<E>(op) {
        Elementwise::Step => Some(e.full(&input.meta, 0.0)),
        Elementwise::Zero => None,
        Elementwise::Linear(f) => Some(f(e, grad)),
        Elementwise::FromInput(f) => Some(f(e, grad, input.value())),
        Elementwise::FromOutput(f) => Some(f(e, grad, output.value())),
    }
}

/// `base^exponent` for a fixed exponent.
pub(super) fn powf<E: Emit>(e: &mut E, base: E::Tensor, exponent: f64) -> E::Tensor {
    match exponent {
        1.0 => base,
        exponent => e.binary_scalar(BinaryOp::Pow, base, exponent),
    }
}
