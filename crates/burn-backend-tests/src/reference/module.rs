//! What layers mean, one product at a time, in `f64`.

use super::flat;
use crate::array::{Array, Num, code, positions};
use crate::check::Expected;
use burn_ir::{Filter, ModuleOp, Scores, TensorMeta, Window};
use burn_std::quantization::BlockLayout;
use core::f64::consts::PI;

/// Sums with the number and the magnitude of their terms, which bound the error of any order of summation.
struct Sums {
    values: Vec<f64>,
    magnitudes: Vec<f64>,
    terms: Vec<f64>,
}

impl Sums {
    fn new(count: usize) -> Self {
        Self {
            values: vec![0.0; count],
            magnitudes: vec![0.0; count],
            terms: vec![0.0; count],
        }
    }

    fn add(&mut self, at: usize, term: f64) {
        self.values[at] += term;
        self.magnitudes[at] += term.abs();
        self.terms[at] += 1.0;
    }

    /// With `more` roundings of each term than those of its product and its sum.
    fn expected(self, meta: &TensorMeta, more: f64) -> Expected {
        let slack = self.magnitudes.iter().zip(&self.terms);
        Expected {
            slack: slack
                .map(|(sum, terms)| sum * (terms + 1.0 + more))
                .collect(),
            array: floats(meta, self.values),
        }
    }
}

fn floats(meta: &TensorMeta, values: Vec<f64>) -> Array {
    Array {
        shape: meta.shape.to_vec(),
        dtype: meta.dtype,
        data: values.into_iter().map(Num::Float).collect(),
    }
}

/// What a layer gives for its inputs.
pub fn module(op: &ModuleOp<usize>, inputs: &[Array], output: &TensorMeta) -> Expected {
    let count = output.shape.num_elements();
    let x = |at: usize, index: usize| inputs[at].data[index].float();
    match op {
        ModuleOp::Conv {
            input,
            weight,
            bias,
            windows,
            groups,
        } => {
            let mut sums = Sums::new(count);
            shift(&mut sums, bias.map(|at| &inputs[at]), output);
            meetings(
                &inputs[*input].shape,
                &output.shape,
                windows,
                *groups,
                &mut |i, o, w| {
                    sums.add(o, x(*input, i) * x(*weight, w));
                },
            );
            sums.expected(output, 0.0)
        }
        ModuleOp::ConvTranspose {
            input,
            weight,
            bias,
            windows,
            groups,
            ..
        } => {
            let mut sums = Sums::new(count);
            shift(&mut sums, bias.map(|at| &inputs[at]), output);
            meetings(
                &output.shape,
                &inputs[*input].shape,
                windows,
                *groups,
                &mut |i, o, w| {
                    sums.add(i, x(*input, o) * x(*weight, w));
                },
            );
            sums.expected(output, 0.0)
        }
        ModuleOp::ConvWeight {
            input,
            grad,
            windows,
            groups,
        } => {
            let mut sums = Sums::new(count);
            let (from, to) = (&inputs[*input].shape, &inputs[*grad].shape);
            meetings(from, to, windows, *groups, &mut |i, o, w| {
                sums.add(w, x(*input, i) * x(*grad, o));
            });
            sums.expected(output, 0.0)
        }
        ModuleOp::Unfold { input, windows } => {
            let mut columns = vec![0.0; count];
            columns_of(&inputs[*input].shape, windows, &mut |i, column| {
                columns[column] = x(*input, i);
            });
            Expected::exactly(floats(output, columns))
        }
        ModuleOp::Fold { input, windows, .. } => {
            let mut sums = Sums::new(count);
            columns_of(&output.shape, windows, &mut |i, column| {
                sums.add(i, x(*input, column));
            });
            sums.expected(output, 0.0)
        }
        ModuleOp::MaxPool { input, windows, .. } => {
            let values = largest(&inputs[*input], &output.shape, windows);
            let values = values.into_iter().map(|(_, value)| value).collect();
            Expected::exactly(floats(output, values))
        }
        ModuleOp::MaxPoolIndices { input, windows, .. } => {
            let found = largest(&inputs[*input], &output.shape, windows);
            let index = |(at, _): (usize, f64)| Num::Int(at as i128).stored_as(output.dtype);
            Expected::exactly(Array {
                shape: output.shape.to_vec(),
                dtype: output.dtype,
                data: found.into_iter().map(index).collect(),
            })
        }
        ModuleOp::Resample {
            input,
            filters,
            adjoint,
            ..
        } => resample(&inputs[*input], filters, *adjoint, output),
        ModuleOp::Attention {
            query,
            key,
            value,
            mask,
            bias,
            scores,
        } => {
            let operands = [query, key, value].map(|at| &inputs[*at]);
            let extra = [mask, bias].map(|at| at.map(|at| &inputs[at]));
            attention(operands, extra, *scores, output)
        }
        ModuleOp::LayerNorm {
            input,
            gamma,
            beta,
            epsilon,
        } => {
            let beta = beta.map(|at| &inputs[at]);
            layer_norm(
                &inputs[*input],
                &inputs[*gamma],
                beta,
                epsilon.elem(),
                output,
            )
        }
        ModuleOp::Quantize {
            input,
            scales,
            global,
            scheme,
        } => {
            let global = global.map_or(1.0, |at| x(at, 0));
            let layout = scheme
                .block_size()
                .map(|size| BlockLayout::new(&output.shape, &size));
            let value = |at: usize| {
                let block = layout.as_ref().map_or(0, |layout| layout.block_of(at));
                let scale = x(*scales, block) * global;
                code(x(*input, at) / scale, *scheme) * scale
            };
            Expected::exactly(floats(output, (0..count).map(value).collect()))
        }
        ModuleOp::Dequantize { input, .. } => {
            let values = (0..count).map(|at| x(*input, at));
            Expected::exactly(floats(output, values.collect()))
        }
        ModuleOp::QuantizedMatmul { lhs, rhs, .. } => {
            let (lhs, rhs) = (&inputs[*lhs], &inputs[*rhs]);
            let (_, data, magnitudes) = super::matmul(lhs, rhs);
            let terms = lhs.shape.last().copied().unwrap_or(0) as f64;
            Expected {
                array: floats(output, data.iter().map(|num| num.float()).collect()),
                slack: magnitudes.iter().map(|sum| sum * terms).collect(),
            }
        }
    }
}

