//! Running values: along the first, middle and last dim, and of lines longer than a vector register.

use super::{INF, NAN, NUMERIC};
use crate::{Input, Sample};
use burn_ir::{Operation, ScanOp};

fn scan(op: ScanOp, note: &str, shape: &[usize], dim: usize) -> Sample {
    Sample::new(note, NUMERIC, vec![Input::new(shape)], move |_| {
        Operation::Scan { op, dim, input: 0 }
    })
    .by_family()
    .int_edges()
}

pub(super) fn samples() -> Vec<Sample> {
    let described = |op, sample: Sample| match op {
        ScanOp::Sum => sample.edges([INF]).smooth(),
        // Around 1, so that no product leaves the range of f16.
        ScanOp::Prod => sample.within(0.8, 1.2).smooth(),
        ScanOp::Max | ScanOp::Min => sample.edges([1.5, -INF, NAN]).kinked(),
    };
    let sets = ScanOp::ALL.iter().flat_map(|op| {
        [
            scan(*op, "along the first dim", &[4, 3, 5], 0),
            scan(*op, "along the middle dim", &[3, 4, 5], 1),
            scan(*op, "along the last dim", &[3, 7, 6], 2),
            scan(*op, "of a line", &[67], 0),
            scan(*op, "of one element", &[1, 3], 0),
        ]
        .map(|sample| described(*op, sample))
    });
    sets.collect()
}
