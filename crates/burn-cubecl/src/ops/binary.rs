//! Elementwise functions of two arguments, and the int arithmetic that other families share.

use super::cast::computing;
use super::compare::exclusive;
use super::kernel::{Element, Lanes};
use super::shader;
use burn_ir::BinaryOp;
use burn_std::{DType, Kind};
use cubecl::ir::{ElemType, IntKind, UIntKind, pliron::value::Value};
use cubecl::prelude::*;

define_scalar!(Unsigned);

/// Builds a function of elements of `dtype`.
pub(super) fn build(
    scope: &Scope,
    op: BinaryOp,
    lhs: Value,
    rhs: Value,
    dtype: DType,
    lanes: usize,
) -> Value {
    computing(scope, dtype, lanes, [lhs, rhs], |[lhs, rhs]| {
        let (lhs, rhs) = (lhs, rhs);
        match dtype.kind() {
            Kind::Float => floats::expand::<Element, Lanes>(scope, lhs.into(), rhs.into(), op)
                .read_value(scope),
            Kind::Int => {
                let signed = dtype.is_int();
                ints::expand::<Element, Lanes>(scope, lhs.into(), rhs.into(), op, signed)
                    .read_value(scope)
            }
            Kind::Bool => {
                bools::expand::<Lanes>(scope, lhs.into(), rhs.into(), op).read_value(scope)
            }
        }
    })
}

/// A product that is rounded before anything is added to it, in a group too. CubeCL makes one instruction of `a · b + c`,
/// with one rounding, on every runtime, and compilers of GPUs may as well; of `fma(a, b, -0) + c` neither does, and LLVM
/// takes it for the plain product that it is.
#[cube]
pub(super) fn product<F: Float, N: Size>(lhs: Vector<F, N>, rhs: Vector<F, N>) -> Vector<F, N> {
    fma(lhs, rhs, Vector::new(F::new(-0.0f32)))
}

#[cube]
fn floats<F: Float, N: Size>(
    lhs: Vector<F, N>,
    rhs: Vector<F, N>,
    #[comptime] op: BinaryOp,
) -> Vector<F, N> {
    let is_shader = shader::is_shader();
    match comptime!(op) {
        BinaryOp::Add => lhs + rhs,
        BinaryOp::Sub => lhs - rhs,
        BinaryOp::Mul => product::<F, N>(lhs, rhs),
        BinaryOp::Div => lhs / rhs,
        BinaryOp::Remainder => {
            let zero = Vector::new(F::new(0.0f32));
            // Some runtimes give back an endless dividend if the divisor is endless too. The rest is no number, as is the
            // root of a negative one, which no compiler takes for 0 as it may the difference of a number from itself.
            let endless = lhs.abs().greater_than(&Vector::new(F::max_value()));
            let rest = select_many(endless, (-lhs.abs()).sqrt(), lhs % rhs);
            // Others know no rest by an endless divisor, which is all.
            let beyond = rhs.abs().greater_than(&Vector::new(F::max_value()));
            let rest = select_many(beyond.vec_and(!endless), lhs, rest);
            let mixed = exclusive::<N>(rest.less_than(&zero), rhs.less_than(&zero));
            select_many(rest.not_equal(&zero).vec_and(mixed), rest + rhs, rest)
        }
        BinaryOp::Pow => {
            if comptime!(is_shader) {
                shader::pow::<F, N>(lhs, rhs)
            } else {
                lhs.powf(rhs)
            }
        }
        BinaryOp::Max => max_nan(lhs, rhs),
        BinaryOp::Min => min_nan(lhs, rhs),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
            comptime!(unreachable!("`{}` takes no floats", op.name()))
        }
    }
}

#[cube]
fn ints<I: Int, N: Size>(
    lhs: Vector<I, N>,
    rhs: Vector<I, N>,
    #[comptime] op: BinaryOp,
    #[comptime] signed: bool,
) -> Vector<I, N> {
    match comptime!(op) {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => wrapping::<I, N>(lhs, rhs, op),
        BinaryOp::Div => divide::<I, N>(lhs, rhs, signed),
        BinaryOp::Remainder => remainder::<I, N>(lhs, rhs, signed),
        BinaryOp::Pow => power::<I, N>(lhs, rhs, signed),
        BinaryOp::Max => select_many(lhs.less_than(&rhs), rhs, lhs),
        BinaryOp::Min => select_many(rhs.less_than(&lhs), rhs, lhs),
        BinaryOp::And => lhs & rhs,
        BinaryOp::Or => lhs | rhs,
        BinaryOp::Xor => lhs ^ rhs,
    }
}

#[cube]
fn bools<N: Size>(
    lhs: Vector<bool, N>,
    rhs: Vector<bool, N>,
    #[comptime] op: BinaryOp,
) -> Vector<bool, N> {
    match comptime!(op) {
        BinaryOp::And => lhs.vec_and(rhs),
        BinaryOp::Or => lhs.or(rhs),
        BinaryOp::Xor => exclusive::<N>(lhs, rhs),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Remainder
        | BinaryOp::Pow
        | BinaryOp::Max
        | BinaryOp::Min => comptime!(unreachable!("`{}` takes no bools", op.name())),
    }
}

