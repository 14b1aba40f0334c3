use super::*;
use crate::ops::testing::values;
use alloc::vec;

/// Sizes beyond a tile: batch, channels, outputs, groups, height, width, padding.
type Case = [usize; 7];

fn tensor(shape: [usize; 4], seed: u64) -> FlexTensor {
    let mut state = seed;
    let elems = (0..shape.iter().product()).map(|_| {
        // Knuth's generator: the upper half has the better bits.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    });
    FlexTensor::from_vec(shape, elems.collect::<Vec<f32>>())
}

/// Input, weight, output and windows of a 3×3 convolution.
fn parts(
    [batch, channels, out, groups, height, width, padding]: Case,
) -> (FlexTensor, FlexTensor, TensorMeta, [Window; 2]) {
    let window = Window {
        before: padding,
        after: padding,
        ..Window::new(3)
    };
    let size = |size: usize| size + 2 * padding - 2;
    let output = [batch, out, size(height), size(width)];
    (
        tensor([batch, channels, height, width], 1),
        tensor([out, channels / groups, 3, 3], 2),
        TensorMeta::new(output, DType::F32),
        [window; 2],
    )
}

/// The output in f64, and the sum of the magnitudes of its terms.
fn expected(case: Case, input: &FlexTensor, weight: &FlexTensor) -> Vec<(f64, f64)> {
    let [batch, channels, out, groups, height, width, padding] = case;
    let (x, w) = (values(input), values(weight));
    let (inner, outer) = (channels / groups, out / groups);
    let mut sums = Vec::new();
    for n in 0..batch {
        for o in 0..out {
            for row in 0..height + 2 * padding - 2 {
                for column in 0..width + 2 * padding - 2 {
                    let (mut sum, mut magnitude) = (0.0, 0.0);
                    for tap in 0..inner * 9 {
                        let (i, r, c) = (tap / 9, tap / 3 % 3, tap % 3);
                        let (y, x_at) = (row + r, column + c);
                        let inside = (padding..height + padding).contains(&y)
                            && (padding..width + padding).contains(&x_at);
                        if inside {
                            let channel = n * channels + o / outer * inner + i;
                            let at = (channel * height + y - padding) * width + x_at - padding;
                            let term = x[at] * w[o * inner * 9 + tap];
                            sum += term;
                            magnitude += term.abs();
                        }
                    }
                    sums.push((sum, magnitude));
                }
            }
        }
    }
    sums
}

#[test]
fn tiles_of_all_kinds_agree_with_the_definition() {
    for case in [
        // Several tiles an image, and several images a tile.
        [1, 5, 3, 1, 40, 41, 1],
        [5, 3, 2, 1, 5, 4, 0],
        // By transforms, whole and with parts of tiles, in groups, and more than a block.
        [2, 16, 16, 1, 16, 20, 1],
        [3, 17, 19, 1, 15, 13, 2],
        [9, 32, 32, 2, 9, 10, 1],
        [1, 64, 16, 1, 34, 33, 0],
    ] {
        let (input, weight, output, windows) = parts(case);
        let sums = expected(case, &input, &weight);
        let found = conv(input, weight, None, (&windows, case[3]), &output);
        let terms = (case[1] / case[3] * 9) as f64;
        for (at, (found, (sum, magnitude))) in values(&found).iter().zip(sums).enumerate() {
            // Higham 2002, equation 4.4.
            let bound = terms * magnitude * f64::from(f32::EPSILON) / 2.0;
            assert!((found - sum).abs() <= bound, "{case:?} {at}: {found} {sum}");
        }
    }
}

#[test]
fn transforms_are_used_where_they_pay_and_are_accurate() {
    let case = [4, 64, 64, 1, 28, 28, 1];
    let (input, weight, output, windows) = parts(case);
    let geometry = Geometry::new(input.shape(), &output.shape, &windows, 1);
    assert!(winograd::applies(&geometry));
    let sums = expected(case, &input, &weight);
    let found = values(&conv(input, weight, None, (&windows, 1), &output));
    let errors = found.iter().zip(&sums);
    let worst = errors.fold(0.0f64, |worst, (found, (sum, magnitude))| {
        worst.max((found - sum).abs() / magnitude)
    });
    // Direct sums in blocks are off by about one roundoff of the magnitude, these by some.
    assert!(worst < 24.0 * f64::from(f32::EPSILON) / 2.0, "{worst:e}");
}

#[test]
fn one_infinity_stays_where_it_is_seen() {
    let case = [2, 16, 16, 1, 16, 16, 1];
    let (input, weight, output, windows) = parts(case);
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
