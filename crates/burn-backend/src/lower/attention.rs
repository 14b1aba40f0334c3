//! Attention as matrix products and a softmax, for all queries or some of them at a time.

use crate::{Build, Emit};
use burn_ir::{
    ActivationOp, BinaryOp, CompareOp, CreateOp, Described, Dims, Operation, ReduceOp, Scores,
    UnaryOp,
};
use burn_std::{DType, Shape};

pub(super) fn lower<E: Emit>(
    e: &mut E,
    [query, key, value]: [E::Tensor; 3],
    [mask, bias]: [Option<E::Tensor>; 2],
    options: Scores,
) -> E::Tensor {
    let (q, values) = (query.meta().shape.clone(), value.meta().shape[3]);
    let rows = AttentionRows::all(q[2]);
    let (weights, _) = attention_weights(e, [query, key], [mask, bias], options, rows);
    let output = e.matmul(weights, value);
    e.reshape(output, [q[0], q[1], q[2], values].into())
}

/// Some of the queries of an attention.
#[derive(Clone, Copy, Debug)]
pub struct AttentionRows {
    /// The first one.
    pub start: usize,
    /// How many they are.
    pub len: usize,
    /// How many there are in all.
    pub of: usize,
}

impl AttentionRows {
    /// All queries.
    pub fn all(queries: usize) -> Self {
        Self {
            start: 0,
            len: queries,
            of: queries,
        }
    }

    /// The part of a tensor `[…, queries or 1, …]` that belongs to these queries.
    pub fn part<E: Emit>(self, e: &mut E, input: E::Tensor) -> E::Tensor {
        match input.meta().shape[2] {
            size if size == self.len => input,
            1 => input,
            _ => e.narrow(input, 2, self.start, self.len),
        }
    }
}

/// The weights with which these queries look at the keys, and the scores under a soft cap before that, if there is one.
///
/// `query` is all queries; both outputs are `[batch, shared, heads / shared · rows, keys]`: heads that share keys are
/// more rows.
pub fn attention_weights<E: Emit>(
    e: &mut E,
    [query, key]: [E::Tensor; 2],
    [mask, bias]: [Option<E::Tensor>; 2],
    options: Scores,
    rows: AttentionRows,
) -> (E::Tensor, Option<E::Tensor>) {
    let (q, k) = (query.meta().shape.clone(), key.meta().shape.clone());
    let (shared, keys) = (k[1], k[2]);
    let heads = q[1].checked_div(shared).unwrap_or(0);
    let query = rows.part(e, query);
    let query = e.reshape(query, [q[0], shared, heads * rows.len, q[3]].into());
    let query = e.mul_scalar(query, options.scale.elem());
    let key = e.swap_dims(key, 2, 3);
    let mut scores = e.matmul(query, key);
    let grouped = scores.meta().shape.clone();
    let mut bent = None;
    if let Some(cap) = options.softcap {
        let cap = cap.elem();
        let over = e.binary_scalar(BinaryOp::Div, scores, cap);
        let tanh = e.unary(UnaryOp::Tanh, over);
        scores = e.mul_scalar(tanh.clone(), cap);
        bent = Some(tanh);
    }
    if mask.is_none() && bias.is_none() && !options.causal {
        return (e.activation(ActivationOp::Softmax { dim: 3 }, scores), bent);
    }
    scores = e.reshape(scores, [q[0], q[1], rows.len, keys].into());
    if let Some(bias) = bias {
        let bias = rows.part(e, bias);
        scores = e.add(scores, bias);
    }
    if let Some(mask) = mask {
        let mask = rows.part(e, mask);
        scores = e.replace_where(mask, f64::NEG_INFINITY, scores);
    }
    if options.causal {
        let hidden = causal(e, rows, keys);
        scores = e.replace_where(hidden, f64::NEG_INFINITY, scores);
    }
    let weights = weights(e, scores);
    (e.reshape(weights, grouped), bent)
}

/// True for keys behind the position of a query, both counted from their ends.
fn causal<E: Emit>(e: &mut E, rows: AttentionRows, keys: usize) -> E::Tensor {
    let mut positions = |start: i64, shape: [usize; 4]| {
        let shape = Shape::from(shape);
        let line = e.one(Operation::Create {
            op: CreateOp::Arange {
                start,
                step: 1,
                len: shape.num_elements(),
                dtype: DType::I32,
            },
        });
        e.reshape(line, shape)
    };
    let first_seen = keys as i64 - rows.of as i64 + rows.start as i64;
    let last_seen = positions(first_seen, [1, 1, rows.len, 1]);
    let key = positions(0, [1, 1, 1, keys]);
    e.compare(CompareOp::Greater, key, last_seen)
}

/// The softmax over the last dim, zeros where every score is minus infinity, with gradients of zero there.
fn weights<E: Emit>(e: &mut E, scores: E::Tensor) -> E::Tensor {
    if scores.meta().shape[3] == 0 {
        return scores;
    }
    let last = Dims::one(3);
    let max = e.reduce(ReduceOp::Max, scores.clone(), last);
    let nothing = e.compare_scalar(CompareOp::Equal, max.clone(), f64::NEG_INFINITY);
    let max = e.replace_where(nothing.clone(), 0.0, max);
    let below = e.sub(scores, max);
    let exp = e.unary(UnaryOp::Exp, below);
    let sum = e.reduce(ReduceOp::Sum, exp.clone(), last);
    let sum = e.replace_where(nothing, 1.0, sum);
    e.div(exp, sum)
}
