//! Reading and writing at positions that are data, and order, which is reading at sorted positions.

use super::{Keep, Kept, Output, Rule, Wanted};
use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{Build, Emit};
use burn_ir::{CompareOp, CreateOp, IndexOp, Operand, Operation, SortOp, TensorMeta};
use burn_std::{DType, IndexingUpdateOp, IntDType};

/// Positions of the operands of a scatter.
const INPUT: usize = 0;
const INDICES: usize = 1;
const VALUES: usize = 2;

/// What was read gets what arrived, summed where it was read more than once.
pub(super) fn gather<E: Emit>(
    e: &mut E,
    op: IndexOp,
    input: &TensorMeta,
    indices: E::Tensor,
    grad: E::Tensor,
) -> E::Tensor {
    let zeros = e.full(input, 0.0);
    e.scatter(op, IndexingUpdateOp::Add, [zeros, indices, grad])
}

/// The first elements in order, as elements at the positions where they were.
pub(super) fn sort<E: Emit>(
    e: &mut E,
    dim: usize,
    descending: bool,
    len: usize,
    input: E::Tensor,
) -> E::Tensor {
    let indices = e.one(Operation::Sort {
        op: SortOp::Indices {
            dtype: IntDType::I32,
        },
        dim,
        descending,
        len,
        input: input.clone(),
    });
    e.gather(IndexOp::Elements { dim }, input, indices)
}

pub(super) fn rule(mode: IndexingUpdateOp, wanted: Wanted) -> Rule {
    let (for_input, for_values) = (wanted.has(INPUT), wanted.has(VALUES));
    Rule::Pullback(match mode {
        IndexingUpdateOp::Assign => Keep::operands([(INDICES, true)]),
        IndexingUpdateOp::Add => Keep::operands([(INDICES, for_values)]),
        IndexingUpdateOp::Mul => {
            Keep::operands([(INPUT, for_values), (INDICES, true), (VALUES, true)])
        }
        IndexingUpdateOp::Min | IndexingUpdateOp::Max => Keep {
            outputs: true,
            ..Keep::operands([
                (INPUT, for_input || for_values),
                (INDICES, true),
                (VALUES, true),
            ])
        },
    })
}

/// The operands of a scatter.
pub(super) struct Operands<T> {
    pub op: IndexOp,
    pub input: Kept<T>,
    pub indices: Kept<T>,
    pub values: Kept<T>,
}

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    mode: IndexingUpdateOp,
    operands: Operands<E::Tensor>,
    output: Output<E::Tensor>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let wanted = (wanted.has(INPUT), wanted.has(VALUES));
    let (for_input, for_values) = match mode {
        IndexingUpdateOp::Add => {
            let for_values = wanted
                .1
                .then(|| e.gather(operands.op, grad.clone(), operands.indices.value()));
            (wanted.0.then_some(grad), for_values)
        }
        IndexingUpdateOp::Assign => assigned(e, operands, grad, wanted),
        IndexingUpdateOp::Mul => multiplied(e, operands, grad, wanted),
        IndexingUpdateOp::Min | IndexingUpdateOp::Max => {
            extreme(e, operands, output.value(), grad, wanted)
        }
    };
    vec![for_input, None, for_values]
}

type Pair<T> = (Option<T>, Option<T>);

/// What stayed gets its gradient, and of what was assigned to one place the last.
fn assigned<E: Emit>(
    e: &mut E,
    operands: Operands<E::Tensor>,
    grad: E::Tensor,
    (for_input, for_values): (bool, bool),
) -> Pair<E::Tensor> {
    let (op, meta, indices) = (operands.op, operands.values.meta, operands.indices.value());
    let input_grad = for_input.then(|| {
        let zeros = e.full(&meta, 0.0);
        let operands = [grad.clone(), indices.clone(), zeros];
        e.scatter(op, IndexingUpdateOp::Assign, operands)
    });
    let values_grad = for_values.then(|| {
        // Each value writes its number: it is the last one where the number can be read back.
        let len = meta.shape.num_elements();
        let dtype = match i32::try_from(len) {
            Ok(_) => DType::I32,
            Err(_) => DType::I64,
        };
        let numbers = counting(e, 0, len, dtype);
        let numbers = e.reshape(numbers, meta.shape);
        let none = e.full(&TensorMeta::new(operands.input.meta.shape, dtype), 0.0);
        let written = [none, indices.clone(), numbers.clone()];
        let written = e.scatter(op, IndexingUpdateOp::Assign, written);
        let read = e.gather(op, written, indices.clone());
        let last = e.compare(CompareOp::Equal, read, numbers);
        let read = e.gather(op, grad, indices);
        e.keep_where(last, read, 0.0)
    });
    (input_grad, values_grad)
}