/// Starts sums with the number of their channel.
fn shift(sums: &mut Sums, bias: Option<&Array>, output: &TensorMeta) {
    let Some(bias) = bias else { return };
    for (at, position) in positions(&output.shape).enumerate() {
        sums.add(at, bias.data[position[1]].float());
    }
}

/// Takes an output position, a place in its window and one in the input.
type Visit<'v> = &'v mut dyn FnMut(&[usize], &[usize], &[usize]);

/// Calls `visit` with the window of each output position: the position, and for each of its elements that is inside the
/// input, where that is in the window and in the input.
fn taps(sizes: &[usize], counts: &[usize], windows: &[Window], visit: Visit) {
    let kernel: Vec<usize> = windows.iter().map(|window| window.size).collect();
    for position in positions(counts) {
        for tap in positions(&kernel) {
            let at = |dim: usize| {
                let window = windows[dim];
                let at = position[dim] * window.stride + tap[dim] * window.dilation;
                at.checked_sub(window.before).filter(|at| *at < sizes[dim])
            };
            if let Some(inside) = (0..sizes.len()).map(at).collect::<Option<Vec<_>>>() {
                visit(&position, &tap, &inside);
            }
        }
    }
}

fn joined(front: &[usize], back: &[usize]) -> Vec<usize> {
    [front, back].concat()
}

/// Calls `visit` with the places of each input element, output element and weight that meet in a convolution.
fn meetings(
    input: &[usize],
    output: &[usize],
    windows: &[Window],
    groups: usize,
    visit: &mut dyn FnMut(usize, usize, usize),
) {
    let (channels, out) = (input[1] / groups, output[1] / groups);
    let kernel: Vec<usize> = windows.iter().map(|window| window.size).collect();
    let weight = joined(&[output[1], channels], &kernel);
    taps(
        &input[2..],
        &output[2..],
        windows,
        &mut |position, tap, inside| {
            for each in positions(&[input[0], groups, out, channels]) {
                let [n, group, o, i] = each[..] else {
                    unreachable!()
                };
                let channel = group * out + o;
                visit(
                    flat(input, &joined(&[n, group * channels + i], inside)),
                    flat(output, &joined(&[n, channel], position)),
                    flat(&weight, &joined(&[channel, i], tap)),
                );
            }
        },
    );
}

