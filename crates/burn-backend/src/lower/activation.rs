//! Activations as elementwise functions and reductions.

use crate::{Build, Emit};
use burn_ir::{ActivationOp, CompareOp, Described, Dims, ReduceOp, UnaryOp};
use core::f64::consts::FRAC_1_SQRT_2;

pub(super) fn lower<E: Emit>(e: &mut E, op: ActivationOp, input: E::Tensor) -> E::Tensor {
    match op {
        ActivationOp::Relu => relu(e, input),
        ActivationOp::Gelu => gelu(e, input),
        ActivationOp::Sigmoid => sigmoid(e, input),
        ActivationOp::Softmax { dim } => softmax(e, input, dim),
        ActivationOp::LogSoftmax { dim } => log_softmax(e, input, dim),
    }
}

/// 0 where `x ≤ 0`, `x` elsewhere: NaN is not below 0 and stays.
fn relu<E: Emit>(e: &mut E, x: E::Tensor) -> E::Tensor {
    let below = e.compare_scalar(CompareOp::LowerEqual, x.clone(), 0.0);
    e.replace_where(below, 0.0, x)
}

/// `x · Φ(x)`, with `Φ(x) = (1 + erf(x / √2)) / 2`.
fn gelu<E: Emit>(e: &mut E, x: E::Tensor) -> E::Tensor {
    let scaled = e.mul_scalar(x.clone(), FRAC_1_SQRT_2);
    let erf = e.unary(UnaryOp::Erf, scaled);
    let twice_phi = e.add_scalar(erf, 1.0);
    let twice = e.mul(x, twice_phi);
    e.mul_scalar(twice, 0.5)
}

/// `1 / (1 + e^-x)`: where `e^-x` overflows the quotient is 0, as it should be.
fn sigmoid<E: Emit>(e: &mut E, x: E::Tensor) -> E::Tensor {
    let negative = e.neg(x);
    let exp = e.unary(UnaryOp::Exp, negative);
    let divisor = e.add_scalar(exp, 1.0);
    e.unary(UnaryOp::Recip, divisor)
}

/// `x - max(x)` along `dim`, which leaves the function and its gradient as they are. A dim of size 0 has no maximum
/// and needs none.
fn shifted<E: Emit>(e: &mut E, x: E::Tensor, dim: usize) -> E::Tensor {
    if x.meta().shape[dim] == 0 {
        return x;
    }
    let max = e.reduce(ReduceOp::Max, x.clone(), Dims::one(dim));
    e.sub(x, max)
}

fn softmax<E: Emit>(e: &mut E, x: E::Tensor, dim: usize) -> E::Tensor {
    let shifted = shifted(e, x, dim);
    let exp = e.unary(UnaryOp::Exp, shifted);
    let sum = e.reduce(ReduceOp::Sum, exp.clone(), Dims::one(dim));
    e.div(exp, sum)
}

fn log_softmax<E: Emit>(e: &mut E, x: E::Tensor, dim: usize) -> E::Tensor {
    let shifted = shifted(e, x, dim);
    let exp = e.unary(UnaryOp::Exp, shifted.clone());
    let sum = e.reduce(ReduceOp::Sum, exp, Dims::one(dim));
    let log = e.unary(UnaryOp::Log, sum);
    e.sub(shifted, log)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;
    use burn_ir::{Operation, TensorMeta, Tier};
    use burn_std::DType;

    #[test]
    fn every_lowering_ends_in_primitives_with_the_described_output() {
        for op in [
            ActivationOp::Relu,
            ActivationOp::Gelu,
            ActivationOp::Sigmoid,
            ActivationOp::Softmax { dim: 1 },
            ActivationOp::LogSoftmax { dim: 0 },
        ] {
            let mut recorder = Recorder::of_primitives();
            let input = recorder.input(TensorMeta::new([2, 3], DType::F32));
            let described = Operation::Activation {
                op,
                input: input.clone(),
            }
            .infer()
            .unwrap()
            .one();
            let output = recorder.activation(op, input);
            assert_eq!(output.meta, described, "{}", op.name());
            assert!(!recorder.graph.nodes().is_empty());
            assert!(
                recorder
                    .graph
                    .nodes()
                    .iter()
                    .all(|node| node.operation.tier() == Tier::Primitive)
            );
        }
    }
}
