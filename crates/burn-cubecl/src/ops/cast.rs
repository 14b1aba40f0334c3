//! Element type conversion, also between memory and registers, and the types that kernels compute in.

use super::compare::differ;
use super::kernel::{Element, Lanes};
use crate::device::storage;
use burn_std::{DType, Kind};
use cubecl::ir::pliron::value::Value;
use cubecl::ir::{ElemType, FloatKind};
use cubecl::prelude::*;

define_scalar!(Target);

/// The type that a kernel computes in for elements of `dtype`: half types in f32, rounded after each instruction.
pub(super) fn work(dtype: DType) -> ElemType {
    match dtype {
        DType::F16 | DType::BF16 => ElemType::Float(FloatKind::F32),
        DType::Bool(_) => ElemType::Bool,
        other => storage(other),
    }
}

/// The type of elements of `dtype` between instructions.
fn register(dtype: DType) -> ElemType {
    match dtype {
        DType::Bool(_) => ElemType::Bool,
        other => storage(other),
    }
}

/// Builds an instruction in the type that elements of `dtype` are computed in; `build` sees it as [`Element`].
pub(super) fn computing<const N: usize>(
    scope: &Scope,
    dtype: DType,
    lanes: usize,
    inputs: [Value; N],
    build: impl FnOnce([Value; N]) -> Value,
) -> Value {
    let inputs = inputs.map(|input| convert(scope, input, work(dtype), lanes));
    scope.register_type::<Element>(work(dtype));
    scope.register_size::<Lanes>(lanes);
    convert(scope, build(inputs), register(dtype), lanes)
}

/// Numbers as another type, where no value needs care: floats to floats, and ints to anything.
///
/// Half types go through f32, and bf16 as bits: not every runtime converts it, and a compiler that sees a conversion may
/// move a function to the type before it.
pub(super) fn convert(scope: &Scope, value: Value, to: ElemType, lanes: usize) -> Value {
    const F32: ElemType = ElemType::Float(FloatKind::F32);
    const BF16: ElemType = ElemType::Float(FloatKind::BF16);
    scope.register_value_type::<Target, Lanes>(value);
    let from = scope.resolve_type::<Target>().expect("it was registered");
    scope.register_size::<Lanes>(lanes);
    if from == to {
        return value;
    }
    match (from, to) {
        (BF16, F32) => widen::expand::<Target, Lanes>(scope, value.into()).read_value(scope),
        (F32, BF16) => {
            scope.register_type::<Target>(to);
            narrow::expand::<Target, Lanes>(scope, value.into()).read_value(scope)
        }
        (BF16, _) | (_, BF16 | ElemType::Float(FloatKind::F16)) if from != F32 => {
            convert(scope, convert(scope, value, F32, lanes), to, lanes)
        }
        _ => {
            scope.register_type::<Target>(to);
            cast_value(
                scope,
                value,
                <Vector<Target, Lanes>>::__expand_as_type(scope),
            )
        }
    }
}

/// What memory holds as a register.
pub(super) fn from_storage(scope: &Scope, value: Value, dtype: DType, lanes: usize) -> Value {
    match dtype.kind() {
        Kind::Bool => is_true(scope, value, storage(dtype), lanes),
        Kind::Float | Kind::Int => value,
    }
}

/// A register as what memory holds.
pub(super) fn to_storage(scope: &Scope, value: Value, dtype: DType, lanes: usize) -> Value {
    match dtype.kind() {
        Kind::Bool => one_or_zero(scope, value, storage(dtype), lanes),
        Kind::Float | Kind::Int => value,
    }
}

/// [`convert`] within a kernel.
#[cube]
#[allow(unused_variables)]
pub(super) fn converted<From: Scalar, To: Scalar, N: Size>(
    value: Vector<From, N>,
) -> Vector<To, N> {
    intrinsic!(|scope| {
        let lanes = N::__expand_value(scope);
        convert(scope, value.read_value(scope), To::elem_type(scope), lanes).into()
    })
}

#[cube]
fn widen<B: Float, N: Size>(x: Vector<B, N>) -> Vector<f32, N> {
    let bits = Vector::<u32, N>::cast_from(Vector::<u16, N>::reinterpret(x));
    Vector::<f32, N>::reinterpret(bits << Vector::new(16u32))
}

