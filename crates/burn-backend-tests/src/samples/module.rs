//! Layers.

use super::{FLOATS, NAN, NATIVE};
use crate::{Input, Sample};
use burn_ir::{Filter, ModuleOp, Operation, Scores, Window};
use burn_std::{IntDType, Scalar};

fn module(note: &str, shapes: &[&[usize]], op: ModuleOp<usize>) -> Sample {
    let inputs = shapes.iter().map(|shape| Input::new(*shape)).collect();
    Sample::new(note, FLOATS, inputs, move |_| {
        Operation::Module(Box::new(op.clone()))
    })
    .by_family()
}

/// Size, stride, padding before and after, dilation.
fn windows(list: &[[usize; 5]]) -> Box<[Window]> {
    list.iter()
        .map(|[size, stride, before, after, dilation]| Window {
            size: *size,
            stride: *stride,
            before: *before,
            after: *after,
            dilation: *dilation,
        })
        .collect()
}

/// A convolution and its adjoints.
fn convolutions(
    note: &str,
    [batch, channels, out, groups]: [usize; 4],
    sizes: &[usize],
    list: &[[usize; 5]],
    with_bias: bool,
) -> Vec<Sample> {
    let windows = windows(list);
    let counts: Vec<usize> = sizes
        .iter()
        .zip(&windows)
        .map(|(size, window)| {
            window
                .count(*size, false)
                .expect("the sample's windows fit")
        })
        .collect();
    let kernel: Vec<usize> = windows.iter().map(|window| window.size).collect();
    let shape = |front: [usize; 2], back: &[usize]| [&front[..], back].concat();
    let input = shape([batch, channels], sizes);
    let output = shape([batch, out], &counts);
    let weight = shape([out, channels / groups], &kernel);
    let conv = ModuleOp::Conv {
        input: 0,
        weight: 1,
        bias: with_bias.then_some(2),
        windows: windows.clone(),
        groups,
    };
    let transpose = ModuleOp::ConvTranspose {
        input: 0,
        weight: 1,
        bias: with_bias.then_some(2),
        windows: windows.clone(),
        sizes: sizes.into(),
        groups,
    };
    let of_weight = ModuleOp::ConvWeight {
        input: 0,
        grad: 1,
        windows,
        groups,
    };
    let with = |shapes: &[Vec<usize>; 3], op| {
        let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        module(note, &shapes[..2 + usize::from(with_bias)], op).smooth()
    };
    let bias = |channels: usize| vec![channels];
    vec![
        with(&[input.clone(), weight.clone(), bias(out)], conv),
        with(&[output.clone(), weight, bias(channels)], transpose),
        module(note, &[&input, &output], of_weight).smooth(),
    ]
}

fn columns() -> Vec<Sample> {
    let fold = |note, shape: &[usize], sizes: &[usize], list: &[[usize; 5]]| {
        let op = ModuleOp::Fold {
            input: 0,
            windows: windows(list),
            sizes: sizes.into(),
        };
        module(note, &[shape], op).smooth()
    };
    let unfold = |note, shape: &[usize], list: &[[usize; 5]]| {
        let op = ModuleOp::Unfold {
            input: 0,
            windows: windows(list),
        };
        module(note, &[shape], op).edges([NAN, -0.0]).smooth()
    };
    vec![
        unfold("of a line", &[2, 2, 5], &[[3, 2, 1, 1, 1]]),
        unfold(
            "of an image",
            &[2, 3, 4, 5],
            &[[2, 1, 0, 1, 1], [2, 2, 1, 0, 2]],
        ),
        unfold(
            "of a volume",
            &[1, 2, 3, 2, 3],
            &[[2, 1, 0, 0, 1], [1, 1, 0, 0, 1], [3, 3, 2, 2, 1]],
        ),
        fold("to a line", &[2, 6, 3], &[5], &[[3, 2, 1, 1, 1]]),
        fold(
            "to an image",
            &[2, 8, 8],
            &[4, 5],
            &[[2, 1, 0, 1, 1], [2, 2, 1, 0, 2]],
        ),
    ]
}

