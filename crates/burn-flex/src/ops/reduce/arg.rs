//! Positions of extrema: the first of equals, and the first NaN if there is one.

use super::BLOCK;
use super::acc::{Acc, Fold, fold_row, is_nan};
use super::load::Source;
use super::plan::{Item, Plan};
use crate::parallel::Shared;
use crate::simd::simd;
use alloc::vec::Vec;
use burn_std::{Bytes, IntDType};

/// An extremum and its position in the group.
#[derive(Clone, Copy)]
struct Best<A> {
    value: A,
    at: usize,
}

/// Whether `x`, which comes later, takes the place of `best`.
#[inline(always)]
fn is_better<A: Acc>(fold: Fold, best: A, x: A) -> bool {
    let beyond = if fold == Fold::Max {
        x > best
    } else {
        x < best
    };
    // Not `||`, which is a branch.
    beyond | (is_nan(x) & !is_nan(best))
}

/// The position of the extremum of each group.
pub(super) fn positions<A: Acc>(
    plan: &Plan,
    fold: Fold,
    source: Source<A>,
    size: usize,
) -> Vec<usize> {
    let (outputs, chunks) = (plan.outputs(), plan.chunks());
    let none = Best {
        value: A::ZERO,
        at: 0,
    };
    let mut found = alloc::vec![none; outputs * chunks];
    let to = Shared(found.as_mut_ptr());
    plan.split(size, &|items| {
        let mut scratch = Vec::new();
        let mut results = Vec::new();
        for item in items {
            // SAFETY: the source is the memory of the tensor that the plan was made for.
            unsafe {
                match plan.wide {
                    true => wide(plan, fold, &source, &item, &mut results, &mut scratch),
                    false => {
                        results.clear();
                        results.push(deep(plan, fold, &source, &item, &mut scratch));
                    }
                }
            }
            for (at, best) in results.iter().enumerate() {
                let at = item.chunk * outputs + item.output + at * plan.output_stride();
                // SAFETY: below `outputs * chunks`; items differ in their chunk or their results.
                unsafe { to.get().add(at).write(*best) };
            }
        }
    });
    if chunks == 1 {
        return found.into_iter().map(|best| best.at).collect();
    }
    (0..outputs)
        .map(|output| {
            let mut parts = found[output..].iter().step_by(outputs);
            let first = *parts.next().expect("a group has a chunk");
            let join = |best: Best<A>, part: &Best<A>| {
                if is_better(fold, best.value, part.value) {
                    *part
                } else {
                    best
                }
            };
            parts.fold(first, join).at
        })
        .collect()
}

/// Finds the extremum block by block, and only then its position in the best one.
///
/// # Safety
/// As [`Plan::block`].
unsafe fn deep<A: Acc>(
    plan: &Plan,
    fold: Fold,
    source: &Source<A>,
    item: &Item,
    scratch: &mut Vec<A>,
) -> Best<A> {
    let block = |at: usize| at..item.range.end.min(at + BLOCK);
    let mut best: Option<Best<A>> = None;
    for at in item.range.clone().step_by(BLOCK) {
        // SAFETY: the caller's promise.
        let value = fold_row(fold, unsafe {
            plan.block(source, item.start, block(at), scratch)
        });
        if best.is_none_or(|best| is_better(fold, best.value, value)) {
            best = Some(Best { value, at });
        }
        if is_nan(value) {
            break;
        }
    }
    let Best { value, at } = best.expect("groups to choose from are not empty");
    // SAFETY: the caller's promise.
    let elems = unsafe { plan.block(source, item.start, block(at), scratch) };
    let same = |x: &A| *x == value || (is_nan(value) && is_nan(*x));
    let inside = elems
        .iter()
        .position(same)
        .expect("the value came from this block");
    Best {
        value,
        at: at + inside,
    }
}

/// Keeps the extremum of each column and its position while rows pass.
///
/// # Safety
/// As [`Plan::rows`].
unsafe fn wide<A: Acc>(
    plan: &Plan,
    fold: Fold,
    source: &Source<A>,
    item: &Item,
    results: &mut Vec<Best<A>>,
    scratch: &mut Vec<A>,
) {
    let mut values: Vec<A> = Vec::new();
    let mut places = alloc::vec![0u32; item.width];
    let mut next = item.range.start;
    while next < item.range.end {
        // SAFETY: the caller's promise.
        let rows = unsafe { plan.rows(source, item, next..item.range.end, scratch) };
        if values.is_empty() {
            values.extend_from_slice(rows[0]);
        }
        let place = (next - item.range.start) as u32;
        match fold {
            Fold::Max => keep_best(
                |best, x| is_better(Fold::Max, best, x),
                place,
                &rows,
                &mut values,
                &mut places,
            ),
            _ => keep_best(
                |best, x| is_better(Fold::Min, best, x),
                place,
                &rows,
                &mut values,
                &mut places,
            ),
        }
        next += rows.len();
    }
    results.clear();
    results.extend(values.iter().zip(&places).map(|(value, at)| Best {
        value: *value,
        at: item.range.start + *at as usize,
    }));
}

/// Takes over what is better in `rows`, of which the first has position `place`. A chunk has far fewer than 2^32 rows.
fn keep_best<A: Acc>(
    is_better: impl Fn(A, A) -> bool,
    place: u32,
    rows: &[&[A]],
    values: &mut [A],
    places: &mut [u32],
) {
    simd(
        #[inline(always)]
        || {
            for (row, place) in rows.iter().zip(place..) {
                for ((value, at), x) in values.iter_mut().zip(places.iter_mut()).zip(*row) {
                    let better = is_better(*value, *x);
                    *value = if better { *x } else { *value };
                    *at = if better { place } else { *at };
                }
            }
        },
    )
}

/// Positions as elements of `dtype`.
pub(super) fn store(positions: Vec<usize>, dtype: IntDType) -> Bytes {
    macro_rules! store {
        ($ty:ty) => {
            Bytes::from_elems(positions.iter().map(|at| *at as $ty).collect::<Vec<_>>())
        };
    }
    match dtype {
        IntDType::I64 => store!(i64),
        IntDType::I32 => store!(i32),
        IntDType::I16 => store!(i16),
        IntDType::I8 => store!(i8),
        IntDType::U64 => store!(u64),
        IntDType::U32 => store!(u32),
        IntDType::U16 => store!(u16),
        IntDType::U8 => store!(u8),
    }
}
