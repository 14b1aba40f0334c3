//! Elementwise activations. Those over a dim are in [`softmax`](super::softmax).

use super::binary::product;
use super::cast::computing;
use super::kernel::{Element, Lanes};
use super::unary::{constant, erf, transcendental};
use burn_ir::{ActivationOp, UnaryOp};
use burn_std::DType;
use core::f64::consts::FRAC_1_SQRT_2;
use cubecl::ir::pliron::value::Value;
use cubecl::prelude::*;

/// Builds an activation of elements of `dtype`.
pub(super) fn build(
    scope: &Scope,
    op: ActivationOp,
    input: Value,
    dtype: DType,
    lanes: usize,
) -> Value {
    computing(scope, dtype, lanes, [input], |[input]| {
        floats::expand::<Element, Lanes>(scope, input.into(), op, dtype == DType::F64)
            .read_value(scope)
    })
}

#[cube]
fn floats<F: Float, N: Size>(
    x: Vector<F, N>,
    #[comptime] op: ActivationOp,
    #[comptime] wide: bool,
) -> Vector<F, N> {
    let zero = Vector::new(F::new(0.0f32));
    let one = Vector::new(F::new(1.0f32));
    match comptime!(op) {
        ActivationOp::Relu => select_many(x.less_equal(&zero), zero, x),
        ActivationOp::Gelu => {
            let scaled = x * Vector::new(constant::<F>(FRAC_1_SQRT_2));
            let half = x * Vector::new(F::new(0.5f32));
            product::<F, N>(half, one + erf::<F, N>(scaled, wide))
        }
        ActivationOp::Sigmoid => one / (one + transcendental::<F, N>(-x, UnaryOp::Exp, wide)),
        ActivationOp::Softmax { .. } | ActivationOp::LogSoftmax { .. } => {
            comptime!(unreachable!("`{}` has kernels of its own", op.name()))
        }
    }
}
