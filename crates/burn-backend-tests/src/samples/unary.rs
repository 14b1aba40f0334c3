//! Elementwise functions of one argument.

use super::{BITS, FLOATS, INF, NAN, NUMERIC, WIDE};
use crate::reference::erf;
use crate::{Input, Sample};
use burn_ir::{Operation, UnaryOp};

fn unary(op: UnaryOp) -> Sample {
    Sample::new("", FLOATS, vec![Input::new(WIDE)], move |_| {
        Operation::Unary { op, input: 0 }
    })
    .int_edges()
}

fn sign(x: f64) -> f64 {
    match x == 0.0 || x.is_nan() {
        true => x,
        false => x.signum(),
    }
}

const SPECIAL: [f64; 5] = [0.0, -0.0, INF, -INF, NAN];
const HALVES: [f64; 11] = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, INF, -INF, NAN];

pub(super) fn samples() -> Vec<Sample> {
    [smooth(), stepped(), of_several_kinds()].concat()
}

fn smooth() -> Vec<Sample> {
    vec![
        unary(UnaryOp::Exp)
            .reference(f64::exp)
            .within(-4.0, 4.0)
            .edges(SPECIAL)
            .ulps(2.0)
            .smooth()
            .thrice(),
        unary(UnaryOp::Log)
            .reference(f64::ln)
            .within(0.1, 9.0)
            .edges([0.0, 1.0, -1.0, INF, NAN])
            .ulps(2.0)
            .smooth()
            .thrice(),
        unary(UnaryOp::Log1p)
            .reference(f64::ln_1p)
            .within(-0.9, 4.0)
            .edges([0.0, 1e-4, -1.0, -2.0, INF, NAN])
            .ulps(2.0)
            .smooth(),
        unary(UnaryOp::Sqrt)
            .reference(f64::sqrt)
            .within(0.1, 9.0)
            .edges([0.0, -1.0, INF, NAN])
            .smooth(),
        unary(UnaryOp::Recip)
            .reference(f64::recip)
            .within(0.3, 4.0)
            .edges(SPECIAL)
            .smooth()
            .thrice(),
        unary(UnaryOp::Sin)
            .reference(f64::sin)
            .within(-9.0, 9.0)
            .edges(SPECIAL)
            .ulps(2.0)
            .smooth()
            .thrice(),
        unary(UnaryOp::Cos)
            .reference(f64::cos)
            .within(-9.0, 9.0)
            .edges(SPECIAL)
            .ulps(2.0)
            .smooth(),
        unary(UnaryOp::Atan)
            .reference(f64::atan)
            .within(-4.0, 4.0)
            .edges(SPECIAL)
            .ulps(2.0)
            .smooth(),
        unary(UnaryOp::Tanh)
            .reference(f64::tanh)
            .within(-4.0, 4.0)
            .edges(SPECIAL)
            .ulps(4.0)
            .smooth()
            .thrice(),
        unary(UnaryOp::Erf)
            .reference(erf)
            .within(-4.0, 4.0)
            .edges([0.0, 1e-4, INF, -INF, NAN])
            .ulps(4.0)
            .smooth(),
    ]
}

fn stepped() -> Vec<Sample> {
    vec![
        unary(UnaryOp::Floor)
            .reference(f64::floor)
            .within(-3.0, 3.0)
            .edges(HALVES),
        unary(UnaryOp::Ceil)
            .reference(f64::ceil)
            .within(-3.0, 3.0)
            .edges(HALVES),
        unary(UnaryOp::Round)
            .reference(f64::round_ties_even)
            .within(-3.0, 3.0)
            .edges(HALVES),
        unary(UnaryOp::Trunc)
            .reference(f64::trunc)
            .within(-3.0, 3.0)
            .edges(HALVES),
    ]
}

fn of_several_kinds() -> Vec<Sample> {
    vec![
        unary(UnaryOp::Neg)
            .reference(|x: f64| -x)
            .reference(|x: i128| -x)
            .on(NUMERIC)
            .edges(SPECIAL)
            .smooth(),
        unary(UnaryOp::Abs)
            .reference(f64::abs)
            .reference(i128::abs)
            .on(NUMERIC)
            .edges(SPECIAL)
            .kinked(),
        unary(UnaryOp::Sign)
            .reference(sign)
            .reference(i128::signum)
            .on(NUMERIC)
            .edges(SPECIAL),
        unary(UnaryOp::Not)
            .reference(|x: i128| !x)
            .reference(|x: bool| !x)
            .on(BITS),
    ]
}
