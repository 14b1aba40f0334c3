//! Every way to convolve, its adjoints, and how accurate the transforms are.

use super::*;
use crate::ops::testing::values;
use alloc::vec;

/// Batch, channels in, channels out, groups; the spatial sizes; size, stride, padding and dilation of the windows.
type Case = ([usize; 4], [usize; 2], [[usize; 4]; 2]);

/// Windows of 3×3 with padding.
const fn plain(channels: [usize; 4], sizes: [usize; 2], padding: usize) -> Case {
    (channels, sizes, [[3, 1, padding, 1]; 2])
}

fn tensor(shape: [usize; 4], seed: u64, dtype: DType) -> FlexTensor {
    let mut state = seed;
    let elems = (0..shape.iter().product()).map(|_| {
        // Knuth's generator: the upper half has the better bits.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    });
    match dtype {
        DType::F32 => FlexTensor::from_vec(shape, elems.collect::<Vec<f32>>()),
        _ => FlexTensor::from_vec(shape, elems.map(f64::from).collect::<Vec<f64>>()),
    }
}

/// Input, weight, output and windows.
fn parts(case: Case, dtype: DType) -> (FlexTensor, FlexTensor, TensorMeta, [Window; 2]) {
    let ([batch, channels, out, groups], [height, width], windows) = case;
    let windows = windows.map(|[size, stride, padding, dilation]| Window {
        stride,
        before: padding,
        after: padding,
        dilation,
        ..Window::new(size)
    });
    let count = |dim: usize, size: usize| windows[dim].count(size, false).unwrap();
    let output = [batch, out, count(0, height), count(1, width)];
    let kernel = [out, channels / groups, windows[0].size, windows[1].size];
    (
        tensor([batch, channels, height, width], 1, dtype),
        tensor(kernel, 2, dtype),
        TensorMeta::new(output, dtype),
        windows,
    )
}

/// The output in f64, and the sum of the magnitudes of its terms.
fn expected(case: Case, input: &FlexTensor, weight: &FlexTensor) -> Vec<(f64, f64)> {
    let ([batch, channels, out, groups], [height, width], [down, across]) = case;
    let (x, w) = (values(input), values(weight));
    let (inner, outer) = (channels / groups, out / groups);
    let count = |[size, stride, padding, dilation]: [usize; 4], length: usize| {
        (length + 2 * padding - (size - 1) * dilation - 1) / stride + 1
    };
    let place = |at: usize, tap: usize, [_, stride, padding, dilation]: [usize; 4], length| {
        let place = (at * stride + tap * dilation).checked_sub(padding)?;
        (place < length).then_some(place)
    };
    let mut sums = Vec::new();
    for at in 0..batch * out * count(down, height) * count(across, width) {
        let (rest, column) = (at / count(across, width), at % count(across, width));
        let (rest, row) = (rest / count(down, height), rest % count(down, height));
        let (n, o) = (rest / out, rest % out);
        let (mut sum, mut magnitude) = (0.0, 0.0);
        for r in 0..down[0] {
            let Some(y) = place(row, r, down, height) else {
                continue;
            };
            for c in 0..across[0] {
                let Some(x_at) = place(column, c, across, width) else {
                    continue;
                };
                for i in 0..inner {
                    let channel = n * channels + o / outer * inner + i;
                    let tap = ((o * inner + i) * down[0] + r) * across[0] + c;
                    let term = x[(channel * height + y) * width + x_at] * w[tap];
                    sum += term;
                    magnitude += f64::abs(term);
                }
            }
        }
        sums.push((sum, magnitude));
    }
    sums
}

/// Sizes beyond a tile, for every way to compute.
const CASES: [Case; 13] = [
    // Several tiles an image, and several images a tile.
    plain([1, 5, 3, 1], [40, 41], 1),
    plain([5, 3, 2, 1], [5, 4], 0),
    ([2, 6, 4, 2], [33, 70], [[3, 2, 2, 1], [4, 1, 1, 2]]),
    ([3, 70, 65, 1], [9, 15], [[1, 1, 0, 1]; 2]),
    // By transforms, whole and with parts of tiles, in groups, and more than a block.
    plain([2, 16, 16, 1], [16, 20], 1),
    plain([3, 17, 19, 1], [15, 13], 2),
    plain([9, 32, 32, 2], [9, 10], 1),
    plain([2, 64, 16, 1], [22, 22], 0),
    // One channel a group, lines beyond the lanes, in every kind of step.
    plain([2, 3, 3, 3], [20, 70], 1),
    ([2, 3, 6, 3], [19, 71], [[3, 2, 1, 1]; 2]),
    ([1, 2, 2, 2], [11, 140], [[5, 1, 4, 2], [3, 3, 2, 1]]),
    ([1, 2, 4, 2], [8, 101], [[2, 3, 0, 1], [4, 2, 3, 3]]),
    ([2, 1, 2, 1], [40, 33], [[7, 1, 3, 1], [7, 1, 3, 1]]),
];

#[test]
fn every_way_to_compute_agrees_with_the_definition() {
    for case in CASES {
        let (input, weight, output, windows) = parts(case, DType::F32);
        let sums = expected(case, &input, &weight);
        let groups = case.0[3];
        let terms = (weight.len() / case.0[2]) as f64;
        let found = values(&conv(input, weight, None, (&windows, groups), &output));
        assert_eq!(found.len(), sums.len());
        for (at, (found, (sum, magnitude))) in found.iter().zip(sums).enumerate() {
            // Higham 2002, equation 4.4.
            let bound = terms * magnitude * f64::from(f32::EPSILON) / 2.0;
            assert!((found - sum).abs() <= bound, "{case:?} {at}: {found} {sum}");
        }
    }
}

#[test]
fn adjoints_are_adjoint() {
    let dot = |lhs: &FlexTensor, rhs: &FlexTensor| -> f64 {
        let pairs = values(lhs).into_iter().zip(values(rhs));
        pairs.map(|(x, y)| x * y).sum()
    };
    for case in CASES {
        let (input, weight, output, windows) = parts(case, DType::F64);
        let options = (&windows[..], case.0[3]);
        let shape: [usize; 4] = output.shape.to_vec().try_into().unwrap();
        let grad = tensor(shape, 3, DType::F64);
        let forward = conv(input.clone(), weight.clone(), None, options, &output);
        let of_input = TensorMeta::new(input.shape().clone(), DType::F64);
        let of_weight = TensorMeta::new(weight.shape().clone(), DType::F64);
        let back = conv_transpose(grad.clone(), weight.clone(), None, options, &of_input);
        let weights = conv_weight(input.clone(), grad.clone(), options, &of_weight);
        let expected = dot(&forward, &grad);
        for found in [dot(&back, &input), dot(&weights, &weight)] {
            // Sums of some 10⁵ products around 1, in f64.
            assert!(
                (found - expected).abs() < 1e-8,
                "{case:?}: {found} {expected}"
            );
        }
    }
}

/// The root of the mean square of errors relative to the magnitude of the terms, and the largest, in roundoffs of f32.
fn errors(found: &[f64], sums: &[(f64, f64)]) -> [f64; 2] {
    let mut errors = [0.0f64; 2];
    for (found, (sum, magnitude)) in found.iter().zip(sums) {
        let error = (found - sum).abs() / magnitude / (f64::from(f32::EPSILON) / 2.0);
        errors = [errors[0] + error * error, errors[1].max(error)];
    }
    [f64::sqrt(errors[0] / found.len() as f64), errors[1]]
}

#[test]
fn transforms_are_used_where_they_pay_and_err_little_more_than_direct_sums() {
    let case = plain([1, 64, 16, 1], [24, 24], 1);
    let (input, weight, output, windows) = parts(case, DType::F32);
    let geometry = Geometry::new(input.shape(), &output.shape, &windows, 1);
    assert!(winograd::applies(&geometry));
    let signs = values(&input);
    // Numbers of both signs, what an activation leaves, and numbers over many scales.
    for of in [|x: f32| x, |x: f32| x.max(0.0), |x: f32| x.powi(9)] {
        let elems = signs.iter().map(|x| of(*x as f32)).collect::<Vec<f32>>();
        let input = FlexTensor::from_vec([1, 64, 24, 24], elems);
        let sums = expected(case, &input, &weight);
        let found = conv(input.clone(), weight.clone(), None, (&windows, 1), &output);
        let [found, worst] = errors(&values(&found), &sums);
        // Few output channels go through columns.
        let elems: Vec<f32> = values(&weight).iter().map(|x| *x as f32).collect();
        let mut direct = Vec::new();
        for part in elems.chunks(8 * 64 * 9) {
            let weight = FlexTensor::from_vec([8, 64, 3, 3], part.to_vec());
            let output = TensorMeta::new([1, 8, 24, 24], DType::F32);
            let part = conv(input.clone(), weight, None, (&windows, 1), &output);
            direct.extend(values(&part));
        }
        let [direct, worst_direct] = errors(&direct, &sums);
        assert!(found < 5.0 * direct, "{found} {direct}");
        // A roundoff of f32 is 6e-8: 24 are 1.4e-6.
        assert!(
            worst < 24.0 && worst < 10.0 * worst_direct,
            "{worst} {worst_direct}"
        );
    }
}

#[test]
fn one_infinity_stays_where_it_is_seen() {
    let case = plain([2, 16, 16, 1], [16, 16], 1);
    let (input, weight, output, windows) = parts(case, DType::F32);
    let mut elems: Vec<f32> = values(&input).iter().map(|x| *x as f32).collect();
    elems[5 * 16 + 7] = f32::INFINITY;
    let input = FlexTensor::from_vec([2, 16, 16, 16], elems);
    let found = values(&conv(input, weight, None, (&windows, 1), &output));
    let spoiled = found.iter().filter(|x| !x.is_finite()).count();
    assert_eq!(spoiled, 9 * 16);
}

#[test]
fn transposed_convolution_of_steps_goes_through_columns() {
    let window = Window {
        stride: 2,
        ..Window::new(3)
    };
    let input = FlexTensor::from_vec([1, 1, 3], vec![1.0f32, 2.0, 3.0]);
    let weight = FlexTensor::from_vec([1, 1, 3], vec![1.0f32, 10.0, 100.0]);
    let output = TensorMeta::new([1, 1, 7], DType::F32);
    let found = conv_transpose(input, weight, None, (&[window], 1), &output);
    assert_eq!(values(&found), [1.0, 10.0, 102.0, 20.0, 203.0, 30.0, 300.0]);
}
