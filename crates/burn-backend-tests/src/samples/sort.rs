//! Order: of short and long lines, with ties, in both directions, and the first few.

use super::{INF, NAN, NUMERIC};
use crate::{Input, Sample};
use burn_ir::{Operation, SortOp};
use burn_std::{DType, IntDType};

/// Long lines are too long for finite differences, which are of f64.
const LONG: &[DType] = &[DType::F32, DType::F16, DType::I64, DType::I16, DType::U8];

fn sort(
    op: SortOp,
    note: &str,
    shape: &[usize],
    dim: usize,
    descending: bool,
    len: usize,
) -> Sample {
    let sample = Sample::new(note, NUMERIC, vec![Input::new(shape)], move |_| {
        Operation::Sort {
            op,
            dim,
            descending,
            len,
            input: 0,
        }
    })
    .by_family()
    .ints(0, 40)
    .edges([0.0, NAN, INF, -0.0, -INF, NAN, 0.0])
    .int_edges();
    match op {
        SortOp::Values => sample.kinked(),
        SortOp::Indices { .. } => sample,
    }
}

pub(super) fn samples() -> Vec<Sample> {
    let sets = |op| {
        [
            sort(op, "of lines", &[3, 29], 1, false, 29),
            sort(op, "of descending lines", &[3, 29], 1, true, 29),
            sort(op, "along the first dim", &[9, 4], 0, false, 9),
            sort(op, "along the middle dim", &[2, 7, 3], 1, true, 7),
            sort(op, "of a long line", &[1500], 0, false, 1500).on(LONG),
            sort(op, "of a long descending line", &[1500], 0, true, 1500).on(LONG),
            sort(op, "for the largest few", &[2, 40], 1, true, 3),
            sort(op, "for the smallest few", &[40, 2], 0, false, 5),
            sort(op, "for nothing", &[3, 4], 1, true, 0),
            sort(op, "of equal lines", &[4, 3], 0, true, 2),
        ]
    };
    let indices = |dtype| sets(SortOp::Indices { dtype });
    [
        sets(SortOp::Values).to_vec(),
        indices(IntDType::I64).to_vec(),
        indices(IntDType::I16)[..2].to_vec(),
    ]
    .concat()
}
