//! Attention by blocks of queries and keys: scores are there for one block at a time, and what they weigh is rescaled
//! when a larger score comes (Milakov and Gimelshein 2018; Dao and others 2022, algorithm 1).

use super::conv::{Matrix, by_float, elements, product};
use super::matmul::Float;
use super::reduce::{Acc, Fold, fold_row};
use super::softmax::{Real, exp_below};
use crate::FlexTensor;
use crate::parallel::{Shared, split};
use crate::rows::broadcast;
use crate::simd::simd;
use crate::tensor::allocate;
use alloc::vec::Vec;
use burn_ir::{Scores, TensorMeta};
use burn_std::{DType, Shape};
use core::ops::Range;
use num_traits::FromPrimitive;

/// Queries and keys of a block: its scores and what they are made of fit the second level of cache.
const QUERIES: usize = 64;
const KEYS: usize = 256;

/// A tensor of scores that broadcasts.
struct Stretched<'a> {
    tensor: &'a FlexTensor,
    strides: [isize; 4],
}

impl<'a> Stretched<'a> {
    fn new(tensor: &'a FlexTensor, to: &Shape) -> Self {
        let strides = broadcast(tensor.shape(), &tensor.layout().strides, to);
        let mut four = [0; 4];
        four.copy_from_slice(&strides);
        Self {
            tensor,
            strides: four,
        }
    }

    /// The element for a query and a key.
    ///
    /// # Safety
    /// The position is inside the shape that the tensor broadcasts to, and `E` has the size of its elements.
    #[inline(always)]
    unsafe fn at<E: Copy>(&self, [batch, head, query, key]: [usize; 4]) -> E {
        let [b, h, q, k] = self.strides;
        let at = batch as isize * b + head as isize * h + query as isize * q + key as isize * k;
        let first: *const E = self.tensor.bytes().as_ptr().cast();
        // SAFETY: the caller's promise.
        unsafe { *first.offset(self.tensor.layout().offset as isize + at) }
    }
}

/// What all blocks share.
struct Plan<'a, T> {
    /// Heads, heads that share keys, queries, keys.
    heads: usize,
    sharing: usize,
    queries: usize,
    keys: usize,
    features: usize,
    values: usize,
    query: Shared<T>,
    key: Shared<T>,
    value: Shared<T>,
    scale: T,
    softcap: Option<T>,
    causal: bool,
    mask: Option<Stretched<'a>>,
    bias: Option<Stretched<'a>>,
}

/// Attention over the operands of the instruction.
pub(super) fn run(
    [query, key, value]: [FlexTensor; 3],
    mask: Option<FlexTensor>,
    bias: Option<FlexTensor>,
    scores: Scores,
    output: &TensorMeta,
) -> FlexTensor {
    let operands = [query, key, value].map(FlexTensor::into_contiguous);
    let extra = (mask.as_ref(), bias.as_ref());
    by_float!(output.dtype, of(&operands, extra, scores, output))
}

fn of<T: Float + Real + FromPrimitive>(
    [query, key, value]: &[FlexTensor; 3],
    (mask, bias): (Option<&FlexTensor>, Option<&FlexTensor>),
    scores: Scores,
    output: &TensorMeta,
) -> FlexTensor {
    let (q, k) = (query.shape(), key.shape());
    let full = [q[0], q[1], q[2], k[2]].into();
    let number = |value: f64| T::from_f64(value).expect("a float of another width");
    let plan = Plan {
        heads: q[1],
        sharing: q[1].checked_div(k[1]).unwrap_or(1),
        queries: q[2],
        keys: k[2],
        features: q[3],
        values: output.shape[3],
        query: Shared(elements::<T>(query).cast_mut()),
        key: Shared(elements::<T>(key).cast_mut()),
        value: Shared(elements::<T>(value).cast_mut()),
        scale: number(scores.scale.elem()),
        softcap: scores.softcap.map(|cap| number(cap.elem())),
        causal: scores.causal,
        mask: mask.map(|mask| Stretched::new(mask, &full)),
        bias: bias.map(|bias| Stretched::new(bias, &full)),
    };
    let len = output.shape.num_elements();
    // SAFETY: each block of queries writes its rows.
    let mut bytes = unsafe { allocate(len * size_of::<T>(), output.dtype) };
    let to = Shared(bytes.as_mut_ptr().cast::<T>());
    let blocks = plan.queries.div_ceil(QUERIES);
    let items = if len == 0 {
        0
    } else {
        q[0] * plan.heads * blocks
    };
    let work = QUERIES.min(plan.queries) * plan.keys * (plan.features + plan.values + 32);
    split(items, 1, work, &|range| {
        let mut scratch = Vec::new();
        for item in range {
            let (image, block) = (item / blocks, item % blocks);
            let rows = block * QUERIES..plan.queries.min((block + 1) * QUERIES);
            // SAFETY: items have rows of their own.
            let to = unsafe {
                let first = (image * plan.queries + rows.start) * plan.values;
                core::slice::from_raw_parts_mut(to.get().add(first), rows.len() * plan.values)
            };
            block_of(&plan, image, rows, to, &mut scratch);
        }
    });
    FlexTensor::contiguous(output.clone(), bytes)
}

