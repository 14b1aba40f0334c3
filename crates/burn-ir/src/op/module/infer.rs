//! What each leaf takes and yields.

use super::{Filter, ModuleOp, Window, quant};
use crate::op::{BOOL, FLOAT};
use crate::{Described, OperationError, Problem, TensorMeta};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use burn_std::{DType, Scalar, Shape};

/// Spatial dims that kernels know.
const MOST_SPATIAL: usize = 3;

pub(super) type Inferred = Result<TensorMeta, OperationError>;

/// An instruction under check: its name and its operands.
pub(super) struct Check<'a> {
    pub(super) name: &'static str,
    pub(super) operands: Vec<(&'static str, &'a TensorMeta)>,
}

impl<'a> Check<'a> {
    /// Float operands of one element type.
    fn floats(
        name: &'static str,
        operands: &[(&'static str, Option<&'a TensorMeta>)],
    ) -> Result<Self, OperationError> {
        let operands: Vec<_> = operands
            .iter()
            .filter_map(|(name, meta)| Some((*name, (*meta)?)))
            .collect();
        OperationError::require(name, FLOAT, &operands)?;
        let check = Self { name, operands };
        let first = check.operands[0].1.dtype;
        match check.operands.iter().all(|(_, meta)| meta.dtype == first) {
            true => Ok(check),
            false => Err(check.problem(Problem::DTypesDiffer)),
        }
    }

    pub(super) fn problem(&self, problem: Problem) -> OperationError {
        OperationError::of(self.name, &self.operands, problem)
    }

    fn error(&self, found: String, legal: String) -> OperationError {
        self.problem(Problem::Attribute { found, legal })
    }

    /// Fails with these texts unless the condition holds.
    pub(super) fn ensure(
        &self,
        holds: bool,
        texts: impl FnOnce() -> (String, String),
    ) -> Result<(), OperationError> {
        match holds {
            true => Ok(()),
            false => {
                let (found, legal) = texts();
                Err(self.error(found, legal))
            }
        }
    }

    /// `[batch, channels, …]` with one entry of an attribute for each spatial dim.
    fn image(&self, input: &TensorMeta, entries: usize) -> Result<(), OperationError> {
        if input.rank() < 3 {
            return Err(self.problem(Problem::RankTooSmall { least: 3 }));
        }
        let spatial = input.rank() - 2;
        self.ensure(entries == spatial && spatial <= MOST_SPATIAL, || {
            (
                format!("{entries} entries meet {spatial} spatial dims"),
                format!("one entry for each of at most {MOST_SPATIAL} spatial dims"),
            )
        })
    }

    /// The number of windows in each dim.
    fn windows(
        &self,
        sizes: &[usize],
        windows: &[Window],
        ceil: bool,
    ) -> Result<Shape, OperationError> {
        let count = |(dim, (size, window)): (usize, (&usize, &Window))| {
            window.count(*size, ceil).ok_or_else(|| {
                self.error(
                    format!("{window:?} does not fit spatial dim {dim} of size {size}"),
                    "a size, stride and dilation of at least 1, and a window no longer than the padded dim".into(),
                )
            })
        };
        sizes.iter().zip(windows).enumerate().map(count).collect()
    }

    /// That windows hold more than padding.
    fn meets_elements(&self, size: usize, window: Window) -> Result<(), OperationError> {
        self.ensure(window.meets_elements(size), || {
            (
                format!("some of {window:?} hold nothing but padding"),
                "padding shorter than the window, and a dilation of at most the size of the dim"
                    .into(),
            )
        })
    }

    /// That channels fall into groups.
    fn groups(&self, groups: usize, input: usize, output: usize) -> Result<(), OperationError> {
        let divides = groups > 0 && input.is_multiple_of(groups) && output.is_multiple_of(groups);
        self.ensure(divides, || {
            (
                format!("{input} channels in and {output} out do not fall into {groups} groups"),
                "a number of groups that divides both".into(),
            )
        })
    }

    /// That an operand has this shape.
    pub(super) fn shape(
        &self,
        name: &str,
        meta: Option<&TensorMeta>,
        expected: &[usize],
    ) -> Result<(), OperationError> {
        let Some(meta) = meta else { return Ok(()) };
        self.ensure(meta.shape[..] == *expected, || {
            (
                format!("`{name}` has shape {:?}", &meta.shape[..]),
                format!("a `{name}` of shape {expected:?}"),
            )
        })
    }