/// Calls `visit` with the places of each element in an image and in its columns.
fn columns_of(image: &[usize], windows: &[Window], visit: &mut dyn FnMut(usize, usize)) {
    let sizes = &image[2..];
    let counts: Vec<usize> = sizes
        .iter()
        .zip(windows)
        .map(|(size, window)| window.count(*size, false).expect("windows fit"))
        .collect();
    let kernel: Vec<usize> = windows.iter().map(|window| window.size).collect();
    let columns = joined(&joined(&image[..2], &kernel), &counts);
    taps(sizes, &counts, windows, &mut |position, tap, inside| {
        for front in positions(&image[..2]) {
            visit(
                flat(image, &joined(&front, inside)),
                flat(&columns, &joined(&joined(&front, tap), position)),
            );
        }
    });
}

/// The place in its channel and the value of the first largest of each window.
fn largest(input: &Array, output: &[usize], windows: &[Window]) -> Vec<(usize, f64)> {
    let mut best: Vec<Option<(usize, Num)>> = vec![None; output.iter().product()];
    taps(
        &input.shape[2..],
        &output[2..],
        windows,
        &mut |position, _, inside| {
            for front in positions(&output[..2]) {
                let best = &mut best[flat(output, &joined(&front, position))];
                let x = input.at(&joined(&front, inside));
                if best.is_none_or(|(_, max)| x.order(max).is_gt()) {
                    *best = Some((flat(&input.shape[2..], inside), x));
                }
            }
        },
    );
    best.into_iter()
        .map(|best| best.expect("windows hold more than padding"))
        .map(|(at, value)| (at, value.float()))
        .collect()
}

fn resample(input: &Array, filters: &[Filter], adjoint: bool, output: &TensorMeta) -> Expected {
    let mut sums = Sums::new(output.shape.num_elements());
    for to in positions(&output.shape) {
        for from in positions(&input.shape[2..]) {
            let weight = |dim: usize| {
                let (size, count) = (input.shape[dim + 2], output.shape[dim + 2]);
                match adjoint {
                    false => share(filters[dim], size, count, from[dim], to[dim + 2]),
                    true => share(filters[dim], count, size, to[dim + 2], from[dim]),
                }
            };
            let weight: f64 = (0..filters.len()).map(weight).product();
            if weight != 0.0 {
                let x = input.at(&joined(&to[..2], &from)).float();
                sums.add(flat(&output.shape, &to), weight * x);
            }
        }
    }
    // A weight, a product and a quotient in each dim.
    let mut expected = sums.expected(output, 4.0 * filters.len() as f64);
    // Weights of these are as wrong as the terms of their formulas, which cancel.
    let cancels = |filter: &Filter| matches!(filter, Filter::Cubic { .. } | Filter::Lanczos { .. });
    if filters.iter().any(cancels) {
        let most = input
            .data
            .iter()
            .fold(0.0f64, |most, x| most.max(x.float().abs()));
        expected
            .slack
            .iter_mut()
            .for_each(|slack| *slack += 64.0 * most);
    }
    expected
}

/// What element `from` of `size` counts in element `to` of `count`.
fn share(filter: Filter, size: usize, count: usize, from: usize, to: usize) -> f64 {
    let (n, m, i, j) = (size as f64, count as f64, to as f64, from as f64);
    let position = |align_corners: bool| match align_corners {
        true if count == 1 => 0.0,
        true => i * (n - 1.0) / (m - 1.0),
        false => (i + 0.5) * n / m - 0.5,
    };
    let equal = |position: f64| f64::from(u8::from(position == j));
    match filter {
        Filter::Mean {
            window,
            count_padding,
        } => {
            let taps = (0..window.size)
                .map(|tap| (to * window.stride + tap) as isize - window.before as isize);
            let inside = |at: &isize| (0..size as isize).contains(at);
            let padded = |at: &isize| *at < (size + window.after) as isize;
            let divisor = match count_padding {
                true => taps.clone().filter(padded).count(),
                false => taps.clone().filter(inside).count(),
            };
            taps.filter(|at| *at == from as isize).count() as f64 / divisor as f64
        }
        Filter::AdaptiveMean => {
            let (start, end) = ((i * n / m).floor(), ((i + 1.0) * n / m).ceil());
            f64::from(u8::from(start <= j && j < end)) / (end - start)
        }
        Filter::Nearest => equal((i * n / m).floor()),
        Filter::NearestExact => equal(((i + 0.5) * n / m).floor()),
        Filter::Linear { align_corners } => {
            let position = position(align_corners).clamp(0.0, n - 1.0);
            (1.0 - (position - j).abs()).max(0.0)
        }
        Filter::Cubic { align_corners } => {
            let position = position(align_corners);
            let taps = (-1..=2).map(|tap| position.floor() + f64::from(tap));
            let weight = |at: f64| equal(at.clamp(0.0, n - 1.0)) * cubic((position - at).abs());
            taps.map(weight).sum()
        }
        Filter::Lanczos { align_corners } => {
            let position = position(align_corners);
            let weight = |at: usize| lanczos(position - at as f64);
            weight(from) / (0..size).map(weight).sum::<f64>()
        }
    }
}

