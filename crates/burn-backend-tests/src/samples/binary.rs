//! Elementwise functions of two arguments: of two tensors, of a row and a column, without dims, and with a scalar.

use super::{BITS, INF, NAN, NUMERIC, WIDE};
use crate::{Input, Sample};
use burn_ir::{BinaryOp, Operand, Operation};
use burn_std::{DType, Kind, Scalar};

/// The samples of an operation, each described alike.
fn variants(op: BinaryOp, describe: impl Fn(Sample) -> Sample) -> Vec<Sample> {
    let tensors = move |note, lhs: &[usize], rhs: &[usize]| {
        let inputs = vec![Input::new(lhs), Input::new(rhs)];
        Sample::new(note, NUMERIC, inputs, move |_| Operation::Binary {
            op,
            lhs: 0,
            rhs: Operand::Tensor(1),
        })
    };
    let scalar = Sample::new("by scalar", NUMERIC, vec![Input::new(WIDE)], move |dtype| {
        Operation::Binary {
            op,
            lhs: 0,
            rhs: number(dtype).into(),
        }
    });
    [
        tensors("of tensors", &WIDE, &WIDE),
        tensors("of row and column", &[2, 1, 19], &[1, 3, 1]),
        tensors("without dims", &[], &[]),
        scalar,
    ]
    .map(describe)
    .to_vec()
}

/// A scalar that every float type holds exactly, so that it does not matter when it is rounded.
pub(super) fn number(dtype: DType) -> Scalar {
    match dtype.kind() {
        Kind::Float => Scalar::new(0.75, &dtype),
        Kind::Int => Scalar::new(3, &dtype),
        Kind::Bool => Scalar::new(true, &dtype),
    }
}

/// `x mod y` with the sign of `y`.
fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    match rest != 0.0 && (rest < 0.0) != (y < 0.0) {
        true => rest + y,
        false => rest,
    }
}

fn int_remainder(x: i128, y: i128) -> i128 {
    match x.checked_rem(y) {
        None => 0,
        Some(rest) if rest != 0 && (rest < 0) != (y < 0) => rest + y,
        Some(rest) => rest,
    }
}

/// Squares and multiplies modulo `2^128`, of which every type's modulus is a divisor.
fn int_power(base: i128, exponent: i128) -> i128 {
    let (mut base, mut left, mut power) = (base, exponent.unsigned_abs(), 1i128);
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if left % 2 == 1 => -1,
            -1 => 1,
            _ => 0,
        };
    }
    while left > 0 {
        if left % 2 == 1 {
            power = power.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        left /= 2;
    }
    power
}

fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        NAN
    } else {
        x.max(y)
    }
}

fn smaller(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        NAN
    } else {
        x.min(y)
    }
}

const SPECIAL: [f64; 6] = [0.0, 1.0, -1.5, INF, -INF, NAN];

pub(super) fn samples() -> Vec<Sample> {
    [arithmetics(), choices(), bitwise()].concat()
}

fn arithmetic(sample: Sample) -> Sample {
    sample.on(NUMERIC).edges(SPECIAL).int_edges()
}

fn arithmetics() -> Vec<Sample> {
    [
        variants(BinaryOp::Add, |it| {
            arithmetic(it)
                .reference(|x: f64, y: f64| x + y)
                .reference(i128::wrapping_add)
                .smooth()
        }),
        variants(BinaryOp::Sub, |it| {
            arithmetic(it)
                .reference(|x: f64, y: f64| x - y)
                .reference(i128::wrapping_sub)
                .smooth()
        }),
        variants(BinaryOp::Mul, |it| {
            arithmetic(it)
                .reference(|x: f64, y: f64| x * y)
                .reference(i128::wrapping_mul)
                .smooth()
        }),
        variants(BinaryOp::Div, |it| {
            arithmetic(it)
                .reference(|x: f64, y: f64| x / y)
                .reference(|x: i128, y: i128| x.checked_div(y).unwrap_or(0))
                .rhs_within(0.4, 3.0)
                .smooth()
        }),
        variants(BinaryOp::Remainder, |it| {
            arithmetic(it)
                .reference(remainder)
                .reference(int_remainder)
                .rhs_within(0.4, 3.0)
                .kinked()
        }),
        variants(BinaryOp::Pow, |it| {
            arithmetic(it)
                .reference(f64::powf)
                .reference(int_power)
                .within(0.3, 3.0)
                .rhs_within(-2.0, 2.0)
                .ulps(4.0)
                .smooth()
        }),
    ]
    .concat()
}

fn choices() -> Vec<Sample> {
    [
        variants(BinaryOp::Max, |it| {
            arithmetic(it)
                .reference(larger)
                .reference(i128::max)
                .kinked()
        }),
        variants(BinaryOp::Min, |it| {
            arithmetic(it)
                .reference(smaller)
                .reference(i128::min)
                .kinked()
        }),
    ]
    .concat()
}

fn bitwise() -> Vec<Sample> {
    let bits = |sample: Sample| sample.on(BITS).int_edges();
    [
        variants(BinaryOp::And, |it| {
            bits(it)
                .reference(|x: i128, y: i128| x & y)
                .reference(|x: bool, y: bool| x & y)
        }),
        variants(BinaryOp::Or, |it| {
            bits(it)
                .reference(|x: i128, y: i128| x | y)
                .reference(|x: bool, y: bool| x | y)
        }),
        variants(BinaryOp::Xor, |it| {
            bits(it)
                .reference(|x: i128, y: i128| x ^ y)
                .reference(|x: bool, y: bool| x ^ y)
        }),
    ]
    .concat()
}