    /// The output, if its elements can be counted.
    pub(super) fn output(&self, shape: Shape, dtype: DType) -> Inferred {
        let count = |count: usize, size: &usize| count.checked_mul(*size);
        match shape.iter().try_fold(1, count) {
            Some(_) => Ok(TensorMeta { shape, dtype }),
            None => Err(self.problem(Problem::TooLarge)),
        }
    }
}

/// `[batch, channels, …]`
fn image(batch: usize, channels: usize, sizes: &[usize]) -> Shape {
    [batch, channels].iter().chain(sizes).copied().collect()
}

fn window_sizes(windows: &[Window]) -> Shape {
    windows.iter().map(|window| window.size).collect()
}

pub(crate) fn infer<T: Described>(op: &ModuleOp<T>) -> Inferred {
    let op = op.map_ref(&mut |tensor| tensor.meta());
    let name = op.name();
    match &op {
        ModuleOp::Quantize {
            input,
            scales,
            global,
            scheme,
        } => quant::quantize(name, *scheme, input, scales, *global),
        ModuleOp::Dequantize { input, dtype } => quant::dequantize(name, input, *dtype),
        ModuleOp::QuantizedMatmul { lhs, rhs, dtype } => quant::product(name, lhs, rhs, *dtype),
        ModuleOp::Conv {
            input,
            weight,
            bias,
            windows,
            groups,
        } => {
            let operands = [
                ("input", Some(*input)),
                ("weight", Some(*weight)),
                ("bias", *bias),
            ];
            conv(
                &Check::floats(name, &operands)?,
                input,
                weight,
                *bias,
                windows,
                *groups,
            )
        }
        ModuleOp::ConvTranspose {
            input,
            weight,
            bias,
            windows,
            sizes,
            groups,
        } => {
            let operands = [
                ("input", Some(*input)),
                ("weight", Some(*weight)),
                ("bias", *bias),
            ];
            let check = Check::floats(name, &operands)?;
            conv_transpose(&check, input, weight, *bias, (windows, sizes), *groups)
        }
        ModuleOp::ConvWeight {
            input,
            grad,
            windows,
            groups,
        } => {
            let check = Check::floats(name, &[("input", Some(*input)), ("grad", Some(*grad))])?;
            conv_weight(&check, input, grad, windows, *groups)
        }
        ModuleOp::Unfold { input, windows } => {
            let check = Check::floats(name, &[("input", Some(*input))])?;
            check.image(input, windows.len())?;
            let counts = check.windows(&input.shape[2..], windows, false)?;
            let rows = product(
                &check,
                [input.shape[1]].iter().chain(&window_sizes(windows)[..]),
            )?;
            let columns = product(&check, counts.iter())?;
            check.output([input.shape[0], rows, columns].into(), input.dtype)
        }
        ModuleOp::Fold {
            input,
            windows,
            sizes,
        } => fold(
            &Check::floats(name, &[("input", Some(*input))])?,
            input,
            windows,
            sizes,
        ),
        ModuleOp::MaxPool {
            input,
            windows,
            ceil,
        } => max_pool(
            &Check::floats(name, &[("input", Some(*input))])?,
            input,
            windows,
            *ceil,
        ),
        ModuleOp::MaxPoolIndices {
            input,
            windows,
            ceil,
            dtype,
        } => {
            let check = Check::floats(name, &[("input", Some(*input))])?;
            let values = max_pool(&check, input, windows, *ceil)?;
            Ok(TensorMeta {
                dtype: (*dtype).into(),
                ..values
            })
        }
        ModuleOp::Resample {
            input,
            filters,
            sizes,
            adjoint,
        } => {
            let check = Check::floats(name, &[("input", Some(*input))])?;
            resample(&check, input, filters, sizes, *adjoint)
        }
        ModuleOp::Attention { .. } => attention(&op),
        ModuleOp::LayerNorm {
            input,
            gamma,
            beta,
            epsilon,
        } => {
            let operands = [
                ("input", Some(*input)),
                ("gamma", Some(*gamma)),
                ("beta", *beta),
            ];
            let check = Check::floats(name, &operands)?;
            let Some(last) = input.shape.last() else {
                return Err(check.problem(Problem::RankTooSmall { least: 1 }));
            };
            check.shape("gamma", Some(gamma), &[*last])?;
            check.shape("beta", *beta, &[*last])?;
            float(&check, "epsilon", *epsilon)?;
            Ok((*input).clone())
        }
    }
}

