//! Tensors one after the other, and selections replaced.

use super::binary::number;
use super::{ANY, INF, NAN};
use crate::{Input, Sample};
use burn_ir::{Operand, Operation, SliceRange};

fn cat(note: &str, dim: usize, shapes: &[&[usize]]) -> Sample {
    let inputs = shapes.iter().map(|shape| Input::new(*shape)).collect();
    let count = shapes.len();
    Sample::new(note, ANY, inputs, move |_| Operation::Cat {
        dim,
        inputs: (0..count).collect(),
    })
}

fn assign(note: &str, shape: &[usize], ranges: &[(usize, isize, usize)], scalar: bool) -> Sample {
    let range = |(start, step, len): &(usize, isize, usize)| SliceRange {
        start: *start,
        step: *step,
        len: *len,
    };
    let ranges: Box<[SliceRange]> = ranges.iter().map(range).collect();
    let selected: Vec<usize> = ranges.iter().map(|range| range.len).collect();
    let mut inputs = vec![Input::new(shape)];
    if !scalar {
        inputs.push(Input::new(selected));
    }
    Sample::new(note, ANY, inputs, move |dtype| Operation::SliceAssign {
        ranges: ranges.clone(),
        input: 0,
        values: match scalar {
            true => number(dtype).into(),
            false => Operand::Tensor(1),
        },
    })
}

pub(super) fn samples() -> Vec<Sample> {
    [
        cat("of rows", 0, &[&[2, 5], &[1, 5], &[3, 5]]),
        cat("of columns", 1, &[&[3, 2], &[3, 4]]),
        cat("of inner dims", 1, &[&[2, 3, 2], &[2, 1, 2], &[2, 2, 2]]),
        cat("of one tensor", 0, &[&[3, 2]]),
        cat("with nothing", 0, &[&[2, 3], &[0, 3], &[1, 3]]),
        cat("of nothing", 1, &[&[0, 2], &[0, 3]]),
        assign("of a range", &[4, 4], &[(1, 1, 2), (0, 1, 3)], false),
        assign("in steps", &[4, 3], &[(0, 3, 2), (1, 1, 1)], false),
        assign("backwards", &[4, 4], &[(3, -2, 2), (2, -1, 3)], false),
        assign("of one element", &[4, 4], &[(3, 9, 1), (0, -5, 1)], false),
        assign("of everything", &[2, 4], &[(0, 1, 2), (0, 1, 4)], false),
        assign("of nothing", &[4, 4], &[(4, 1, 0), (0, 1, 4)], false),
        assign("by scalar", &[4, 4], &[(3, -2, 2), (1, 1, 3)], true),
        assign("without elements", &[0, 4], &[(0, 1, 0), (0, 1, 4)], true),
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
