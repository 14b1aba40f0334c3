//! Positions that are data: with repetitions, of every type of index, in the first, middle and last dim.

use super::{ANY, BOOLS};
use crate::{Input, Sample};
use burn_ir::{IndexOp, Operation};
use burn_std::{DType, IndexingUpdateOp, IntDType};

/// What the samples of reading and writing share.
struct Case {
    note: String,
    op: IndexOp,
    input: Vec<usize>,
    indices: Input,
    selected: Vec<usize>,
}

/// No size is above 4, so that no index leaves a smaller copy of the sample.
fn cases() -> Vec<Case> {
    let case = |note: &str, op, input: &[usize], indices: Input, selected: &[usize]| Case {
        note: note.into(),
        op,
        input: input.to_vec(),
        indices,
        selected: selected.to_vec(),
    };
    let elements = |note: &str, dim, input: &[usize], shape: &[usize], dtype| {
        let indices = Input::indices(shape, input[dim], dtype);
        case(note, IndexOp::Elements { dim }, input, indices, shape)
    };
    let select = |note: &str, dim: usize, input: &[usize], len: usize, dtype| {
        let mut selected = input.to_vec();
        selected[dim] = len;
        let indices = Input::indices([len], input[dim], dtype);
        case(note, IndexOp::Select { dim }, input, indices, &selected)
    };
    let nd = |note: &str, input: &[usize], shape: &[usize], dtype| {
        let (named, outer) = shape.split_last().expect("the last dim names positions");
        let least = input[..*named].iter().min().copied().unwrap_or(1);
        let selected = [outer, &input[*named..]].concat();
        let indices = Input::indices(shape, least, dtype);
        case(note, IndexOp::Nd, input, indices, &selected)
    };
    vec![
        elements("along the first dim", 0, &[3, 4], &[4, 4], DType::I64),
        elements("along the last dim", 1, &[3, 4], &[3, 4], DType::I32),
        elements("along a middle dim", 1, &[2, 3, 4], &[2, 4, 3], DType::U8),
        elements("with fewer indices", 1, &[3, 4], &[2, 1], DType::I16),
        elements("of a vector", 0, &[4], &[4], DType::U64),
        select("rows", 0, &[3, 2, 4], 4, DType::I64),
        select("of a middle dim", 1, &[3, 4, 2], 3, DType::I32),
        select("columns", 2, &[2, 3, 4], 4, DType::I8),
        select("of a vector", 0, &[4], 4, DType::U32),
        select("one row", 0, &[4, 3], 1, DType::U16),
        nd("of elements", &[3, 4], &[4, 2], DType::I64),
        nd("of rows", &[4, 3], &[2, 3, 1], DType::I32),
        nd("of matrices", &[3, 2, 4], &[4, 1], DType::U8),
    ]
}

fn gather(case: Case) -> Sample {
    let inputs = vec![Input::new(case.input), case.indices];
    Sample::new(case.note, ANY, inputs, move |_| Operation::Gather {
        op: case.op,
        input: 0,
        indices: 1,
    })
    .by_family()
    .smooth()
}

fn scatter(case: Case, mode: IndexingUpdateOp) -> Sample {
    let inputs = vec![
        Input::new(case.input),
        case.indices,
        Input::new(case.selected),
    ];
    let note = format!("{mode:?} {}", case.note);
    let sample = Sample::new(note, ANY, inputs, move |_| Operation::Scatter {
        op: case.op,
        mode,
        input: 0,
        indices: 1,
        values: 2,
    })
    .by_family();
    match mode {
        IndexingUpdateOp::Min | IndexingUpdateOp::Max => sample.kinked(),
        _ => sample.smooth(),
    }
}

fn argwhere(note: &str, shape: &[usize], truths: fn(usize) -> bool, dtype: IntDType) -> Sample {
    let count = (0..shape.iter().product()).filter(|at| truths(*at)).count();
    let mask = Input {
        truths: Some(truths),
        ..Input::new(shape)
    };
    Sample::new(note, BOOLS, vec![mask], move |_| Operation::Argwhere {
        count,
        dtype,
        mask: 0,
    })
    .by_family()
}

pub(super) fn samples() -> Vec<Sample> {
    let mut samples: Vec<Sample> = cases().into_iter().map(gather).collect();
    let assign = IndexingUpdateOp::Assign;
    samples.extend(cases().into_iter().map(|case| scatter(case, assign)));
    // How positions are found does not depend on the mode.
    let notes = ["along the last dim", "rows", "columns", "of rows"];
    for mode in [
        IndexingUpdateOp::Add,
        IndexingUpdateOp::Mul,
        IndexingUpdateOp::Min,
        IndexingUpdateOp::Max,
    ] {
        let some = cases().into_iter();
        let some = some.filter(|case| notes.contains(&&*case.note));
        samples.extend(some.map(|case| scatter(case, mode)));
    }
    // As many in each row, so that repeating one changes no count.
    let sparse = |at| at % 5 == 2;
    samples.extend([
        argwhere("of a matrix", &[3, 10], sparse, IntDType::I64),
        argwhere("of all dims", &[3, 2, 5], sparse, IntDType::I32),
        argwhere("of a long vector", &[301], |_| true, IntDType::I16),
        argwhere("of nothing", &[3, 4], |_| false, IntDType::U8),
        argwhere("without elements", &[0, 4], |_| true, IntDType::I64),
    ]);
    samples
}