/// The nearest and, of two, the even one.
#[cube]
fn narrow<B: Float, N: Size>(x: Vector<f32, N>) -> Vector<B, N> {
    let bits = Vector::<u32, N>::reinterpret(x);
    let sixteen = Vector::new(16u32);
    let odd = (bits >> sixteen) & Vector::new(1u32);
    let rounded = (bits + Vector::new(0x7FFFu32) + odd) >> sixteen;
    // A NaN must not round to infinity or 0.
    let quiet = (bits >> sixteen) | Vector::new(0x40u32);
    let rounded = select_many(x.is_nan(), quiet, rounded);
    Vector::<B, N>::reinterpret(Vector::<u16, N>::cast_from(rounded))
}

/// The elements as another type.
pub(super) fn cast(scope: &Scope, value: Value, from: DType, to: DType, lanes: usize) -> Value {
    match (from.kind(), to.kind()) {
        (Kind::Bool, Kind::Bool) => value,
        (Kind::Bool, Kind::Int | Kind::Float) => {
            let number = one_or_zero(scope, value, work(to), lanes);
            convert(scope, number, register(to), lanes)
        }
        (Kind::Int | Kind::Float, Kind::Bool) => {
            let number = convert(scope, value, work(from), lanes);
            is_true(scope, number, work(from), lanes)
        }
        (Kind::Float, Kind::Int) => {
            let number = convert(scope, value, work(from), lanes);
            scope.register_type::<Element>(work(from));
            scope.register_type::<Target>(storage(to));
            scope.register_size::<Lanes>(lanes);
            let bits = to.size() as u32 * 8;
            let (low, high) = match to.is_uint() {
                true => (0.0, 2f32.powi(bits as i32)),
                false => (-2f32.powi(bits as i32 - 1), 2f32.powi(bits as i32 - 1)),
            };
            truncate::expand::<Element, Target, Lanes>(scope, number.into(), low, high)
                .read_value(scope)
        }
        (Kind::Int, Kind::Int | Kind::Float) | (Kind::Float, Kind::Float) => {
            convert(scope, value, storage(to), lanes)
        }
    }
}

/// The elements of one value or another.
pub(super) fn choose(
    scope: &Scope,
    mask: Value,
    yes: Value,
    no: Value,
    dtype: DType,
    lanes: usize,
) -> Value {
    scope.register_type::<Element>(register(dtype));
    scope.register_size::<Lanes>(lanes);
    select_many::expand::<Element, Lanes>(scope, mask.into(), yes.into(), no.into())
        .read_value(scope)
}

fn is_true(scope: &Scope, value: Value, elem: ElemType, lanes: usize) -> Value {
    scope.register_type::<Element>(elem);
    scope.register_size::<Lanes>(lanes);
    not_zero::expand::<Element, Lanes>(scope, value.into()).read_value(scope)
}

fn one_or_zero(scope: &Scope, value: Value, elem: ElemType, lanes: usize) -> Value {
    scope.register_type::<Element>(elem);
    scope.register_size::<Lanes>(lanes);
    unit::expand::<Element, Lanes>(scope, value.into()).read_value(scope)
}

#[cube]
fn not_zero<T: Numeric, N: Size>(value: Vector<T, N>) -> Vector<bool, N> {
    differ::<T, N>(value, Vector::new(T::from_int(0)))
}

#[cube]
fn unit<T: Numeric, N: Size>(value: Vector<bool, N>) -> Vector<T, N> {
    let one = Vector::new(T::from_int(1));
    let zero = Vector::new(T::from_int(0));
    select_many(value, one, zero)
}

/// Truncates to the ints in `[low, high)`, both powers of two; saturates outside, and gives 0 for NaN.
#[cube]
fn truncate<F: Float, I: Int, N: Size>(
    x: Vector<F, N>,
    #[comptime] low: f32,
    #[comptime] high: f32,
) -> Vector<I, N> {
    let low = Vector::new(F::new(low));
    let high = Vector::new(F::new(high));
    let below = x.less_than(&low);
    let above = x.greater_equal(&high);
    let inside = x.greater_equal(&low).vec_and(x.less_than(&high));
    let zero = Vector::new(F::new(0.0f32));
    let int = Vector::<I, N>::cast_from(select_many(inside, x, zero));
    let int = select_many(below, Vector::new(I::min_value()), int);
    select_many(above, Vector::new(I::max_value()), int)
}
