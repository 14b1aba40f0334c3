//! The same elements in another arrangement.

use super::binary::number;
use super::{ANY, INF, NAN};
use crate::{Input, Sample};
use burn_ir::{MovementOp, Operation, PadRange, SliceRange};

fn movement(note: &str, shape: &[usize], op: MovementOp) -> Sample {
    Sample::new(note, ANY, vec![Input::new(shape)], move |_| {
        Operation::Movement {
            op: op.clone(),
            input: 0,
        }
    })
}

fn reshape(note: &str, from: &[usize], to: &[usize]) -> Sample {
    movement(
        note,
        from,
        MovementOp::Reshape {
            shape: to.iter().copied().collect(),
        },
    )
}

fn permute(note: &str, shape: &[usize], axes: &[usize]) -> Sample {
    movement(
        note,
        shape,
        MovementOp::Permute {
            axes: axes.iter().copied().collect(),
        },
    )
}

fn expand(note: &str, from: &[usize], to: &[usize]) -> Sample {
    movement(
        note,
        from,
        MovementOp::Expand {
            shape: to.iter().copied().collect(),
        },
    )
}

fn slice(note: &str, shape: &[usize], ranges: &[(usize, isize, usize)]) -> Sample {
    let range = |(start, step, len): &(usize, isize, usize)| SliceRange {
        start: *start,
        step: *step,
        len: *len,
    };
    movement(
        note,
        shape,
        MovementOp::Slice {
            ranges: ranges.iter().map(range).collect(),
        },
    )
}

fn pad(note: &str, shape: &[usize], padding: &[(usize, usize, usize)]) -> Sample {
    let padding: Box<[PadRange]> = padding
        .iter()
        .map(|(before, between, after)| PadRange {
            before: *before,
            between: *between,
            after: *after,
        })
        .collect();
    Sample::new(note, ANY, vec![Input::new(shape)], move |dtype| {
        Operation::Movement {
            op: MovementOp::Pad {
                padding: padding.clone(),
                value: number(dtype),
            },
            input: 0,
        }
    })
}

pub(super) fn samples() -> Vec<Sample> {
    [
        reshape("flattening", &[3, 4, 2], &[24]),
        reshape("splitting", &[6, 4], &[2, 3, 4]),
        reshape("with ones", &[3, 4], &[1, 3, 1, 4]),
        reshape("to no dims", &[1, 1], &[]),
        reshape("across dims", &[4, 6], &[3, 8]),
        reshape("without elements", &[0, 4], &[2, 0, 3]),
        permute("of two dims", &[3, 5], &[1, 0]),
        permute("of all dims", &[2, 3, 4, 5], &[3, 1, 0, 2]),
        permute("of no dims", &[], &[]),
        permute("without elements", &[0, 3], &[1, 0]),
        expand("of the first dim", &[1, 4], &[3, 4]),
        expand("of the last dim", &[3, 1], &[3, 5]),
        expand("of inner dims", &[2, 1, 3, 1], &[2, 4, 3, 2]),
        expand("to no elements", &[1, 4], &[0, 4]),
        slice("of a range", &[5, 4], &[(1, 1, 3), (0, 1, 4)]),
        slice("in steps", &[7, 5], &[(0, 3, 3), (1, 2, 2)]),
        slice("backwards", &[7, 5], &[(6, -2, 4), (3, -1, 3)]),
        slice("of one element", &[4, 4], &[(3, 9, 1), (0, -5, 1)]),
        slice("of nothing", &[4, 4], &[(4, 1, 0), (0, 1, 4)]),
        slice("of no dims", &[], &[]),
        slice("without elements", &[0, 4], &[(0, 1, 0), (0, 1, 4)]),
        pad("around", &[3, 4], &[(1, 0, 2), (0, 0, 3)]),
        pad("between", &[3, 4], &[(0, 2, 0), (1, 1, 1)]),
        pad("by nothing", &[3, 4], &[(0, 0, 0), (0, 0, 0)]),
        pad("without elements", &[0, 2], &[(1, 3, 2), (0, 0, 1)]),
    ]
    .map(|sample| {
        sample
            .by_family()
            .edges([INF, -0.0, NAN])
            .int_edges()
            .smooth()
    })
    .to_vec()
}
