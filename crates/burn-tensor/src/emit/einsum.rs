//! Sums of products in index notation, two factors at a time from the left.

use super::{binary, create, fail, matmul, movement, run, shape};
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_ir::{BinaryOp, CompareOp, Described, Dims, Operand, Operation, ReduceOp};
use burn_std::Shape;

/// The name of a dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// A dim of the ellipsis, counted from its last.
    Rest(usize),
    Letter(char),
}

/// A factor with the names of its dims.
struct Factor {
    labels: Vec<Label>,
    tensor: Handle,
}

/// The sum of products that the notation describes. A result without dims has shape `[1]`.
#[track_caller]
pub(crate) fn einsum(notation: &str, operands: Vec<Handle>) -> Handle {
    let (inputs, output) = match parse(notation, &operands) {
        Ok(parsed) => parsed,
        Err(problem) => panic!(
            "`einsum`: {problem} in {notation:?}\n  legal: one letter for each dim, `...` for the rest, terms separated by `,`, and the result behind `->`"
        ),
    };
    let mut factors = Vec::with_capacity(operands.len());
    for (labels, tensor) in inputs.into_iter().zip(operands) {
        factors.push(diagonal(Factor { labels, tensor }));
    }
    let mut factors = factors.into_iter();
    let mut product = factors.next().expect("a notation has at least one term");
    while let Some(factor) = factors.next() {
        let mut kept = output.clone();
        factors
            .as_slice()
            .iter()
            .for_each(|later| kept.extend_from_slice(&later.labels));
        product = contract(product, factor, &kept);
    }
    let product = sum_out(product, &output);
    let axes: Vec<_> = output
        .iter()
        .map(|label| place(&product.labels, *label) as isize)
        .collect();
    match axes.is_empty() {
        true => movement::reshape(product.tensor, Shape::new([1])),
        false => movement::permute(product.tensor, &axes),
    }
}

fn place(labels: &[Label], label: Label) -> usize {
    let place = labels.iter().position(|other| *other == label);
    place.expect("results name dims of the terms only")
}

/// The labels of each term and of the result.
fn parse(
    notation: &str,
    operands: &[Handle],
) -> Result<(Vec<Vec<Label>>, Vec<Label>), &'static str> {
    let (terms, result) = match notation.split_once("->") {
        Some((terms, result)) => (terms, Some(result)),
        None => (notation, None),
    };
    let terms: Vec<&str> = terms.split(',').collect();
    if terms.len() != operands.len() {
        return Err("there is not one term for each tensor");
    }
    let mut inputs = Vec::with_capacity(terms.len());
    for (text, operand) in terms.iter().zip(operands) {
        inputs.push(term(text, Some(operand.meta().rank()), 0)?);
    }
    let all = || inputs.iter().flatten().copied();
    let rest = all()
        .filter(|label| matches!(label, Label::Rest(_)))
        .count();
    let rest = (0..rest)
        .take_while(|dim| all().any(|label| label == Label::Rest(*dim)))
        .count();
    let output = match result {
        Some(text) => term(text, None, rest)?,
        // Without a result: the ellipsis, then the letters that stand once, in the order of the alphabet.
        None => {
            let mut once: Vec<_> = all()
                .filter(|label| matches!(label, Label::Letter(_)))
                .filter(|label| all().filter(|other| other == label).count() == 1)
                .collect();
            once.sort();
            (0..rest).rev().map(Label::Rest).chain(once).collect()
        }
    };
    for (at, label) in output.iter().enumerate() {
        if output[..at].contains(label) {
            return Err("the result names a dim twice");
        }
        if !all().any(|other| other == *label) {
            return Err("the result names a dim that no term has");
        }
    }
    Ok((inputs, output))
}

/// The labels of one term; an ellipsis stands for what is missing to `rank`, or for `rest` dims.
fn term(text: &str, rank: Option<usize>, rest: usize) -> Result<Vec<Label>, &'static str> {
    let letters = |text: &str| -> Result<Vec<Label>, &'static str> {
        let letter = |letter: char| match letter.is_ascii_alphabetic() {
            true => Ok(Label::Letter(letter)),
            false => Err("there is something that is no letter"),
        };
        text.chars()
            .filter(|letter| *letter != ' ')
            .map(letter)
            .collect()
    };
    let (before, after) = match text.split_once("...") {
        Some((before, after)) => (letters(before)?, Some(letters(after)?)),
        None => (letters(text)?, None),
    };
    let named = before.len() + after.as_ref().map_or(0, Vec::len);
    let hidden = match (rank, &after) {
        (Some(rank), Some(_)) => rank.checked_sub(named),
        (Some(rank), None) => (rank == named).then_some(0),
        (None, Some(_)) => Some(rest),
        (None, None) => Some(0),
    };
    let hidden = hidden.ok_or("a term has not one letter for each dim of its tensor")?;
    let mut labels = before;
    labels.extend((0..hidden).rev().map(Label::Rest));
    labels.extend(after.unwrap_or_default());
    Ok(labels)
}

