//! Tensors one after the other, and selections replaced: each part gets its part of the gradient.

use super::{Kept, Wanted};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{Build, Emit};
use burn_ir::{Operand, Operation, SliceRange};
use burn_std::Scalar;

pub(super) fn cat<E: Emit>(
    e: &mut E,
    dim: usize,
    inputs: &[Kept<E::Tensor>],
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let mut start = 0;
    let part = |(at, input): (usize, &Kept<E::Tensor>)| {
        let size = input.meta.shape[dim];
        start += size;
        wanted
            .has(at)
            .then(|| e.narrow(grad.clone(), dim, start - size, size))
    };
    inputs.iter().enumerate().map(part).collect()
}

pub(super) fn slice_assign<E: Emit>(
    e: &mut E,
    ranges: Box<[SliceRange]>,
    values: &Operand<Kept<E::Tensor>>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let for_values = values
        .tensor()
        .map(|_| wanted.has(1).then(|| e.slice(grad.clone(), ranges.clone())));
    let for_input = wanted.has(0).then(|| {
        e.one(Operation::SliceAssign {
            ranges,
            input: grad,
            values: Operand::Scalar(Scalar::Float(0.0)),
        })
    });
    let mut grads = vec![for_input];
    grads.extend(for_values);
    grads
}