fn pools() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (note, shape, list, ceil) in [
        ("of a line", &[2, 3, 7][..], &[[3, 2, 1, 1, 1]][..], false),
        (
            "of an image",
            &[2, 2, 4, 5],
            &[[2, 2, 0, 0, 1], [3, 1, 1, 2, 1]],
            false,
        ),
        (
            "with dilation",
            &[1, 2, 4, 7],
            &[[2, 1, 1, 0, 2], [2, 2, 1, 1, 3]],
            false,
        ),
        (
            "with a cut window",
            &[1, 2, 5, 4],
            &[[2, 2, 0, 0, 1], [3, 2, 1, 1, 1]],
            true,
        ),
        (
            "of a volume",
            &[1, 2, 3, 3, 4],
            &[[2, 1, 0, 0, 1], [1, 1, 0, 0, 1], [2, 2, 0, 0, 1]],
            false,
        ),
    ] {
        let max = ModuleOp::MaxPool {
            input: 0,
            windows: windows(list),
            ceil,
        };
        samples.push(module(note, &[shape], max).edges([1.0, 1.0, NAN]).kinked());
        for dtype in [IntDType::I64, IntDType::I32] {
            let indices = ModuleOp::MaxPoolIndices {
                input: 0,
                windows: windows(list),
                ceil,
                dtype,
            };
            samples.push(module(note, &[shape], indices).edges([1.0, 1.0, NAN]));
        }
    }
    samples
}

fn mean([size, stride, before, after]: [usize; 4], count_padding: bool) -> Filter {
    Filter::Mean {
        window: windows(&[[size, stride, before, after, 1]])[0],
        count_padding,
    }
}

fn resampling() -> Vec<Sample> {
    let mut samples = Vec::new();
    let corners = |align_corners| {
        [
            Filter::Linear { align_corners },
            Filter::Cubic { align_corners },
            Filter::Lanczos { align_corners },
        ]
    };
    let mut images = vec![
        (
            vec![4, 6],
            vec![2, 3],
            vec![mean([2, 2, 0, 0], true), mean([2, 2, 0, 0], true)],
        ),
        (
            vec![5, 4],
            vec![3, 4],
            vec![mean([3, 2, 1, 1], true), mean([2, 1, 1, 0], true)],
        ),
        (
            vec![5, 4],
            vec![3, 4],
            vec![mean([3, 2, 1, 1], false), mean([2, 1, 1, 0], false)],
        ),
        // Windows that are cut off at the end.
        (vec![6], vec![4], vec![mean([3, 2, 1, 1], true)]),
        (vec![6], vec![4], vec![mean([3, 2, 1, 1], false)]),
        (vec![5, 3], vec![3, 4], vec![Filter::AdaptiveMean; 2]),
        (vec![2, 3, 4], vec![1, 2, 3], vec![Filter::AdaptiveMean; 3]),
        (vec![3, 5], vec![7, 2], vec![Filter::Nearest; 2]),
        (vec![3, 5], vec![7, 2], vec![Filter::NearestExact; 2]),
    ];
    for filter in corners(true).into_iter().chain(corners(false)) {
        images.push((vec![3, 5], vec![7, 3], vec![filter; 2]));
        images.push((vec![2, 4], vec![1, 8], vec![filter; 2]));
    }
    for (from, to, filters) in images {
        for adjoint in [false, true] {
            let (from, to) = if adjoint { (&to, &from) } else { (&from, &to) };
            let op = ModuleOp::Resample {
                input: 0,
                filters: filters.clone().into(),
                sizes: to.iter().copied().collect(),
                adjoint,
            };
            let note = if adjoint { "backwards" } else { "" };
            let shape = [&[2, 2][..], from].concat();
            // Halves between two elements may round either way.
            samples.push(module(note, &[&shape], op).ulps(1.0).smooth());
        }
    }
    samples
}

fn scores(scale: f64, softcap: Option<f64>, causal: bool) -> Scores {
    Scores {
        scale: Scalar::Float(scale),
        softcap: softcap.map(Scalar::Float),
        causal,
    }
}

fn attending(
    note: &str,
    shapes: &[&[usize]],
    mask: Option<usize>,
    bias: Option<usize>,
    scores: Scores,
) -> Sample {
    let op = ModuleOp::Attention {
        query: 0,
        key: 1,
        value: 2,
        mask,
        bias,
        scores,
    };
    let mut sample = module(note, shapes, op).smooth();
    if let Some(mask) = mask {
        sample.inputs[mask].dtype = Some(NATIVE);
    }
    sample
}