fn float(check: &Check<'_>, name: &str, value: Scalar) -> Result<(), OperationError> {
    check.ensure(matches!(value, Scalar::Float(_)), || {
        (format!("`{name}` is {value:?}"), "a float".into())
    })
}

fn product<'a>(
    check: &Check<'_>,
    mut sizes: impl Iterator<Item = &'a usize>,
) -> Result<usize, OperationError> {
    sizes
        .try_fold(1usize, |product, size| product.checked_mul(*size))
        .ok_or_else(|| check.problem(Problem::TooLarge))
}

fn conv(
    check: &Check<'_>,
    input: &TensorMeta,
    weight: &TensorMeta,
    bias: Option<&TensorMeta>,
    windows: &[Window],
    groups: usize,
) -> Inferred {
    check.image(input, windows.len())?;
    let counts = check.windows(&input.shape[2..], windows, false)?;
    let (channels, out) = (input.shape[1], weight.shape.first().copied().unwrap_or(0));
    check.groups(groups, channels, out)?;
    check.shape(
        "weight",
        Some(weight),
        &image(out, channels / groups, &window_sizes(windows)),
    )?;
    check.shape("bias", bias, &[out])?;
    check.output(image(input.shape[0], out, &counts), input.dtype)
}

fn conv_transpose(
    check: &Check<'_>,
    input: &TensorMeta,
    weight: &TensorMeta,
    bias: Option<&TensorMeta>,
    (windows, sizes): (&[Window], &Shape),
    groups: usize,
) -> Inferred {
    check.image(input, windows.len())?;
    adjoint_sizes(check, &input.shape[2..], windows, sizes)?;
    let (channels, per_group) = (input.shape[1], weight.shape.get(1).copied().unwrap_or(0));
    check.groups(groups, channels, groups)?;
    check.shape(
        "weight",
        Some(weight),
        &image(channels, per_group, &window_sizes(windows)),
    )?;
    let out = product(check, [per_group, groups].iter())?;
    check.shape("bias", bias, &[out])?;
    check.output(image(input.shape[0], out, sizes), input.dtype)
}

/// That dims of `sizes` have as many windows as there are elements.
fn adjoint_sizes(
    check: &Check<'_>,
    counts: &[usize],
    windows: &[Window],
    sizes: &Shape,
) -> Result<(), OperationError> {
    check.ensure(sizes.len() == windows.len(), || {
        (
            format!("{} sizes meet {} windows", sizes.len(), windows.len()),
            "one size for each window".into(),
        )
    })?;
    let found = check.windows(sizes, windows, false)?;
    check.ensure(found[..] == *counts, || {
        (
            format!(
                "{:?} elements are to become {:?}, which have {:?} windows",
                counts,
                &sizes[..],
                &found[..]
            ),
            "sizes with one window for each element: of those, the padding at the end chooses fewer than a stride".into(),
        )
    })
}

fn conv_weight(
    check: &Check<'_>,
    input: &TensorMeta,
    grad: &TensorMeta,
    windows: &[Window],
    groups: usize,
) -> Inferred {
    check.image(input, windows.len())?;
    let counts = check.windows(&input.shape[2..], windows, false)?;
    let (channels, out) = (input.shape[1], grad.shape.get(1).copied().unwrap_or(0));
    check.groups(groups, channels, out)?;
    check.shape("grad", Some(grad), &image(input.shape[0], out, &counts))?;
    check.output(
        image(out, channels / groups, &window_sizes(windows)),
        input.dtype,
    )
}

fn fold(check: &Check<'_>, input: &TensorMeta, windows: &[Window], sizes: &Shape) -> Inferred {
    if input.rank() != 3 {
        return Err(check.problem(Problem::RankTooSmall { least: 3 }));
    }
    let dims = 1..=MOST_SPATIAL;
    check.ensure(
        dims.contains(&windows.len()) && sizes.len() == windows.len(),
        || {
            (
                format!("{} sizes meet {} windows", sizes.len(), windows.len()),
                format!("one size for each of 1 to {MOST_SPATIAL} windows"),
            )
        },
    )?;
    let counts = check.windows(sizes, windows, false)?;
    let columns = product(check, counts.iter())?;
    let area = product(check, window_sizes(windows).iter())?;
    let rows = input.shape[1];
    check.ensure(
        input.shape[2] == columns && rows.is_multiple_of(area),
        || {
            (
                format!("{rows} rows and {} columns", input.shape[2]),
                format!("a multiple of {area} rows, and {columns} columns"),
            )
        },
    )?;
    check.output(image(input.shape[0], rows / area, sizes), input.dtype)
}

