//! Gradients of layers that are compositions, against finite differences in f64. Those of single instructions are checked
//! with the instructions.

use super::ad;
use burn_tensor::module::*;
use burn_tensor::ops::*;
use burn_tensor::{Bool, DType, Int, Tensor, TensorData};

/// The step of central differences, where truncation (`h²`) and rounding (`ε/h`) balance (Press and others 2007, 5.7).
const STEP: f64 = 6e-6;

/// What gradients may be off, relative to 1 or to their size: a thousand times the error at [`STEP`].
const TOLERANCE: f64 = 1e-7;

/// Numbers from -1 to 1, no two of them equal: multiples of the golden section, without their whole part.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    let place = |at: usize| ((at + 100 * seed + 1) as f64 * 0.618_033_988_749_894_9).fract();
    (0..count).map(|at| 2.0 * place(at) - 1.0).collect()
}

fn line(numbers: Vec<f64>) -> Tensor<1> {
    let shape = [numbers.len()];
    Tensor::from_data(TensorData::new(numbers, shape), (&ad(), DType::F64))
}

pub(super) fn flat<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let count = tensor.shape().num_elements();
    tensor.reshape([count])
}

fn values(tensor: Tensor<1>) -> Vec<f64> {
    tensor
        .into_data()
        .to_vec::<f64>()
        .expect("the numbers are f64")
}

/// Checks the gradients of `layer` for all its inputs, which have these many elements.
#[track_caller]
fn slopes_agree(name: &str, counts: &[usize], layer: Layer<'_>) {
    derivatives_agree(name, counts, 1, layer);
}

/// A function of some lines.
pub(super) type Layer<'f> = &'f dyn Fn(&[Tensor<1>]) -> Tensor<1>;

/// The derivative of the weighted output, `order` times in one direction, on the tape of `leaves`.
fn along(leaves: &[Tensor<1>], order: usize, layer: Layer<'_>) -> Tensor<1> {
    let output = layer(leaves);
    let weights = line(numbers(output.dims()[0], 7));
    let mut value = (output * weights).sum();
    for _ in 0..order {
        let gradients = value.backward_create_graph();
        let parts = leaves.iter().enumerate().filter_map(|(at, leaf)| {
            let direction = line(numbers(leaf.dims()[0], 30 + at));
            Some((leaf.grad(&gradients)? * direction).sum())
        });
        value = parts
            .reduce(|sum, part| sum + part)
            .expect("the output depends on an input");
    }
    value
}

/// Checks derivatives of this order of `layer` for all its inputs, which have these many elements.
#[track_caller]
pub(super) fn derivatives_agree(name: &str, counts: &[usize], order: usize, layer: Layer<'_>) {
    let inputs: Vec<Vec<f64>> = counts
        .iter()
        .enumerate()
        .map(|(seed, count)| numbers(*count, seed))
        .collect();
    let leaves = |inputs: &[Vec<f64>]| -> Vec<Tensor<1>> {
        let leaf = |input: &Vec<f64>| line(input.clone()).require_grad();
        inputs.iter().map(leaf).collect()
    };
    let here = leaves(&inputs);
    let value = along(&here, order - 1, layer);
    // What is linear has derivatives that depend on nothing.
    let gradients = value.is_tracked().then(|| value.backward());
    for (input, leaf) in here.iter().enumerate() {
        let found = match gradients.as_ref().and_then(|all| leaf.grad(all)) {
            Some(gradient) => values(gradient),
            None => vec![0.0; counts[input]],
        };
        for (at, found) in found.into_iter().enumerate() {
            let moved = |step: f64| {
                let mut inputs = inputs.clone();
                inputs[input][at] += step;
                values(along(&leaves(&inputs), order - 1, layer))[0]
            };
            let slope = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            let allowed = TOLERANCE * slope.abs().max(1.0);
            assert!(
                (found - slope).abs() <= allowed,
                "{name}, order {order}, element {at} of input {input}: {found} for {slope}"
            );
        }
    }
}

#[test]
fn images_of_another_size_pass_gradients_back() {
    for mode in [
        InterpolateMode::Nearest,
        InterpolateMode::NearestExact,
        InterpolateMode::Bilinear,
        InterpolateMode::Bicubic,
        InterpolateMode::Lanczos3,
    ] {
        for align_corners in [false, true] {
            for size in [[5, 2], [2, 7]] {
                slopes_agree(&format!("{mode:?} {align_corners}"), &[24], &|inputs| {
                    let options = InterpolateOptions::new(mode)
                        .with_output_size(size)
                        .with_align_corners(align_corners);
                    flat(interpolate(
                        inputs[0].clone().reshape([1, 2, 3, 4]),
                        options,
                    ))
                });
            }
        }
    }
}