/// `start..start + len`
pub(super) fn counting<E: Emit>(e: &mut E, start: i64, len: usize, dtype: DType) -> E::Tensor {
    e.one(Operation::Create {
        op: CreateOp::Arange {
            start,
            step: 1,
            len,
            dtype,
        },
    })
}

/// With `y = x · Πv`: `dx = dy · Πv`, and `dv = dy · x · Π` of the other values, which a zero among them must not be
/// divided by. Gradients of higher orders miss what flows through such a zero.
fn multiplied<E: Emit>(
    e: &mut E,
    operands: Operands<E::Tensor>,
    grad: E::Tensor,
    (for_input, for_values): (bool, bool),
) -> Pair<E::Tensor> {
    let (op, meta, input) = (operands.op, operands.input.meta.clone(), operands.input);
    let (indices, values) = (operands.indices.value(), operands.values.value());
    let input_grad = for_input.then(|| {
        let ones = e.full(&meta, 1.0);
        let factors = [ones, indices.clone(), values.clone()];
        let factor = e.scatter(op, IndexingUpdateOp::Mul, factors);
        e.mul(grad.clone(), factor)
    });
    let values_grad = for_values.then(|| {
        let zero = e.compare_scalar(CompareOp::Equal, values.clone(), 0.0);
        let values = e.replace_where(zero.clone(), 1.0, values);
        let ones = e.full(&meta, 1.0);
        let product = [ones, indices.clone(), values.clone()];
        let product = e.scatter(op, IndexingUpdateOp::Mul, product);
        let product = e.gather(op, product, indices.clone());
        let none = e.full(&meta, 0.0);
        let count = e.cast(zero.clone(), meta.dtype);
        let count = e.scatter(op, IndexingUpdateOp::Add, [none, indices.clone(), count]);
        let count = e.gather(op, count, indices.clone());
        let only = e.compare_scalar(CompareOp::Equal, count.clone(), 1.0);
        let on_zero = e.keep_where(only, product.clone(), 0.0);
        let free = e.compare_scalar(CompareOp::Equal, count, 0.0);
        let others = e.div(product, values);
        let others = e.keep_where(free, others, 0.0);
        let others = e.one(Operation::Where {
            mask: zero,
            on_true: Operand::Tensor(on_zero),
            on_false: Operand::Tensor(others),
        });
        let through = e.mul(grad, input.value());
        let through = e.gather(op, through, indices);
        e.mul(through, others)
    });
    (input_grad, values_grad)
}

/// Equal extrema share the gradient.
fn extreme<E: Emit>(
    e: &mut E,
    operands: Operands<E::Tensor>,
    output: E::Tensor,
    grad: E::Tensor,
    (for_input, for_values): (bool, bool),
) -> Pair<E::Tensor> {
    let (op, dtype, indices) = (
        operands.op,
        operands.input.meta.dtype,
        operands.indices.value(),
    );
    let stayed = e.compare(CompareOp::Equal, operands.input.value(), output.clone());
    let reached = e.gather(op, output, indices.clone());
    let written = e.compare(CompareOp::Equal, operands.values.value(), reached);
    let counts = [
        e.cast(stayed.clone(), dtype),
        indices.clone(),
        e.cast(written.clone(), dtype),
    ];
    let count = e.scatter(op, IndexingUpdateOp::Add, counts);
    let share = e.div(grad, count);
    let values_grad = for_values.then(|| {
        let share = e.gather(op, share.clone(), indices);
        e.keep_where(written, share, 0.0)
    });
    (
        for_input.then(|| e.keep_where(stayed, share, 0.0)),
        values_grad,
    )
}