/// A dim that is named twice as one: only where the two agree.
#[track_caller]
fn diagonal(factor: Factor) -> Factor {
    let Factor {
        mut labels,
        mut tensor,
    } = factor;
    let twice = |labels: &[Label]| {
        let second = (1..labels.len()).find(|at| labels[..*at].contains(&labels[*at]))?;
        Some((place(labels, labels[second]), second))
    };
    while let Some((first, second)) = twice(&labels) {
        let meta = tensor.meta().clone();
        let (rows, columns) = (meta.shape[first], meta.shape[second]);
        if rows != columns {
            fail(
                "einsum",
                &meta,
                format_args!("one letter names dims of sizes {rows} and {columns}"),
                format_args!("equal sizes for a diagonal"),
            );
        }
        let line = |dim: usize| -> Shape {
            let size = |at| if at == dim { rows } else { 1 };
            (0..meta.rank()).map(size).collect()
        };
        let device = tensor.device().base();
        let positions = create::positions(device, rows);
        let down = movement::reshape(positions.clone(), line(first));
        let right = movement::reshape(positions, line(second));
        let mask = super::compare(CompareOp::Equal, down, Operand::Tensor(right));
        let zero = super::scalar(0.0, &tensor).into();
        tensor = super::choose(mask, Operand::Tensor(tensor), zero);
        tensor = sum(tensor, Dims::one(second));
        labels.remove(second);
    }
    Factor { labels, tensor }
}

/// The sum over some dims, without them.
#[track_caller]
fn sum(input: Handle, dims: Dims) -> Handle {
    if dims.is_empty() {
        return input;
    }
    let op = ReduceOp::Sum;
    movement::squeeze(run(Operation::Reduce { op, input, dims }), dims)
}

/// The sum over the dims that nobody needs.
#[track_caller]
fn sum_out(factor: Factor, kept: &[Label]) -> Factor {
    let Factor { labels, tensor } = factor;
    let dims: Dims = (0..labels.len())
        .filter(|dim| !kept.contains(&labels[*dim]))
        .collect();
    let tensor = sum(tensor, dims);
    let labels = labels
        .into_iter()
        .filter(|label| kept.contains(label))
        .collect();
    Factor { labels, tensor }
}

/// The factor with its dims in the order of three groups, each of which becomes one dim; and the sizes by group.
#[track_caller]
fn arrange(factor: Factor, groups: [&[Label]; 3]) -> Handle {
    let sizes = shape(&factor.tensor).clone();
    let axes: Vec<usize> = groups
        .concat()
        .iter()
        .map(|label| place(&factor.labels, *label))
        .collect();
    let count = |group: &[Label]| -> usize {
        group
            .iter()
            .map(|label| sizes[place(&factor.labels, *label)])
            .product()
    };
    let flat = Shape::new(groups.map(count));
    let axes: Vec<_> = axes.into_iter().map(|axis| axis as isize).collect();
    movement::reshape(movement::permute(factor.tensor, &axes), flat)
}

/// The product of two factors, summed over what nobody needs after it.
#[track_caller]
fn contract(lhs: Factor, rhs: Factor, kept: &[Label]) -> Factor {
    let lhs_kept = [kept, &rhs.labels].concat();
    let rhs_kept = [kept, &lhs.labels].concat();
    let (mut lhs, mut rhs) = (sum_out(lhs, &lhs_kept), sum_out(rhs, &rhs_kept));
    stretch(&mut lhs, &mut rhs);
    let (mut batch, mut inner, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for label in &lhs.labels {
        match (rhs.labels.contains(label), kept.contains(label)) {
            (false, _) => &mut rows,
            (true, true) => &mut batch,
            (true, false) => &mut inner,
        }
        .push(*label);
    }
    let columns: Vec<_> = rhs
        .labels
        .iter()
        .copied()
        .filter(|label| !lhs.labels.contains(label))
        .collect();
    let size =
        |factor: &Factor, label: &Label| shape(&factor.tensor)[place(&factor.labels, *label)];
    let left = batch.iter().chain(&rows).map(|label| size(&lhs, label));
    let to: Shape = left
        .chain(columns.iter().map(|label| size(&rhs, label)))
        .collect();
    let lhs = arrange(lhs, [&batch, &rows, &inner]);
    let rhs = arrange(rhs, [&batch, &inner, &columns]);
    // Without a sum the product of a column and a row is the elementwise one.
    let product = match inner.is_empty() {
        true => binary(BinaryOp::Mul, lhs, rhs),
        false => matmul(lhs, rhs),
    };
    Factor {
        labels: [batch, rows, columns].concat(),
        tensor: movement::reshape(product, to),
    }
}

/// Dims of size 1 repeated to the size that the other factor has under the same name.
#[track_caller]
fn stretch(lhs: &mut Factor, rhs: &mut Factor) {
    let mut left = shape(&lhs.tensor).clone();
    let mut right = shape(&rhs.tensor).clone();
    for (dim, label) in lhs.labels.iter().enumerate() {
        let Some(other) = rhs.labels.iter().position(|other| other == label) else {
            continue;
        };
        match (left[dim], right[other]) {
            (one, two) if one == two => {}
            (1, size) => left[dim] = size,
            (size, 1) => right[other] = size,
            (one, two) => fail(
                "einsum",
                lhs.tensor.meta(),
                format_args!("one letter names dims of sizes {one} and {two}"),
                format_args!("equal sizes, or size 1 on either side"),
            ),
        }
    }
    lhs.tensor = movement::expand(lhs.tensor.clone(), left);
    rhs.tensor = movement::expand(rhs.tensor.clone(), right);
}
