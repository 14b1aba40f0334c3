//! Elementwise functions of one argument.

use super::binary::{wrapping_negative, zero};
use super::cast::computing;
use super::kernel::{Element, Lanes};
use super::shader;
use burn_ir::UnaryOp;
use burn_std::{DType, Kind};
use core::f64::consts::FRAC_2_SQRT_PI;
use cubecl::ir::{ConstantValue, ExpandValue, pliron::value::Value};
use cubecl::prelude::*;

/// Builds a function of elements of `dtype`.
pub(super) fn build(scope: &Scope, op: UnaryOp, input: Value, dtype: DType, lanes: usize) -> Value {
    computing(scope, dtype, lanes, [input], |[input]| match dtype.kind() {
        Kind::Float => {
            floats::expand::<Element, Lanes>(scope, input.into(), op, dtype == DType::F64)
                .read_value(scope)
        }
        Kind::Int => ints::expand::<Element, Lanes>(scope, input.into(), op, dtype.is_int())
            .read_value(scope),
        Kind::Bool => bools::expand::<Lanes>(scope, input.into(), op).read_value(scope),
    })
}

/// A number in full precision.
#[cube]
#[allow(unused_variables)]
pub(super) fn constant<F: Float>(#[comptime] value: f64) -> F {
    intrinsic!(|scope| {
        let constant: ExpandValue = F::elem_type(scope).constant(ConstantValue::Float(value));
        constant.into()
    })
}

/// A function whose result is the same whether a unit computes one element or several: the CPU runtime computes single
/// f32 elements by another algorithm than vectors, so that single ones go as a vector of two.
#[cube]
pub(super) fn transcendental<F: Float, N: Size>(
    x: Vector<F, N>,
    #[comptime] op: UnaryOp,
    #[comptime] wide: bool,
) -> Vector<F, N> {
    if comptime!(wide) {
        by_runtime::<F, N>(x, op)
    } else {
        let lanes = N::value().comptime();
        if comptime!(lanes == 1) {
            let pair = Vector::<F, Const<2>>::new(x.extract(0usize));
            let pair = by_runtime::<F, Const<2>>(pair, op);
            Vector::<F, N>::new(pair.extract(0usize))
        } else {
            by_runtime::<F, N>(x, op)
        }
    }
}

#[cube]
fn by_runtime<F: Float, N: Size>(x: Vector<F, N>, #[comptime] op: UnaryOp) -> Vector<F, N> {
    let is_shader = shader::is_shader();
    match comptime!(op) {
        UnaryOp::Exp => {
            if comptime!(is_shader) {
                shader::exp::<F, N>(x)
            } else {
                x.exp()
            }
        }
        UnaryOp::Log => {
            if comptime!(is_shader) {
                shader::log::<F, N>(x)
            } else {
                x.ln()
            }
        }
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tanh => {
            if comptime!(is_shader) {
                shader::tanh::<F, N>(x)
            } else {
                x.tanh()
            }
        }
        UnaryOp::Neg
        | UnaryOp::Abs
        | UnaryOp::Sign
        | UnaryOp::Log1p
        | UnaryOp::Sqrt
        | UnaryOp::Recip
        | UnaryOp::Atan
        | UnaryOp::Erf
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::Trunc
        | UnaryOp::Not => comptime!(unreachable!("`{}` has a kernel of its own", op.name())),
    }
}

#[cube]
fn floats<F: Float, N: Size>(
    x: Vector<F, N>,
    #[comptime] op: UnaryOp,
    #[comptime] wide: bool,
) -> Vector<F, N> {
    let is_shader = shader::is_shader();
    match comptime!(op) {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign => {
            let zero = Vector::new(F::new(0.0f32));
            let one = Vector::new(F::new(1.0f32));
            let negative = select_many(x.less_than(&zero), -one, x);
            select_many(x.greater_than(&zero), one, negative)
        }
        UnaryOp::Exp | UnaryOp::Log | UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Tanh => {
            transcendental::<F, N>(x, op, wide)
        }
        UnaryOp::Log1p => {
            if comptime!(is_shader) {
                shader::log1p::<F, N>(x)
            } else {
                log1p::<F, N>(x, wide)
            }
        }
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Recip => Vector::new(F::new(1.0f32)) / x,
        UnaryOp::Atan => {
            if comptime!(is_shader) {
                shader::atan::<F, N>(x)
            } else {
                x.atan()
            }
        }
        UnaryOp::Erf => erf::<F, N>(x, wide),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round(),
        UnaryOp::Trunc => x.trunc(),
        UnaryOp::Not => comptime!(unreachable!("`not` takes no floats")),
    }
}

#[cube]
fn ints<I: Int, N: Size>(
    x: Vector<I, N>,
    #[comptime] op: UnaryOp,
    #[comptime] signed: bool,
) -> Vector<I, N> {
    match comptime!(op) {
        UnaryOp::Neg => wrapping_negative::<I, N>(x),
        UnaryOp::Abs => {
            if comptime!(signed) {
                select_many(
                    x.less_than(&zero::<I, N>()),
                    wrapping_negative::<I, N>(x),
                    x,
                )
            } else {
                x
            }
        }
        UnaryOp::Sign => {
            let one = Vector::new(I::new(1));
            let positive = select_many(x.equal(&zero::<I, N>()), x, one);
            if comptime!(signed) {
                let negative = wrapping_negative::<I, N>(one);
                select_many(x.less_than(&zero::<I, N>()), negative, positive)
            } else {
                positive
            }
        }
        UnaryOp::Not => !x,
        UnaryOp::Exp
        | UnaryOp::Log
        | UnaryOp::Log1p
        | UnaryOp::Sqrt
        | UnaryOp::Recip
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tanh
        | UnaryOp::Atan
        | UnaryOp::Erf
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::Trunc => comptime!(unreachable!("`{}` takes no ints", op.name())),
    }
}

