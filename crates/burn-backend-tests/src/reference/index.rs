//! Joining, positions that are data, running values and order, one element at a time.

use super::{flat, scalar};
use crate::array::{Array, Num, positions};
use burn_ir::{IndexOp, Operand, ScanOp, SliceRange, SortOp};
use burn_std::{IndexingUpdateOp, Kind};
use core::cmp::Ordering;

/// Tensors one after the other.
pub fn cat(dim: usize, inputs: &[Array]) -> Array {
    let mut shape = inputs[0].shape.clone();
    shape[dim] = inputs.iter().map(|input| input.shape[dim]).sum();
    Array::from_fn(shape, inputs[0].dtype, |position| {
        let mut from = position.to_vec();
        let part = inputs.iter().find(|input| {
            let inside = from[dim] < input.shape[dim];
            if !inside {
                from[dim] -= input.shape[dim];
            }
            inside
        });
        let part = part.expect("the parts fill the whole");
        part.data[flat(&part.shape, &from)]
    })
}

/// The first input with a selection replaced.
pub fn assign(ranges: &[SliceRange], values: &Operand<usize>, inputs: &[Array]) -> Array {
    let mut output = inputs[0].clone();
    let selected: Vec<usize> = ranges.iter().map(|range| range.len).collect();
    for position in positions(&selected) {
        let to: Vec<usize> = ranges
            .iter()
            .zip(&position)
            .map(|(range, at)| (range.start as isize + *at as isize * range.step) as usize)
            .collect();
        output.data[flat(&output.shape, &to)] = match values {
            Operand::Tensor(at) => inputs[*at].at(&position),
            Operand::Scalar(value) => scalar(*value).stored_as(output.dtype),
        };
    }
    output
}

/// Where the element is that is selected for a position of the selection.
fn place(op: IndexOp, indices: &Array, position: &[usize]) -> Vec<usize> {
    let index = |position: &[usize]| match indices.at(position) {
        Num::Int(index) => usize::try_from(index).expect("samples have legal indices"),
        other => panic!("{other:?} is no index"),
    };
    let mut place = position.to_vec();
    match op {
        IndexOp::Elements { dim } => place[dim] = index(position),
        IndexOp::Select { dim } => place[dim] = index(&[position[dim]]),
        IndexOp::Nd => {
            let outer = indices.shape.len() - 1;
            let named = (0..indices.shape[outer]).map(|at| {
                let mut tuple = position[..outer].to_vec();
                tuple.push(at);
                index(&tuple)
            });
            place = named.chain(position[outer..].iter().copied()).collect();
        }
    }
    place
}

/// The selected elements.
pub fn gather(op: IndexOp, input: &Array, indices: &Array) -> Array {
    let shape: Vec<usize> = match op {
        IndexOp::Elements { .. } => indices.shape.clone(),
        IndexOp::Select { dim } => {
            let mut shape = input.shape.clone();
            shape[dim] = indices.shape[0];
            shape
        }
        IndexOp::Nd => {
            let outer = indices.shape.len() - 1;
            let (outer, named) = (&indices.shape[..outer], indices.shape[outer]);
            [outer, &input.shape[named..]].concat()
        }
    };
    Array::from_fn(shape, input.dtype, |position| {
        input.data[flat(&input.shape, &place(op, indices, position))]
    })
}

/// What a second number makes of a first. Of truth values the sum is "or" and the product "and".
fn update(mode: IndexingUpdateOp, old: Num, new: Num) -> Num {
    let extreme = |wanted: Ordering| {
        let nan = |num: Num| num.float().is_nan();
        match nan(old) || !(nan(new) || new.order(old) == wanted) {
            true => old,
            false => new,
        }
    };
    match (mode, old, new) {
        (IndexingUpdateOp::Assign, ..) => new,
        (IndexingUpdateOp::Add, Num::Float(old), Num::Float(new)) => Num::Float(old + new),
        (IndexingUpdateOp::Mul, Num::Float(old), Num::Float(new)) => Num::Float(old * new),
        (IndexingUpdateOp::Add, Num::Int(old), Num::Int(new)) => Num::Int(old.wrapping_add(new)),
        (IndexingUpdateOp::Mul, Num::Int(old), Num::Int(new)) => Num::Int(old.wrapping_mul(new)),
        (IndexingUpdateOp::Add | IndexingUpdateOp::Max, ..) => extreme(Ordering::Greater),
        (IndexingUpdateOp::Mul | IndexingUpdateOp::Min, ..) => extreme(Ordering::Less),
    }
}

