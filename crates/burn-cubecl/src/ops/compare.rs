//! Elementwise comparisons.

use super::cast::{convert, work};
use super::kernel::{Element, Lanes};
use burn_ir::CompareOp;
use burn_std::{DType, Kind};
use cubecl::ir::pliron::value::Value;
use cubecl::prelude::*;

/// Builds a comparison of elements of `dtype`.
pub(super) fn build(
    scope: &Scope,
    op: CompareOp,
    lhs: Value,
    rhs: Value,
    dtype: DType,
    lanes: usize,
) -> Value {
    let [lhs, rhs] = match dtype.kind() {
        Kind::Bool => [lhs, rhs],
        Kind::Float | Kind::Int => [lhs, rhs].map(|it| convert(scope, it, work(dtype), lanes)),
    };
    scope.register_type::<Element>(work(dtype));
    scope.register_size::<Lanes>(lanes);
    let truth = match dtype.kind() {
        Kind::Bool => bools::expand::<Lanes>(scope, lhs.into(), rhs.into(), op),
        Kind::Float | Kind::Int => {
            numbers::expand::<Element, Lanes>(scope, lhs.into(), rhs.into(), op)
        }
    };
    truth.read_value(scope)
}

/// Whether numbers differ, as NaN does from all of them: CubeCL's `not_equal` is false of NaN on Vulkan.
#[cube]
pub(super) fn differ<T: Numeric, N: Size>(lhs: Vector<T, N>, rhs: Vector<T, N>) -> Vector<bool, N> {
    !lhs.equal(&rhs)
}

/// Whether one of two is true. CubeCL compares no bools on Vulkan.
#[cube]
pub(super) fn exclusive<N: Size>(lhs: Vector<bool, N>, rhs: Vector<bool, N>) -> Vector<bool, N> {
    lhs.or(rhs).vec_and(!lhs.vec_and(rhs))
}

#[cube]
fn numbers<T: Numeric, N: Size>(
    lhs: Vector<T, N>,
    rhs: Vector<T, N>,
    #[comptime] op: CompareOp,
) -> Vector<bool, N> {
    match comptime!(op) {
        CompareOp::Equal => lhs.equal(&rhs),
        CompareOp::NotEqual => differ::<T, N>(lhs, rhs),
        CompareOp::Lower => lhs.less_than(&rhs),
        CompareOp::LowerEqual => lhs.less_equal(&rhs),
        CompareOp::Greater => lhs.greater_than(&rhs),
        CompareOp::GreaterEqual => lhs.greater_equal(&rhs),
    }
}

#[cube]
fn bools<N: Size>(
    lhs: Vector<bool, N>,
    rhs: Vector<bool, N>,
    #[comptime] op: CompareOp,
) -> Vector<bool, N> {
    match comptime!(op) {
        CompareOp::Equal => !exclusive::<N>(lhs, rhs),
        CompareOp::NotEqual => exclusive::<N>(lhs, rhs),
        CompareOp::Lower | CompareOp::LowerEqual | CompareOp::Greater | CompareOp::GreaterEqual => {
            comptime!(unreachable!("bools have no order"))
        }
    }
}
