//! Reductions over any dims of any layout.
//!
//! [`plan`] cuts the work, [`load`] reads elements as accumulators, [`acc`] folds them, [`arg`] finds positions.
//! Results do not depend on the number of threads.

mod acc;
mod arg;
mod load;
mod plan;
#[cfg(test)]
mod tests;

pub(crate) use acc::{
    Acc, Fold, LANES, fold_row, fold_rows, identity, is_nan, join_lanes, max, min,
};
pub(crate) use load::{Leaf, Source, lower, store};

use crate::{FlexTensor, parallel, parallel::Shared};
use acc::Cascade;
use alloc::vec::Vec;
use burn_ir::{Dims, ReduceOp, TensorMeta};
use burn_std::{BoolStore, Bytes, DType, IntDType, bf16, f16};
pub(crate) use load::Truth;
use plan::{Item, Plan, ROWS};

/// Elements that one call of a kernel sees: 8 KiB of the widest type, a fraction of the first level of cache.
pub(crate) const BLOCK: usize = 1024;

/// Calls `$function` with the type that stores elements of `$dtype`.
macro_rules! by_leaf {
    ($dtype:expr, $function:ident($($arg:expr),*)) => {
        match $dtype {
            DType::F64 => $function::<f64>($($arg),*),
            DType::F32 => $function::<f32>($($arg),*),
            DType::F16 => $function::<f16>($($arg),*),
            DType::BF16 => $function::<bf16>($($arg),*),
            DType::I64 => $function::<i64>($($arg),*),
            DType::I32 => $function::<i32>($($arg),*),
            DType::I16 => $function::<i16>($($arg),*),
            DType::I8 => $function::<i8>($($arg),*),
            DType::U64 => $function::<u64>($($arg),*),
            DType::U32 => $function::<u32>($($arg),*),
            DType::U16 => $function::<u16>($($arg),*),
            DType::U8 => $function::<u8>($($arg),*),
            DType::Bool(BoolStore::Native | BoolStore::U8) => $function::<Truth<u8>>($($arg),*),
            DType::Bool(BoolStore::U32) => $function::<Truth<u32>>($($arg),*),
            DType::Flex32 | DType::QFloat(_) => $crate::unsupported($dtype),
        }
    };
}

pub(crate) use by_leaf;

/// Reduces `dims` of `input` to size 1.
pub(crate) fn run(op: ReduceOp, input: FlexTensor, dims: Dims, output: &TensorMeta) -> FlexTensor {
    let fold = match op {
        ReduceOp::Sum | ReduceOp::Mean => Fold::Sum,
        ReduceOp::Prod => Fold::Prod,
        ReduceOp::Max | ReduceOp::Any | ReduceOp::ArgMax { .. } => Fold::Max,
        ReduceOp::Min | ReduceOp::All | ReduceOp::ArgMin { .. } => Fold::Min,
    };
    let plan = Plan::new(&input, dims);
    let bytes = match op {
        ReduceOp::ArgMax { dtype } | ReduceOp::ArgMin { dtype } => {
            by_leaf!(input.dtype(), arg_of(&plan, fold, &input, dtype))
        }
        _ => by_leaf!(input.dtype(), of(&plan, fold, op == ReduceOp::Mean, &input)),
    };
    FlexTensor::contiguous(output.clone(), bytes)
}

fn of<E: Leaf>(plan: &Plan, fold: Fold, mean: bool, input: &FlexTensor) -> Bytes {
    let source = Source::new::<E>(input.bytes().as_ptr());
    let mut accs = reduce(plan, fold, source, size_of::<E>());
    if mean {
        for acc in &mut accs {
            *acc = acc.over(plan.group());
        }
    }
    store::<E>(accs)
}

fn arg_of<E: Leaf>(plan: &Plan, fold: Fold, input: &FlexTensor, dtype: IntDType) -> Bytes {
    let source = Source::new::<E>(input.bytes().as_ptr());
    arg::store(arg::positions(plan, fold, source, size_of::<E>()), dtype)
}