/// Keys 1981, equation 4, with `a = -0.75`, in expanded form.
fn cubic(x: f64) -> f64 {
    match x {
        x if x <= 1.0 => 1.25 * x.powi(3) - 2.25 * x.powi(2) + 1.0,
        x if x < 2.0 => -0.75 * (x.powi(3) - 5.0 * x.powi(2) + 8.0 * x - 4.0),
        _ => 0.0,
    }
}

fn lanczos(x: f64) -> f64 {
    match x {
        0.0 => 1.0,
        x if x.abs() >= 3.0 => 0.0,
        x => 3.0 * (PI * x).sin() * (PI * x / 3.0).sin() / (PI * x).powi(2),
    }
}

fn attention(
    [query, key, value]: [&Array; 3],
    [mask, bias]: [Option<&Array>; 2],
    options: Scores,
    output: &TensorMeta,
) -> Expected {
    let (queries, keys, features) = (query.shape[2], key.shape[2], query.shape[3]);
    let sharing = query.shape[1] / key.shape[1].max(1);
    let scale: f64 = options.scale.elem();
    let (mut values, mut slack) = (Vec::new(), Vec::new());
    for at in positions(&output.shape) {
        let (batch, head, i) = (at[0], at[1], at[2]);
        // How far off scores may be, in roundoffs, beside their values.
        let mut error = 0.0f64;
        let mut score = |j: usize| {
            let terms = (0..features).map(|f| {
                let k = key.at(&[batch, head / sharing, j, f]).float();
                query.data[flat(&query.shape, &[batch, head, i, f])].float() * k * scale
            });
            let (sum, magnitude): (f64, f64) = (terms.clone().sum(), terms.map(f64::abs).sum());
            let bent = options.softcap.map_or(sum, |cap| {
                let cap: f64 = cap.elem();
                (sum / cap).tanh() * cap
            });
            let bias = bias.map_or(0.0, |bias| bias.at(&[batch, head, i, j]).float());
            error = error.max((features as f64 + 8.0) * magnitude + 4.0 * bias.abs());
            let hidden = mask.is_some_and(|mask| mask.at(&[batch, head, i, j]) == Num::Bool(true));
            match hidden || (options.causal && j + queries > i + keys) {
                true => f64::NEG_INFINITY,
                false => bent + bias,
            }
        };
        let scores: Vec<f64> = (0..keys).map(&mut score).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = scores.iter().map(|score| match score.is_finite() {
            true => (score - most).exp(),
            false => 0.0,
        });
        let sum: f64 = weights.clone().sum();
        let terms = weights.enumerate().map(|(j, weight)| {
            let v = value.data[flat(&value.shape, &[batch, head / sharing, j, at[3]])].float();
            weight * v / if sum == 0.0 { 1.0 } else { sum }
        });
        let magnitude: f64 = terms.clone().map(f64::abs).sum();
        values.push(terms.sum());
        slack.push(magnitude * (2.0 * error + 2.0 * keys as f64 + 32.0));
    }
    Expected {
        array: floats(output, values),
        slack,
    }
}

fn layer_norm(
    input: &Array,
    gamma: &Array,
    beta: Option<&Array>,
    epsilon: f64,
    output: &TensorMeta,
) -> Expected {
    let len = gamma.data.len();
    let n = len as f64;
    let (mut values, mut slack) = (Vec::new(), Vec::new());
    for row in input.data.chunks(len.max(1)) {
        let row: Vec<f64> = row.iter().map(|x| x.float()).collect();
        let mean = row.iter().sum::<f64>() / n;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let deviation = (variance + epsilon).sqrt();
        let most = row.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        for (at, x) in row.iter().enumerate() {
            let scale = gamma.data[at].float();
            let shift = beta.map_or(0.0, |beta| beta.data[at].float());
            let normal = (x - mean) / deviation;
            values.push(normal * scale + shift);
            // The mean and each difference are off by roundoffs of the largest element, the rest by those of its own.
            let off =
                (n + 4.0) * most / deviation * (1.0 + normal.abs()) + (n + 8.0) * normal.abs();
            slack.push(off * scale.abs() + shift.abs());
        }
    }
    Expected {
        array: floats(output, values),
        slack,
    }
}
