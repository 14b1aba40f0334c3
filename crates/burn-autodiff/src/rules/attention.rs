//! The gradient of attention, some queries at a time: the weights are computed again for each part, so that the matrix of
//! queries by keys is never whole in memory (Dao and others 2022, section 3.1; Dao 2023, section 2.3.2). Rows of weights
//! are complete in a part, and need no running maximum.

use super::{Kept, Wanted};
use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{AttentionRows, Build, Emit, attention_weights};
use burn_ir::{Described, Dims, ReduceOp, Scores};
use burn_std::{DType, Shape};

/// Weights of one part: 2 MB of f32, which stay in the cache of a core while they are read several times.
const WEIGHTS: usize = 1 << 19;

/// Positions of the operands.
const QUERY: usize = 0;
const KEY: usize = 1;
const VALUE: usize = 2;

pub(super) struct Attention<T> {
    pub(super) operands: [Kept<T>; 3],
    pub(super) mask: Option<Kept<T>>,
    pub(super) bias: Option<Kept<T>>,
    pub(super) scores: Scores,
}

/// Sums over parts.
struct Sums<T> {
    key: Option<T>,
    value: Option<T>,
    /// Of a bias that is the same for all queries.
    bias: Option<T>,
}

/// What all parts read.
struct Parts<T> {
    query: T,
    key: T,
    value: T,
    output: T,
    grad: T,
    mask: Option<T>,
    bias: Option<T>,
    scores: Scores,
    /// Which gradients are wanted: of queries, keys, values and the bias.
    wanted: [bool; 4],
}

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    attention: Attention<E::Tensor>,
    output: E::Tensor,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let [query, key, value] = attention.operands.map(Kept::value);
    let dtype = query.meta().dtype;
    let biased = 3 + usize::from(attention.mask.is_some());
    let (mask, bias) = (
        attention.mask.map(Kept::value),
        attention.bias.map(Kept::value),
    );
    let (has_mask, has_bias) = (mask.is_some(), bias.is_some());
    // Sums of half types are made in f32, as the lowering makes them.
    let wide = match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    };
    let parts = Parts {
        query: e.cast(query, wide),
        key: e.cast(key, wide),
        value: e.cast(value, wide),
        output: e.cast(output, wide),
        grad: e.cast(grad, wide),
        mask,
        bias: bias.map(|bias| e.cast(bias, wide)),
        scores: attention.scores,
        wanted: [QUERY, KEY, VALUE, biased].map(|at| wanted.has(at)),
    };
    let [for_query, for_key, for_value, for_bias] = parts.all(e);
    let mut grads = vec![for_query, for_key, for_value];
    grads.extend(has_mask.then_some(None));
    grads.extend(has_bias.then_some(for_bias));
    grads
        .into_iter()
        .map(|grad| grad.map(|grad| e.cast(grad, dtype)))
        .collect()
}

impl<T: Described + Clone> Parts<T> {
    fn all<E: Emit<Tensor = T>>(self, e: &mut E) -> [Option<T>; 4] {
        let q = self.query.meta().shape.clone();
        let keys = self.key.meta().shape[2];
        let row = (q[0] * q[1] * keys).max(1);
        let most = (WEIGHTS / row).clamp(1, q[2].max(1));
        // Parts of nearly equal size.
        let count = q[2].div_ceil(most).max(1);
        let size = q[2].div_ceil(count);
        let mut sums = Sums {
            key: None,
            value: None,
            bias: None,
        };
        let (mut queries, mut biases) = (Vec::new(), Vec::new());
        for part in 0..count {
            let start = part * size;
            let rows = AttentionRows {
                start,
                len: size.min(q[2] - start),
                of: q[2],
            };
            let (for_query, for_bias) = self.part(e, rows, &mut sums);
            queries.extend(for_query);
            biases.extend(for_bias);
        }
        let bias = match sums.bias {
            Some(sum) => Some(sum),
            None => joined(e, biases),
        };
        [joined(e, queries), sums.key, sums.value, bias]
    }