/// What an update may be off by in any order, in unit roundoffs: as for sums and products of many numbers, of which
/// `error` is the magnitude so far.
fn error(mode: IndexingUpdateOp, kind: Kind, error: &mut (f64, f64), new: Num) -> f64 {
    if kind != Kind::Float {
        return 0.0;
    }
    let (count, magnitude) = error;
    *count += 1.0;
    match mode {
        IndexingUpdateOp::Add => *magnitude += new.float().abs(),
        IndexingUpdateOp::Mul => *magnitude *= new.float().abs(),
        _ => return 0.0,
    }
    2.0 * *count * *magnitude
}

/// The first input with the third written where the second says, and the slack of each element.
pub fn scatter(op: IndexOp, mode: IndexingUpdateOp, inputs: &[Array]) -> (Vec<Num>, Vec<f64>) {
    let [input, indices, values] = inputs else {
        panic!("a scatter has three operands")
    };
    let kind = input.dtype.kind();
    let mut data = input.data.clone();
    let mut slack = vec![0.0; data.len()];
    let magnitude = |num: &Num| (1.0, num.float().abs());
    let mut magnitudes: Vec<_> = data.iter().map(magnitude).collect();
    for position in positions(&values.shape) {
        let at = flat(&input.shape, &place(op, indices, &position));
        let value = values.at(&position);
        data[at] = update(mode, data[at], value);
        slack[at] = error(mode, kind, &mut magnitudes[at], value);
    }
    (data, slack)
}

/// Running values, and the slack of each.
pub fn scan(op: ScanOp, dim: usize, input: &Array) -> (Vec<Num>, Vec<f64>) {
    let mode = match op {
        ScanOp::Sum => IndexingUpdateOp::Add,
        ScanOp::Prod => IndexingUpdateOp::Mul,
        ScanOp::Max => IndexingUpdateOp::Max,
        ScanOp::Min => IndexingUpdateOp::Min,
    };
    let (mut data, mut slack) = (input.data.clone(), vec![0.0; input.data.len()]);
    for line in lines(dim, &input.shape) {
        let mut magnitude = (0.0, f64::from(u8::from(op == ScanOp::Prod)));
        for (at, place) in line.iter().enumerate() {
            let new = input.data[*place];
            data[*place] = match at.checked_sub(1) {
                None => new,
                Some(before) => update(mode, data[line[before]], new),
            };
            slack[*place] = error(mode, input.dtype.kind(), &mut magnitude, new);
        }
    }
    (data, slack)
}

/// The places of the elements of each line along a dim.
fn lines(dim: usize, shape: &[usize]) -> Vec<Vec<usize>> {
    let mut starts = shape.to_vec();
    starts[dim] = 1;
    let line = |start: Vec<usize>| {
        let place = |at| {
            let mut position = start.clone();
            position[dim] = at;
            flat(shape, &position)
        };
        (0..shape[dim]).map(place).collect()
    };
    positions(&starts).map(line).collect()
}

/// The first elements of each line in order, or their positions.
pub fn sort(
    op: SortOp,
    dim: usize,
    descending: bool,
    len: usize,
    input: &Array,
) -> (Vec<usize>, Vec<Num>) {
    let mut shape = input.shape.clone();
    shape[dim] = len;
    let mut data = vec![Num::Int(0); shape.iter().product()];
    for (to, from) in lines(dim, &shape).into_iter().zip(lines(dim, &input.shape)) {
        let mut order: Vec<usize> = (0..from.len()).collect();
        order.sort_by(|one, other| {
            let order = input.data[from[*one]].order(input.data[from[*other]]);
            if descending { order.reverse() } else { order }
        });
        for (to, at) in to.into_iter().zip(order) {
            data[to] = match op {
                SortOp::Values => input.data[from[at]],
                SortOp::Indices { .. } => Num::Int(at as i128),
            };
        }
    }
    (shape, data)
}

/// The positions of true elements.
pub fn argwhere(mask: &Array) -> (Vec<usize>, Vec<Num>) {
    let found: Vec<Vec<usize>> = positions(&mask.shape)
        .filter(|position| mask.at(position) == Num::Bool(true))
        .collect();
    let shape = vec![found.len(), mask.shape.len()];
    let numbers = found.into_iter().flatten();
    (shape, numbers.map(|at| Num::Int(at as i128)).collect())
}