#[cube]
pub(super) fn zero<I: Int, N: Size>() -> Vector<I, N> {
    Vector::new(I::new(0))
}

/// Modulo `2^bits` on every runtime: overflow of signed ints is undefined in some, that of unsigned ints in none.
#[cube]
#[allow(unused_variables)]
pub(super) fn wrapping<I: Int, N: Size>(
    lhs: Vector<I, N>,
    rhs: Vector<I, N>,
    #[comptime] op: BinaryOp,
) -> Vector<I, N> {
    intrinsic!(|scope| {
        scope.register_type::<Unsigned>(unsigned(I::elem_type(scope)));
        in_unsigned::expand::<I, Unsigned, N>(scope, lhs, rhs, op)
    })
}

fn unsigned(elem: ElemType) -> ElemType {
    match elem {
        ElemType::Int(IntKind::I8) => ElemType::UInt(UIntKind::U8),
        ElemType::Int(IntKind::I16) => ElemType::UInt(UIntKind::U16),
        ElemType::Int(IntKind::I32) => ElemType::UInt(UIntKind::U32),
        ElemType::Int(IntKind::I64) => ElemType::UInt(UIntKind::U64),
        other => other,
    }
}

#[cube]
fn in_unsigned<I: Int, U: Int, N: Size>(
    lhs: Vector<I, N>,
    rhs: Vector<I, N>,
    #[comptime] op: BinaryOp,
) -> Vector<I, N> {
    let lhs = Vector::<U, N>::cast_from(lhs);
    let rhs = Vector::<U, N>::cast_from(rhs);
    let result = match comptime!(op) {
        BinaryOp::Add => lhs + rhs,
        BinaryOp::Sub => lhs - rhs,
        BinaryOp::Mul => lhs * rhs,
        BinaryOp::Div
        | BinaryOp::Remainder
        | BinaryOp::Pow
        | BinaryOp::Max
        | BinaryOp::Min
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor => comptime!(unreachable!("`{}` does not wrap", op.name())),
    };
    Vector::<I, N>::cast_from(result)
}

#[cube]
pub(super) fn wrapping_negative<I: Int, N: Size>(x: Vector<I, N>) -> Vector<I, N> {
    wrapping::<I, N>(zero::<I, N>(), x, BinaryOp::Sub)
}

/// All bits set: -1 of signed types.
#[cube]
fn ones<I: Int, N: Size>() -> Vector<I, N> {
    !zero::<I, N>()
}

/// A divisor that no division stops at: 1 in place of 0, and of -1, of which the quotient may overflow.
#[cube]
fn safe_divisor<I: Int, N: Size>(rhs: Vector<I, N>, #[comptime] signed: bool) -> Vector<I, N> {
    let one = Vector::new(I::new(1));
    let safe = select_many(rhs.equal(&zero::<I, N>()), one, rhs);
    if comptime!(signed) {
        select_many(rhs.equal(&ones::<I, N>()), one, safe)
    } else {
        safe
    }
}

#[cube]
fn divide<I: Int, N: Size>(
    lhs: Vector<I, N>,
    rhs: Vector<I, N>,
    #[comptime] signed: bool,
) -> Vector<I, N> {
    let quotient = lhs / safe_divisor::<I, N>(rhs, signed);
    let quotient = select_many(rhs.equal(&zero::<I, N>()), zero::<I, N>(), quotient);
    if comptime!(signed) {
        select_many(
            rhs.equal(&ones::<I, N>()),
            wrapping_negative::<I, N>(lhs),
            quotient,
        )
    } else {
        quotient
    }
}

#[cube]
fn remainder<I: Int, N: Size>(
    lhs: Vector<I, N>,
    rhs: Vector<I, N>,
    #[comptime] signed: bool,
) -> Vector<I, N> {
    // By 0 and by -1 the safe divisor leaves 0, as it should be.
    let rest = lhs % safe_divisor::<I, N>(rhs, signed);
    if comptime!(signed) {
        let mixed = (rest ^ rhs).less_than(&zero::<I, N>());
        let adjust = rest.not_equal(&zero::<I, N>()).vec_and(mixed);
        select_many(adjust, wrapping::<I, N>(rest, rhs, BinaryOp::Add), rest)
    } else {
        rest
    }
}

/// Squares and multiplies through the bits of the exponent.
#[cube]
fn power<I: Int, N: Size>(
    lhs: Vector<I, N>,
    rhs: Vector<I, N>,
    #[comptime] signed: bool,
) -> Vector<I, N> {
    let one = Vector::new(I::new(1));
    let mut base = lhs;
    let mut left = rhs;
    let mut power = one;
    let bits = I::size_bits().comptime() as u32;
    for _ in 0..bits {
        let odd = (left & one).equal(&one);
        power = select_many(odd, wrapping::<I, N>(power, base, BinaryOp::Mul), power);
        base = wrapping::<I, N>(base, base, BinaryOp::Mul);
        left = left >> one;
    }
    if comptime!(signed) {
        // The loop is right for 1 and, by the parity of the exponent, for -1 under any exponent.
        let unit = lhs.equal(&one).or(lhs.equal(&ones::<I, N>()));
        let vanishes = rhs.less_than(&zero::<I, N>()).vec_and(!unit);
        select_many(vanishes, zero::<I, N>(), power)
    } else {
        power
    }
}