    /// With `P` the weights, `D = Σ dO·O`: `dV = Pᵀ·dO`, `dS = P·(dO·Vᵀ - D)`, `dQ = dS·K`, `dK = dSᵀ·Q`, the scale aside.
    fn part<E: Emit<Tensor = T>>(
        &self,
        e: &mut E,
        rows: AttentionRows,
        sums: &mut Sums<T>,
    ) -> (Option<T>, Option<T>) {
        let [for_query, for_key, for_value, for_bias] = self.wanted;
        let (weights, bent) = attention_weights(
            e,
            [self.query.clone(), self.key.clone()],
            [self.mask.clone(), self.bias.clone()],
            self.scores,
            rows,
        );
        let mut grouped = |input: &T| {
            let part = rows.part(e, input.clone());
            let last = part.meta().shape[3];
            let mut shape = weights.meta().shape.clone();
            shape[3] = last;
            e.reshape(part, shape)
        };
        let (grad, output) = (grouped(&self.grad), grouped(&self.output));
        let query = for_key.then(|| grouped(&self.query));
        if for_value {
            let columns = e.swap_dims(weights.clone(), 2, 3);
            let part = e.matmul(columns, grad.clone());
            add(e, &mut sums.value, part);
        }
        if !(for_query || for_key || for_bias) {
            return (None, None);
        }
        let product = e.mul(grad.clone(), output);
        let along = e.reduce(ReduceOp::Sum, product, Dims::one(3));
        let value = e.swap_dims(self.value.clone(), 2, 3);
        let seen = e.matmul(grad, value);
        let centred = e.sub(seen, along);
        let mut slopes = e.mul(weights, centred);
        let bias = for_bias.then(|| self.onto_bias(e, slopes.clone(), rows, sums));
        if let Some(tanh) = bent {
            let square = e.mul(tanh.clone(), tanh);
            let bend = e.mul(slopes.clone(), square);
            slopes = e.sub(slopes, bend);
        }
        let slopes = e.mul_scalar(slopes, self.scores.scale.elem());
        if let Some(query) = query {
            let columns = e.swap_dims(slopes.clone(), 2, 3);
            let part = e.matmul(columns, query);
            add(e, &mut sums.key, part);
        }
        let query = for_query.then(|| {
            let mut shape = self.query.meta().shape.clone();
            shape[2] = rows.len;
            let part = e.matmul(slopes, self.key.clone());
            e.reshape(part, shape)
        });
        (query, bias.flatten())
    }

    /// The gradient for the bias of these queries, summed where it was stretched.
    fn onto_bias<E: Emit<Tensor = T>>(
        &self,
        e: &mut E,
        slopes: T,
        rows: AttentionRows,
        sums: &mut Sums<T>,
    ) -> Option<T> {
        let bias = self.bias.as_ref()?;
        let (q, keys) = (&self.query.meta().shape, self.key.meta().shape[2]);
        let slopes = e.reshape(slopes, [q[0], q[1], rows.len, keys].into());
        let mut shape: Shape = bias.meta().shape.clone();
        let shared = shape[2] == 1;
        shape[2] = if shared { 1 } else { rows.len };
        let part = e.sum_to(slopes, &shape);
        match shared {
            true => {
                add(e, &mut sums.bias, part);
                None
            }
            false => Some(part),
        }
    }
}

fn add<E: Emit>(e: &mut E, sum: &mut Option<E::Tensor>, part: E::Tensor) {
    *sum = Some(match sum.take() {
        Some(sum) => e.add(sum, part),
        None => part,
    });
}

/// Parts one after the other.
fn joined<E: Emit>(e: &mut E, mut parts: Vec<E::Tensor>) -> Option<E::Tensor> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(e.cat(2, parts)),
    }
}