fn max_pool(check: &Check<'_>, input: &TensorMeta, windows: &[Window], ceil: bool) -> Inferred {
    check.image(input, windows.len())?;
    let counts = check.windows(&input.shape[2..], windows, ceil)?;
    for (size, window) in input.shape[2..].iter().zip(windows) {
        check.meets_elements(*size, *window)?;
    }
    check.output(image(input.shape[0], input.shape[1], &counts), input.dtype)
}

fn resample(
    check: &Check<'_>,
    input: &TensorMeta,
    filters: &[Filter],
    sizes: &Shape,
    adjoint: bool,
) -> Inferred {
    check.image(input, filters.len())?;
    check.ensure(sizes.len() == filters.len(), || {
        (
            format!("{} sizes meet {} filters", sizes.len(), filters.len()),
            "one size for each spatial dim".into(),
        )
    })?;
    for ((filter, here), there) in filters.iter().zip(&input.shape[2..]).zip(&sizes[..]) {
        let (from, to) = match adjoint {
            false => (*here, *there),
            true => (*there, *here),
        };
        match filter {
            Filter::Mean { window, .. } => {
                let counts = [false, true].map(|ceil| window.count(from, ceil));
                check.ensure(window.dilation == 1 && counts.contains(&Some(to)), || {
                    (
                        format!("{window:?} over {from} elements do not give {to} means"),
                        "a size, stride and dilation of 1 at least, a window no longer than the padded dim, and a mean for each".into(),
                    )
                })?;
                check.meets_elements(from, *window)?;
            }
            Filter::AdaptiveMean
            | Filter::Nearest
            | Filter::NearestExact
            | Filter::Linear { .. }
            | Filter::Cubic { .. }
            | Filter::Lanczos { .. } => {
                // Positions are products of both sizes.
                let counts = from
                    .checked_mul(to)
                    .is_some_and(|product| (product as u64) < 1 << 52);
                check.ensure((from > 0 || to == 0) && counts, || {
                    (
                        format!("{from} elements are to become {to}"),
                        "an element at least, and sizes whose product can be computed with".into(),
                    )
                })?;
            }
        }
    }
    check.output(image(input.shape[0], input.shape[1], sizes), input.dtype)
}

fn attention(op: &ModuleOp<&TensorMeta>) -> Inferred {
    let ModuleOp::Attention {
        query,
        key,
        value,
        mask,
        bias,
        scores,
    } = op
    else {
        unreachable!("the caller matched it")
    };
    let operands = [
        ("query", Some(*query)),
        ("key", Some(*key)),
        ("value", Some(*value)),
        ("bias", *bias),
    ];
    let mut check = Check::floats(op.name(), &operands)?;
    if let Some(mask) = mask {
        OperationError::require(op.name(), BOOL, &[("mask", mask)])?;
        check.operands.push(("mask", mask));
    }
    if [query, key, value].iter().any(|meta| meta.rank() != 4) {
        return Err(check.error(
            "an operand has not four dims".into(),
            "[batch, heads, positions, features]".into(),
        ));
    }
    let (q, k, v) = (&query.shape, &key.shape, &value.shape);
    check.shape("key", Some(key), &[q[0], k[1], k[2], q[3]])?;
    check.shape("value", Some(value), &[q[0], k[1], k[2], v[3]])?;
    check.ensure(
        k[1] == q[1] || (k[1] > 0 && q[1].is_multiple_of(k[1])),
        || {
            (
                format!("{} heads of queries do not share {} of keys", q[1], k[1]),
                "a multiple of the heads of keys".into(),
            )
        },
    )?;
    let full = [q[0], q[1], q[2], k[2]];
    for (name, meta) in [("mask", mask), ("bias", bias)] {
        let Some(meta) = meta else { continue };
        let stretches = |(size, to): (&usize, &usize)| size == to || *size == 1;
        let fits = meta.rank() == 4 && meta.shape.iter().zip(&full).all(stretches);
        check.ensure(fits, || {
            (
                format!("`{name}` has shape {:?}", &meta.shape[..]),
                format!("sizes of {full:?}, or 1"),
            )
        })?;
    }
    float(&check, "scale", scores.scale)?;
    if let Some(cap) = scores.softcap {
        float(&check, "softcap", cap)?;
    }
    check.output([q[0], q[1], q[2], v[3]].into(), query.dtype)
}
