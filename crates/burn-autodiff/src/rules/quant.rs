//! Quantized numbers. Rounding has no gradient worth the name, so codes are constants, and gradients flow to the plain
//! side of a product alone.

use super::{Keep, Kept, Rule, Wanted};
use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{Build, Emit};
use burn_ir::{Described, ModuleOp};
use burn_std::FloatDType;

/// The product keeps the side that the other's gradient needs, as it is stored.
pub(super) fn product(wanted: Wanted) -> Rule {
    Rule::Pullback(Keep::operands([(0, wanted.has(1)), (1, wanted.has(0))]))
}

/// With `C = A·B`: `dA = dC·Bᵀ`, `dB = Aᵀ·dC`.
pub(super) fn pullback<E: Emit>(
    e: &mut E,
    lhs: Kept<E::Tensor>,
    rhs: Kept<E::Tensor>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let rank = lhs.meta.rank();
    let dtype = grad.meta().dtype.into();
    let for_lhs = wanted.has(0).then(|| {
        let rhs = transposed(e, rhs, dtype, rank);
        e.matmul(grad.clone(), rhs)
    });
    let for_rhs = wanted.has(1).then(|| {
        let lhs = transposed(e, lhs, dtype, rank);
        e.matmul(lhs, grad)
    });
    vec![for_lhs, for_rhs]
}

fn transposed<E: Emit>(
    e: &mut E,
    side: Kept<E::Tensor>,
    dtype: FloatDType,
    rank: usize,
) -> E::Tensor {
    let floats = match side.meta.dtype.is_quantized() {
        true => {
            let input = side.value();
            e.module(ModuleOp::Dequantize { input, dtype })
        }
        false => side.value(),
    };
    e.swap_dims(floats, rank - 2, rank - 1)
}
