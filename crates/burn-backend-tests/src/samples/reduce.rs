//! Reductions: over the first, last, outer, all and no dims, and of lines longer than a vector register.

use super::{BOOLS, INF, NAN, NUMERIC};
use crate::{Input, Sample};
use burn_ir::{Dims, Operation, ReduceOp};
use burn_std::IntDType;
use core::cmp::Ordering;

fn reduce(op: ReduceOp, note: &str, shape: &[usize], dims: &[usize]) -> Sample {
    let dims: Dims = dims.iter().copied().collect();
    Sample::new(note, NUMERIC, vec![Input::new(shape)], move |_| {
        Operation::Reduce { op, input: 0, dims }
    })
}

fn sets(op: ReduceOp, describe: impl Fn(Sample) -> Sample) -> Vec<Sample> {
    [
        reduce(op, "over the first dim", &[3, 4, 19], &[0]),
        reduce(op, "over the middle dim", &[3, 4, 19], &[1]),
        reduce(op, "over the last dim", &[3, 4, 19], &[2]),
        reduce(op, "over the outer dims", &[3, 4, 19], &[0, 2]),
        reduce(op, "over all dims", &[3, 4, 19], &[0, 1, 2]),
        reduce(op, "over no dims", &[3, 4], &[]),
        reduce(op, "of a long line", &[301], &[0]),
        reduce(op, "of long lines", &[2, 301], &[1]),
        reduce(op, "without dims", &[], &[]),
    ]
    .map(describe)
    .to_vec()
}

fn lines(op: ReduceOp, describe: impl Fn(Sample) -> Sample) -> Vec<Sample> {
    [
        reduce(op, "over the first dim", &[3, 4, 19], &[0]),
        reduce(op, "over the middle dim", &[3, 4, 19], &[1]),
        reduce(op, "over the last dim", &[3, 4, 19], &[2]),
        reduce(op, "of a long line", &[301], &[0]),
    ]
    .map(describe)
    .to_vec()
}

/// The extreme in an order where NaN is above everything, on the side that `wanted` names.
fn extreme(group: &[f64], wanted: Ordering) -> (usize, &f64) {
    let mut best = (0, &group[0]);
    for (at, x) in group.iter().enumerate() {
        let beats = x.is_nan() || x.partial_cmp(best.1) == Some(wanted);
        if beats && !best.1.is_nan() {
            best = (at, x);
        }
    }
    best
}

fn int_extreme(group: &[i128], wanted: Ordering) -> (usize, &i128) {
    let mut best = (0, &group[0]);
    for (at, x) in group.iter().enumerate() {
        if x.cmp(best.1) == wanted {
            best = (at, x);
        }
    }
    best
}

fn int_mean(group: &[i128]) -> i128 {
    group
        .iter()
        .sum::<i128>()
        .checked_div(group.len() as i128)
        .unwrap_or(0)
}

pub(super) fn samples() -> Vec<Sample> {
    const SPECIAL: [f64; 3] = [1.5, -INF, NAN];
    let (more, less) = (Ordering::Greater, Ordering::Less);
    let extremes = |it: Sample| it.on(NUMERIC).edges(SPECIAL).int_edges();
    let mut samples = [
        sets(ReduceOp::Sum, |it| {
            it.groups(|x: &[f64]| x.iter().sum::<f64>())
                .groups(|x: &[i128]| x.iter().sum::<i128>())
                .edges([INF])
                .int_edges()
                .smooth()
        }),
        sets(ReduceOp::Mean, |it| {
            it.groups(|x: &[f64]| x.iter().sum::<f64>() / x.len() as f64)
                .groups(int_mean)
                .edges([INF])
                .smooth()
        }),
        sets(ReduceOp::Prod, |it| {
            it.groups(|x: &[f64]| x.iter().product::<f64>())
                .groups(|x: &[i128]| {
                    x.iter()
                        .fold(1, |product: i128, x| product.wrapping_mul(*x))
                })
                // Around 1, so that no product leaves the range of f16.
                .within(0.8, 1.2)
                .int_edges()
                .smooth()
        }),
        sets(ReduceOp::Max, |it| {
            extremes(it)
                .groups(move |x: &[f64]| *extreme(x, more).1)
                .groups(move |x: &[i128]| *int_extreme(x, more).1)
                .kinked()
        }),
        sets(ReduceOp::Min, |it| {
            extremes(it)
                .groups(move |x: &[f64]| *extreme(x, less).1)
                .groups(move |x: &[i128]| *int_extreme(x, less).1)
                .kinked()
        }),
        sets(ReduceOp::Any, |it| {
            it.groups(|x: &[bool]| x.iter().any(|x| *x)).on(BOOLS)
        }),
        sets(ReduceOp::All, |it| {
            it.groups(|x: &[bool]| x.iter().all(|x| *x)).on(BOOLS)
        }),
    ]
    .concat();
    for dtype in [IntDType::I64, IntDType::I32, IntDType::U8] {
        let described = move |it: Sample, wanted| {
            let it = extremes(it).ints(0, 3);
            it.groups(move |x: &[f64]| extreme(x, wanted).0 as i128)
                .groups(move |x: &[i128]| int_extreme(x, wanted).0 as i128)
        };
        samples.extend(lines(ReduceOp::ArgMax { dtype }, |it| described(it, more)));
        samples.extend(lines(ReduceOp::ArgMin { dtype }, |it| described(it, less)));
    }
    samples
}