#[cube]
fn bools<N: Size>(x: Vector<bool, N>, #[comptime] op: UnaryOp) -> Vector<bool, N> {
    match comptime!(op) {
        UnaryOp::Not => !x,
        UnaryOp::Neg
        | UnaryOp::Abs
        | UnaryOp::Sign
        | UnaryOp::Exp
        | UnaryOp::Log
        | UnaryOp::Log1p
        | UnaryOp::Sqrt
        | UnaryOp::Recip
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tanh
        | UnaryOp::Atan
        | UnaryOp::Erf
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::Trunc => comptime!(unreachable!("`{}` takes no bools", op.name())),
    }
}

/// `ln(1 + x)` without the error of the sum: the error of `u = 1 + x` cancels in `ln(u) / (u - 1)`, which varies slowly
/// (Goldberg 1991, theorem 4).
#[cube]
fn log1p<F: Float, N: Size>(x: Vector<F, N>, #[comptime] wide: bool) -> Vector<F, N> {
    let one = Vector::new(F::new(1.0f32));
    let u = one + x;
    let change = u - one;
    let log = transcendental::<F, N>(u, UnaryOp::Log, wide);
    let corrected = log * (x / change);
    // Where the sum changes nothing it is 0 or endless.
    let plain = u.equal(&one).or(x.equal(&(x + one)));
    let large = select_many(u.equal(&one), x, log);
    select_many(plain, large, corrected)
}

/// The error function within a few units in the last place, after Abramowitz and Stegun 1964; `wide` for f64.
#[cube]
pub(super) fn erf<F: Float, N: Size>(x: Vector<F, N>, #[comptime] wide: bool) -> Vector<F, N> {
    let one = Vector::new(F::new(1.0f32));
    let z = x.abs();
    let beyond = if comptime!(wide) {
        one - complement_by_fraction::<F, N>(z, wide)
    } else {
        one - complement_by_polynomial::<F, N>(z, wide)
    };
    let beyond = select_many(x.less_than(&Vector::new(F::new(0.0f32))), -beyond, beyond);
    let near = z.less_than(&one);
    if comptime!(wide) {
        select_many(near, erf_by_positive_terms::<F, N>(x, wide), beyond)
    } else {
        select_many(near, erf_by_powers::<F, N>(x), beyond)
    }
}

#[cube]
fn exp_of_negative_square<F: Float, N: Size>(
    x: Vector<F, N>,
    #[comptime] wide: bool,
) -> Vector<F, N> {
    transcendental::<F, N>(-(x * x), UnaryOp::Exp, wide)
}

/// The series 7.1.5, `2/√π Σ (-1)^n x^(2n+1) / (n! (2n+1))`: below 1 its 12th term is under 1e-9.
#[cube]
fn erf_by_powers<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    let square = x * x;
    let mut sum = Vector::new(F::new(0.0f32));
    #[unroll]
    for at in 0..12usize {
        let n = comptime!(11 - at as u32);
        let factorial = comptime!((1..=n).map(f64::from).product::<f64>());
        let sign = comptime!(if n % 2 == 0 { 1.0 } else { -1.0 });
        let coefficient = comptime!(sign * FRAC_2_SQRT_PI / (factorial * f64::from(2 * n + 1)));
        sum = sum * square + Vector::new(constant::<F>(coefficient));
    }
    x * sum
}

/// The series 7.1.6, `2/√π e^(-x²) Σ 2^n x^(2n+1) / (1·3·…·(2n+1))`: below 1 its 30th term is under 1e-30.
#[cube]
fn erf_by_positive_terms<F: Float, N: Size>(
    x: Vector<F, N>,
    #[comptime] wide: bool,
) -> Vector<F, N> {
    let square = x * x;
    let mut term = x;
    let mut sum = x;
    for n in 1u32..30u32 {
        let factor = F::new(2.0f32) / F::cast_from(2u32 * n + 1u32);
        term = term * square * Vector::new(factor);
        sum += term;
    }
    Vector::new(constant::<F>(FRAC_2_SQRT_PI)) * exp_of_negative_square::<F, N>(x, wide) * sum
}

/// `1 - erf(z)` by 7.1.26, whose error is below 1.5e-7.
#[cube]
fn complement_by_polynomial<F: Float, N: Size>(
    z: Vector<F, N>,
    #[comptime] wide: bool,
) -> Vector<F, N> {
    let one = Vector::new(F::new(1.0f32));
    let t = one / (one + Vector::new(F::new(0.3275911f32)) * z);
    let a1 = Vector::new(F::new(0.254829592f32));
    let a2 = Vector::new(F::new(-0.284496736f32));
    let a3 = Vector::new(F::new(1.421413741f32));
    let a4 = Vector::new(F::new(-1.453152027f32));
    let a5 = Vector::new(F::new(1.061405429f32));
    ((((a5 * t + a4) * t + a3) * t + a2) * t + a1) * t * exp_of_negative_square::<F, N>(z, wide)
}

/// `1 - erf(z)` by the continued fraction 7.1.14, of which 250 levels are enough from 1 on.
#[cube]
fn complement_by_fraction<F: Float, N: Size>(
    z: Vector<F, N>,
    #[comptime] wide: bool,
) -> Vector<F, N> {
    let mut fraction = z;
    for at in 0u32..250u32 {
        let half = F::cast_from(250u32 - at) * F::new(0.5f32);
        fraction = z + Vector::new(half) / fraction;
    }
    let scale = Vector::new(constant::<F>(comptime!(FRAC_2_SQRT_PI / 2.0)));
    scale * exp_of_negative_square::<F, N>(z, wide) / fraction
}