#[test]
fn pools_pass_gradients_back() {
    slopes_agree("adaptive 1", &[14], &|inputs| {
        flat(adaptive_avg_pool1d(inputs[0].clone().reshape([1, 2, 7]), 3))
    });
    slopes_agree("adaptive 2", &[40], &|inputs| {
        let image = inputs[0].clone().reshape([1, 2, 5, 4]);
        flat(adaptive_avg_pool2d(image, [2, 6]))
    });
    slopes_agree("adaptive 3", &[60], &|inputs| {
        let volume = inputs[0].clone().reshape([1, 1, 3, 5, 4]);
        flat(adaptive_avg_pool3d(volume, [2, 3, 3]))
    });
    for counts in [false, true] {
        slopes_agree("mean", &[30], &|inputs| {
            let options = AvgPoolOptions::new([3, 2])
                .with_stride([2, 2])
                .with_padding([1, 1])
                .with_ceil_mode(true)
                .with_count_include_pad(counts);
            flat(avg_pool2d(inputs[0].clone().reshape([1, 1, 6, 5]), options))
        });
    }
    slopes_agree("max", &[30], &|inputs| {
        let options = MaxPoolOptions::new([3, 2])
            .with_stride([2, 1])
            .with_padding([1, 0])
            .with_dilation([1, 2]);
        flat(max_pool2d(inputs[0].clone().reshape([1, 1, 6, 5]), options))
    });
}

#[test]
fn a_grid_passes_gradients_to_the_image_and_to_itself() {
    use GridSamplePaddingMode::{Border, Reflection, Zeros};
    for mode in [
        InterpolateMode::Nearest,
        InterpolateMode::Bilinear,
        InterpolateMode::Bicubic,
    ] {
        for padding in [Zeros, Border, Reflection] {
            for align_corners in [false, true] {
                let name = format!("{mode:?} {padding:?} {align_corners}");
                slopes_agree(&name, &[48, 24], &|inputs| {
                    let options = GridSampleOptions::new(mode)
                        .with_padding_mode(padding)
                        .with_align_corners(align_corners);
                    // Some positions are outside.
                    let grid = inputs[1].clone().mul_scalar(1.6);
                    let image: Tensor<4> = inputs[0].clone().reshape([2, 2, 3, 4]);
                    flat(image.grid_sample_2d(grid.reshape([2, 2, 3, 2]), options))
                });
            }
        }
    }
}

#[test]
fn a_deformed_convolution_passes_gradients_to_all_operands() {
    // Two groups of offsets and of weights, windows of 2×2 that are 2×3 places apart.
    let layer = |inputs: &[Tensor<1>]| {
        let options = DeformConvOptions::new([2, 1], [1, 0], [1, 2], 2, 2);
        flat(deform_conv2d(
            inputs[0].clone().reshape([1, 4, 3, 5]),
            inputs[1].clone().mul_scalar(1.5).reshape([1, 16, 2, 3]),
            inputs[2].clone().reshape([2, 2, 2, 2]),
            Some(inputs[3].clone().reshape([1, 8, 2, 3])),
            Some(inputs[4].clone()),
            options,
        ))
    };
    slopes_agree("deformed", &[60, 96, 16, 48, 2], &layer);
}

#[test]
fn attention_passes_gradients_to_all_operands() {
    for (softcap, is_causal) in [(None, false), (Some(1.5), true)] {
        for fallback in [false, true] {
            let name = format!("{softcap:?} {is_causal} {fallback}");
            slopes_agree(&name, &[24, 16, 24, 24], &|inputs| {
                let mask = [
                    [[[false, true, false, false]]],
                    [[[false, false, false, true]]],
                ];
                let mask = Tensor::<4, Bool>::from_data(mask, &ad());
                let options = AttentionModuleOptions {
                    is_causal,
                    softcap,
                    ..Default::default()
                };
                let run = if fallback {
                    attention_fallback
                } else {
                    attention
                };
                flat(run(
                    inputs[0].clone().reshape([2, 2, 3, 2]),
                    inputs[1].clone().reshape([2, 1, 4, 2]),
                    inputs[2].clone().reshape([2, 1, 4, 3]),
                    Some(mask),
                    Some(inputs[3].clone().reshape([1, 2, 3, 4])),
                    options,
                ))
            });
        }
    }
}

#[test]
fn normalizations_and_tables_pass_gradients_back() {
    slopes_agree("layer", &[12, 4, 4], &|inputs| {
        let [x, gamma, beta] = [0, 1, 2].map(|at| inputs[at].clone());
        flat(layer_norm(x.reshape([3, 4]), gamma, Some(beta), 1e-3))
    });
    slopes_agree("batch", &[24, 3, 3], &|inputs| {
        let [x, gamma, beta] = [0, 1, 2].map(|at| inputs[at].clone());
        flat(batch_norm_train(x.reshape([2, 3, 4]), gamma, beta, 1e-3).output)
    });
    slopes_agree("linear", &[12, 8, 2], &|inputs| {
        let [x, weight, bias] = [0, 1, 2].map(|at| inputs[at].clone());
        let x: Tensor<3> = x.reshape([1, 3, 4]);
        flat(linear(x, weight.reshape([4, 2]), Some(bias)))
    });
    slopes_agree("embedding", &[12], &|inputs| {
        let indices = Tensor::<2, Int>::from_data([[2, 0, 2], [3, 3, 2]], &ad());
        flat(embedding(inputs[0].clone().reshape([4, 3]), indices))
    });
}

#[test]
fn the_loss_of_a_spelling_passes_gradients_back() {
    slopes_agree("spelling", &[24], &|inputs| {
        let scores: Tensor<3> = inputs[0].clone().reshape([4, 2, 3]);
        let targets = Tensor::<2, Int>::from_data([[1, 2], [1, 1]], &ad());
        let lengths = |a: i64, b: i64| Tensor::<1, Int>::from_data([a, b], &ad());
        let likely = burn_tensor::activation::log_softmax(scores, 2);
        ctc_loss(likely, targets, lengths(3, 4), lengths(1, 2), 0)
    });
}