/// A block of queries of one head.
fn block_of<T: Float + Real>(
    plan: &Plan<'_, T>,
    image: usize,
    rows: Range<usize>,
    to: &mut [T],
    scratch: &mut Vec<T>,
) {
    let (features, values) = (plan.features, plan.values);
    let (batch, head) = (image / plan.heads, image % plan.heads);
    let shared = batch * (plan.heads / plan.sharing) + head / plan.sharing;
    let count = rows.len();
    let width = KEYS.min(plan.keys);
    scratch.resize(count * (features + width + 2), <T as Acc>::ZERO);
    let (query, rest) = scratch.split_at_mut(count * features);
    let (scores, rest) = rest.split_at_mut(count * width);
    let (most, sums) = rest.split_at_mut(count);
    most.fill(<T as Acc>::LEAST);
    sums.fill(<T as Acc>::ZERO);
    to.fill(<T as Acc>::ZERO);
    // SAFETY: rows of this head, and all keys and values that it shares, are inside their tensors.
    let (from, key, value) = unsafe {
        let from = plan
            .query
            .get()
            .add((image * plan.queries + rows.start) * features);
        let key = plan.key.get().add(shared * plan.keys * features);
        let value = plan.value.get().add(shared * plan.keys * values);
        (
            core::slice::from_raw_parts(from, count * features),
            key,
            value,
        )
    };
    query
        .iter_mut()
        .zip(from)
        .for_each(|(to, x)| *to = *x * plan.scale);
    let end = plan.seen(rows.end - 1);
    let block = Block {
        plan,
        place: [batch, head, rows.start],
        query,
        key,
        value,
    };
    for start in (0..end).step_by(KEYS) {
        let keys = start..end.min(start + KEYS);
        let scores = &mut scores[..count * keys.len()];
        block.meet(keys, scores, (most, sums), to);
    }
    for (row, sum) in to.chunks_exact_mut(values).zip(sums) {
        // A query that sees no key has a sum of zero, and keeps its zeros.
        if *sum != <T as Acc>::ZERO {
            row.iter_mut().for_each(|x| *x = *x / *sum);
        }
    }
}

/// A block of queries, which blocks of keys meet.
struct Block<'a, T> {
    plan: &'a Plan<'a, T>,
    /// Batch, head and first query.
    place: [usize; 3],
    query: &'a [T],
    /// All keys and values of the head.
    key: *const T,
    value: *const T,
}

impl<T: Float + Real> Block<'_, T> {
    /// Adds what a block of keys contributes.
    fn meet(
        &self,
        keys: Range<usize>,
        scores: &mut [T],
        (most, sums): (&mut [T], &mut [T]),
        to: &mut [T],
    ) {
        let (plan, [batch, head, first]) = (self.plan, self.place);
        let (features, values, count) = (plan.features, plan.values, most.len());
        // SAFETY: keys are below their number, and results overlap nothing.
        unsafe {
            let key = self.key.add(keys.start * features);
            let key = Matrix::rows(key, features).transposed();
            let to = Matrix::rows(scores.as_mut_ptr(), keys.len());
            let query = Matrix::rows(self.query.as_ptr(), features);
            product([count, keys.len(), features], to, false, query, key);
        }
        for (at, row) in scores.chunks_exact_mut(keys.len()).enumerate() {
            let place = [batch, head, first + at];
            adjust(plan, place, keys.start, plan.seen(place[2]), row);
            let output = &mut to[at * values..][..values];
            weigh(row, &mut most[at], &mut sums[at], output);
        }
        // SAFETY: as above.
        unsafe {
            let scores = Matrix::rows(scores.as_ptr(), keys.len());
            let value = Matrix::rows(self.value.add(keys.start * values), values);
            let dims = [count, values, keys.len()];
            product(
                dims,
                Matrix::rows(to.as_mut_ptr(), values),
                true,
                scores,
                value,
            );
        }
    }
}

impl<T> Plan<'_, T> {
    /// The number of keys that a query may see: up to its own position, both counted from their ends.
    fn seen(&self, query: usize) -> usize {
        match self.causal {
            true => (query + 1 + self.keys)
                .saturating_sub(self.queries)
                .min(self.keys),
            false => self.keys,
        }
    }
}

/// What becomes of scores before their exponentials: a bend, a bias, and minus infinity where they are hidden.
fn adjust<T: Float + Real>(
    plan: &Plan<'_, T>,
    [batch, head, query]: [usize; 3],
    first: usize,
    visible: usize,
    row: &mut [T],
) {
    if let Some(cap) = plan.softcap {
        row.iter_mut().for_each(|x| *x = (*x / cap).tanh() * cap);
    }
    if let Some(bias) = &plan.bias {
        for (at, x) in row.iter_mut().enumerate() {
            // SAFETY: the positions are below the sizes; the bias has elements of this type.
            *x = *x + unsafe { bias.at::<T>([batch, head, query, first + at]) };
        }
    }
    if let Some(mask) = &plan.mask {
        for (at, x) in row.iter_mut().enumerate() {
            // SAFETY: the positions are below the sizes; truth values are bytes on this device.
            if unsafe { mask.at::<u8>([batch, head, query, first + at]) } != 0 {
                *x = <T as Acc>::LEAST;
            }
        }
    }
    let visible = visible.saturating_sub(first).min(row.len());
    row[visible..].fill(<T as Acc>::LEAST);
}

/// Scores of a block as weights below the largest score so far, to which the output so far is rescaled.
fn weigh<T: Float + Real>(row: &mut [T], most: &mut T, sum: &mut T, output: &mut [T]) {
    let largest = fold_row(Fold::Max, &[*most, fold_row(Fold::Max, row)]);
    if largest == <T as Acc>::LEAST {
        row.fill(<T as Acc>::ZERO);
        return;
    }
    exp_below(largest, row);
    if *most != largest {
        let scale = (*most - largest).exp();
        *sum = *sum * scale;
        simd(
            #[inline(always)]
            || output.iter_mut().for_each(|x| *x = *x * scale),
        );
        *most = largest;
    }
    *sum = *sum + fold_row(Fold::Sum, row);
}