/// The accumulator of each group. Elements of the source have `size` bytes.
fn reduce<A: Acc>(plan: &Plan, fold: Fold, source: Source<A>, size: usize) -> Vec<A> {
    let (outputs, chunks) = (plan.outputs(), plan.chunks());
    let mut accs = alloc::vec![identity::<A>(fold); outputs * chunks];
    let to = Shared(accs.as_mut_ptr());
    plan.split(size, &|items| {
        let mut scratch = Vec::new();
        let mut result = Vec::new();
        for item in items {
            // SAFETY: the source is the memory of the tensor that the plan was made for.
            unsafe {
                match plan.wide {
                    true => wide(plan, fold, &source, &item, &mut result, &mut scratch),
                    false => {
                        result.clear();
                        result.push(deep(plan, fold, &source, &item, &mut scratch));
                    }
                }
            }
            for (at, acc) in result.iter().enumerate() {
                let at = item.chunk * outputs + item.output + at * plan.output_stride();
                // SAFETY: below `outputs * chunks`; items differ in their chunk or their results.
                unsafe { to.get().add(at).write(*acc) };
            }
        }
    });
    if chunks > 1 {
        join(fold, &mut accs, outputs);
        accs.truncate(outputs);
    }
    accs
}

/// The part of one group that an item is.
///
/// # Safety
/// As [`Plan::block`].
unsafe fn deep<A: Acc>(
    plan: &Plan,
    fold: Fold,
    source: &Source<A>,
    item: &Item,
    scratch: &mut Vec<A>,
) -> A {
    // SAFETY: the caller's promise.
    if let Some(row) = unsafe { plan.row(source, item) } {
        return fold_row(fold, row);
    }
    let mut cascade = Cascade::new(fold, 1);
    for at in item.range.clone().step_by(BLOCK) {
        let range = at..item.range.end.min(at + BLOCK);
        // SAFETY: the caller's promise.
        let acc = fold_row(fold, unsafe {
            plan.block(source, item.start, range, scratch)
        });
        if item.range.len() <= BLOCK || acc.is_final(fold) {
            return acc;
        }
        cascade.push(&mut [acc]);
    }
    let mut result = [A::ZERO];
    cascade.finish(&mut result);
    result[0]
}

/// The part of several groups that an item is.
///
/// # Safety
/// As [`Plan::rows`].
unsafe fn wide<A: Acc>(
    plan: &Plan,
    fold: Fold,
    source: &Source<A>,
    item: &Item,
    result: &mut Vec<A>,
    scratch: &mut Vec<A>,
) {
    // SAFETY: the caller's promise.
    if let Some(elems) = unsafe { plan.dense(source, item) } {
        return narrow(fold, elems, item.width, result);
    }
    result.resize(item.width, A::ZERO);
    let mut cascade = Cascade::new(fold, item.width);
    for first in item.range.clone().step_by(ROWS) {
        let last = item.range.end.min(first + ROWS);
        result.fill(identity(fold));
        let mut next = first;
        while next < last {
            // SAFETY: the caller's promise.
            let rows = unsafe { plan.rows(source, item, next..last, scratch) };
            fold_rows(fold, result, &rows);
            next += rows.len();
        }
        if item.range.len() <= ROWS {
            return;
        }
        cascade.push(result);
    }
    cascade.finish(result);
}

/// Folds rows of a few columns that lie side by side: many rows at a time as if they were one.
fn narrow<A: Acc>(fold: Fold, elems: &[A], width: usize, result: &mut Vec<A>) {
    let long = BLOCK / width * width;
    let mut accs = alloc::vec![identity(fold); long];
    let mut cascade = Cascade::new(fold, long);
    for set in elems.chunks(long * ROWS) {
        accs.fill(identity(fold));
        for row in set.chunks(long) {
            fold_rows(fold, &mut accs[..row.len()], &[row]);
        }
        cascade.push(&mut accs);
    }
    cascade.finish(&mut accs);
    result.clear();
    result.resize(width, identity(fold));
    for row in accs.chunks(width) {
        fold_rows(fold, result, &[row]);
    }
}

/// Joins the chunks of each group into the first.
fn join<A: Acc>(fold: Fold, accs: &mut [A], outputs: usize) {
    let (chunks, all) = (accs.len() / outputs.max(1), Shared(accs.as_mut_ptr()));
    parallel::split(outputs, BLOCK, chunks * size_of::<A>(), &|range| {
        for first in range.clone().step_by(BLOCK) {
            let width = BLOCK.min(range.end - first);
            let mut cascade = Cascade::new(fold, width);
            // SAFETY: inside the accumulators, and parts of the range are disjoint.
            let part = |chunk: usize| unsafe {
                core::slice::from_raw_parts_mut(all.get().add(chunk * outputs + first), width)
            };
            for chunk in 0..chunks {
                cascade.push(part(chunk));
            }
            cascade.finish(part(0));
        }
    });
}