fn attention() -> Vec<Sample> {
    let (q, k, v) = (&[2, 2, 3, 4][..], &[2, 2, 4, 4][..], &[2, 2, 4, 3][..]);
    vec![
        attending("", &[q, k, v], None, None, scores(0.5, None, false)),
        attending(
            "that is causal",
            &[q, k, v],
            None,
            None,
            scores(0.5, None, true),
        ),
        attending(
            "of queries that see nothing",
            &[&[1, 1, 4, 2], &[1, 1, 2, 2], &[1, 1, 2, 2]],
            None,
            None,
            scores(0.7, None, true),
        ),
        attending(
            "with a mask",
            &[q, k, v, &[2, 1, 3, 4]],
            Some(3),
            None,
            scores(0.5, None, false),
        ),
        attending(
            "with a bias",
            &[q, k, v, &[1, 2, 1, 4]],
            None,
            Some(3),
            scores(0.5, Some(1.5), false),
        ),
        attending(
            "with all",
            &[q, k, v, &[2, 1, 1, 4], &[1, 2, 3, 4]],
            Some(3),
            Some(4),
            scores(0.25, Some(3.0), true),
        ),
        attending(
            "of heads that share keys",
            &[&[1, 4, 2, 3], &[1, 2, 3, 3], &[1, 2, 3, 2]],
            None,
            None,
            scores(0.6, None, false),
        ),
        attending(
            "beyond a block",
            &[&[1, 1, 65, 2], &[1, 1, 260, 2], &[1, 1, 260, 1]],
            None,
            None,
            scores(0.6, None, true),
        ),
    ]
}

fn norms() -> Vec<Sample> {
    let sample = |note, shapes: &[&[usize]], beta: Option<usize>| {
        let op = ModuleOp::LayerNorm {
            input: 0,
            gamma: 1,
            beta,
            epsilon: Scalar::Float(1e-3),
        };
        module(note, shapes, op).smooth()
    };
    vec![
        sample("", &[&[3, 2, 17], &[17], &[17]], Some(2)),
        sample("without a shift", &[&[4, 5], &[5]], None),
        sample("of one row", &[&[40], &[40], &[40]], Some(2)),
    ]
}

fn all_convolutions() -> Vec<Sample> {
    [
        convolutions("of a line", [2, 3, 4, 1], &[6], &[[3, 1, 1, 1, 1]], true),
        // More lines than channels: a batch of none is legal for the transposed one, too.
        convolutions("of lines", [5, 2, 3, 1], &[4], &[[2, 1, 0, 0, 1]], true),
        convolutions(
            "of an image",
            [2, 3, 2, 1],
            &[4, 5],
            &[[3, 1, 1, 1, 1], [2, 1, 0, 1, 1]],
            true,
        ),
        convolutions(
            "with steps",
            [1, 2, 3, 1],
            &[5, 6],
            &[[3, 2, 0, 1, 1], [2, 3, 1, 0, 1]],
            false,
        ),
        convolutions(
            "with dilation",
            [1, 2, 2, 1],
            &[5, 6],
            &[[2, 1, 1, 0, 3], [2, 2, 1, 1, 2]],
            false,
        ),
        convolutions(
            "of a volume",
            [1, 2, 3, 1],
            &[3, 2, 3],
            &[[2, 1, 0, 0, 1], [2, 1, 1, 0, 1], [2, 2, 0, 1, 1]],
            true,
        ),
        convolutions(
            "of points",
            [2, 3, 4, 1],
            &[3, 2],
            &[[1, 1, 0, 0, 1], [1, 1, 0, 0, 1]],
            true,
        ),
    ]
    .concat()
}

fn grouped_convolutions() -> Vec<Sample> {
    [
        convolutions(
            "in groups",
            [2, 4, 6, 2],
            &[3, 4],
            &[[2, 1, 0, 0, 1], [3, 1, 1, 1, 1]],
            true,
        ),
        convolutions(
            "of single channels",
            [2, 3, 6, 3],
            &[4, 5],
            &[[3, 1, 1, 1, 1], [3, 2, 1, 1, 1]],
            true,
        ),
        convolutions(
            "of single channels with dilation",
            [1, 2, 2, 2],
            &[5, 6],
            &[[2, 2, 1, 0, 3], [2, 1, 1, 1, 2]],
            false,
        ),
    ]
    .concat()
}

pub(super) fn samples() -> Vec<Sample> {
    [
        all_convolutions(),
        grouped_convolutions(),
        columns(),
        pools(),
        resampling(),
        attention(),
        norms(),
    ]
    .concat()
}
