//! Layers compared to PyTorch: outputs, and gradients of inputs and parameters.

#![cfg(all(feature = "flex", feature = "autodiff"))]

mod fixture;

use burn_core::module::{Param, RunningState};
use burn_core::tensor::Tensor;
use burn_nn::conv::*;
use burn_nn::interpolate::*;
use burn_nn::pool::*;
use burn_nn::*;
use fixture::{Case, each};

#[test]
fn dense_layers_agree_with_pytorch() {
    each(include_str!("fixtures/layers/dense.json"), |case| {
        let device = &case.device;
        match case.name {
            "linear" => {
                let mut layer = LinearConfig::new(3, 4).init(device);
                layer.weight = case.param("weight");
                layer.bias = Some(case.param("bias"));
                case.check(layer.forward(case.input::<3>("x")));
            }
            "linear without bias" => {
                let mut layer = LinearConfig::new(3, 2).with_bias(false).init(device);
                layer.weight = case.param("weight");
                case.check(layer.forward(case.input::<1>("x")));
            }
            "embedding" => {
                let mut layer = EmbeddingConfig::new(5, 3).init(device);
                layer.weight = case.param("weight");
                case.check(layer.forward(case.ints("x")));
            }
            "cosine similarity of rows" => {
                let layer = CosineSimilarityConfig::new().init();
                case.check(layer.forward(case.input("x"), case.input("y")));
            }
            "cosine similarity of columns" => {
                let layer = CosineSimilarityConfig::new().with_dim(0).init();
                case.check(layer.forward(case.input("x"), case.input("y")));
            }
            name => {
                let power = name.strip_prefix("pairwise distance ");
                let power = power.and_then(|power| power.parse().ok());
                let power = power.unwrap_or_else(|| panic!("an unknown case: {name}"));
                let layer = PairwiseDistanceConfig::new().with_p(power).init();
                case.check(layer.forward(case.input("x"), case.input("y")));
            }
        }
    });
}

#[test]
fn convolutions_agree_with_pytorch() {
    macro_rules! run {
        ($case:ident, $config:expr) => {{
            let mut layer = $config.init(&$case.device);
            layer.weight = $case.param("weight");
            layer.bias = layer.bias.map(|_| $case.param("bias"));
            $case.check(layer.forward($case.input("x")));
        }};
    }
    each(
        include_str!("fixtures/layers/conv.json"),
        |case| match case.name {
            "conv1d" => run!(
                case,
                Conv1dConfig::new(2, 3, 3)
                    .with_stride(2)
                    .with_padding(PaddingConfig1d::Explicit(1, 1))
                    .with_dilation(2)
            ),
            "conv1d depthwise" => run!(case, Conv1dConfig::new(3, 3, 2).with_groups(3)),
            "conv2d" => run!(
                case,
                Conv2dConfig::new([4, 4], [3, 2])
                    .with_stride([2, 1])
                    .with_padding(PaddingConfig2d::Explicit(1, 0, 1, 0))
                    .with_dilation([1, 2])
                    .with_groups(2)
            ),
            "conv2d same" => run!(
                case,
                Conv2dConfig::new([2, 2], [3, 2]).with_padding(PaddingConfig2d::Same)
            ),
            "conv2d explicit" => run!(
                case,
                Conv2dConfig::new([2, 2], [2, 3])
                    .with_padding(PaddingConfig2d::Explicit(1, 2, 0, 1))
                    .with_bias(false)
            ),
            "conv3d" => run!(
                case,
                Conv3dConfig::new([2, 2], [2, 2, 2])
                    .with_stride([1, 2, 1])
                    .with_padding(PaddingConfig3d::Explicit(1, 0, 1))
            ),
            "conv_transpose1d" => run!(
                case,
                ConvTranspose1dConfig::new([2, 3], 3)
                    .with_stride(2)
                    .with_padding(1)
                    .with_padding_out(1)
                    .with_dilation(2)
            ),
            "conv_transpose2d" => run!(
                case,
                ConvTranspose2dConfig::new([4, 4], [3, 2])
                    .with_stride([2, 1])
                    .with_padding([1, 0])
                    .with_padding_out([1, 0])
                    .with_dilation([1, 2])
                    .with_groups(2)
            ),
            "conv_transpose3d" => run!(
                case,
                ConvTranspose3dConfig::new([2, 1], [2, 3, 2])
                    .with_stride([1, 2, 1])
                    .with_padding([0, 1, 1])
            ),
            "deform_conv2d" => {
                let mut layer = DeformConv2dConfig::new([4, 2], [2, 2])
                    .with_stride([1, 2])
                    .with_padding(PaddingConfig2d::Explicit(0, 1, 0, 1))
                    .with_weight_groups(2)
                    .with_offset_groups(2)
                    .init(&case.device);
                layer.weight = case.param("weight");
                layer.bias = Some(case.param("bias"));
                let mask = case.input("mask");
                case.check(layer.forward(case.input("x"), case.input("offset"), Some(mask)));
            }
            name => panic!("an unknown case: {name}"),
        },
    );
}

#[test]
fn pools_agree_with_pytorch() {
    let even = PaddingConfig2d::Explicit(1, 1, 1, 1);
    each(
        include_str!("fixtures/layers/pool.json"),
        |case| match case.name {
            "max_pool1d" => {
                let layer = MaxPool1dConfig::new(3)
                    .with_stride(2)
                    .with_padding(PaddingConfig1d::Explicit(1, 1))
                    .with_dilation(2);
                case.check(layer.init().forward(case.input("x")));
            }
            "max_pool1d ceil" => {
                let layer = MaxPool1dConfig::new(2).with_ceil_mode(true);
                case.check(layer.init().forward(case.input("x")));
            }
            "max_pool2d" => {
                let layer = MaxPool2dConfig::new([3, 2])
                    .with_strides([2, 1])
                    .with_padding(even)
                    .with_dilation([1, 2]);
                case.check(layer.init().forward(case.input("x")));
            }
            "max_pool2d ceil" => {
                let layer = MaxPool2dConfig::new([2, 3])
                    .with_strides([2, 2])
                    .with_ceil_mode(true);
                case.check(layer.init().forward(case.input("x")));
            }
            "avg_pool1d" | "avg_pool1d ceil" => {
                let layer = AvgPool1dConfig::new(3)
                    .with_stride(2)
                    .with_padding(PaddingConfig1d::Explicit(1, 1))
                    .with_ceil_mode(case.name.ends_with("ceil"));
                case.check(layer.init().forward(case.input("x")));
            }
            "avg_pool2d" => {
                let layer = AvgPool2dConfig::new([2, 3])
                    .with_strides([2, 1])
                    .with_padding(even);
                case.check(layer.init().forward(case.input("x")));
            }
            "avg_pool2d without padding" => {
                let layer = AvgPool2dConfig::new([2, 3])
                    .with_strides([2, 2])
                    .with_padding(even)
                    .with_ceil_mode(true)
                    .with_count_include_pad(false);
                case.check(layer.init().forward(case.input("x")));
            }
            "adaptive_avg_pool1d" => {
                let layer = AdaptiveAvgPool1dConfig::new(3).init();
                case.check(layer.forward(case.input("x")));
            }
            "adaptive_avg_pool2d" => {
                let layer = AdaptiveAvgPool2dConfig::new([3, 2]).init();
                case.check(layer.forward(case.input("x")));
            }
            "adaptive_avg_pool3d" => {
                let layer = AdaptiveAvgPool3dConfig::new([2, 2, 3]).init();
                case.check(layer.forward(case.input("x")));
            }
            name => panic!("an unknown case: {name}"),
        },
    );
}

fn batch_norm<const D: usize>(case: &Case) {
    let training = case.name.ends_with("in training");
    let input = case.input::<D>("x");
    let mut layer = BatchNormConfig::new(input.dims()[1])
        .with_momentum(0.3)
        .with_epsilon(1e-3)
        .init(&case.device);
    layer.gamma = case.param("gamma");
    layer.beta = case.param("beta");
    let state = |key: &str| RunningState::new(Tensor::from_inner(case.state(key)));
    layer.running_mean = state("mean");
    layer.running_var = state("var");
    if !training {
        layer.training = Param::from_bool(false);
    }
    let output = layer.forward(input);
    case.also("running_mean", layer.running_mean.value());
    case.also("running_var", layer.running_var.value());
    case.check(output);
}

#[test]
fn normalizations_agree_with_pytorch() {
    macro_rules! run {
        ($case:ident, $config:expr, $rank:literal) => {{
            let mut layer = $config.init(&$case.device);
            layer.gamma = $case.param("gamma").into();
            layer.beta = Some($case.param("beta"));
            $case.check(layer.forward($case.input::<$rank>("x")));
        }};
    }
    each(
        include_str!("fixtures/layers/norm.json"),
        |case| match case.name {
            name if name.starts_with("batch_norm of rows") => batch_norm::<2>(case),
            name if name.starts_with("batch_norm of lines") => batch_norm::<3>(case),
            name if name.starts_with("batch_norm of images") => batch_norm::<4>(case),
            "layer_norm" => run!(case, LayerNormConfig::new(5).with_epsilon(1e-3), 3),
            "layer_norm without bias" => {
                let config = LayerNormConfig::new(17).with_bias(false);
                let mut layer = config.init(&case.device);
                layer.gamma = case.param("gamma");
                case.check(layer.forward(case.input::<2>("x")));
            }
            "group_norm" => run!(case, GroupNormConfig::new(2, 4).with_epsilon(1e-3), 3),
            "group_norm without scale" => {
                let config = GroupNormConfig::new(2, 8).with_affine(false);
                let layer = config.init(&case.device);
                case.check(layer.forward(case.input::<2>("x")));
            }
            "instance_norm" => run!(case, InstanceNormConfig::new(2).with_epsilon(1e-3), 4),
            "rms_norm" => {
                let config = RmsNormConfig::new(5).with_epsilon(1e-3);
                let mut layer = config.init(&case.device);
                layer.gamma = case.param("gamma");
                case.check(layer.forward(case.input::<3>("x")));
            }
            name => {
                let size = name.strip_prefix("local_response_norm ");
                let size = size.and_then(|size| size.parse().ok());
                let size = size.unwrap_or_else(|| panic!("an unknown case: {name}"));
                let layer = LocalResponseNormConfig::new(size)
                    .with_alpha(0.5)
                    .with_beta(0.6)
                    .with_k(1.5);
                case.check(layer.init().forward(case.input::<3>("x")));
            }
        },
    );
}

fn interpolated(case: &Case, mode: InterpolateMode, align_corners: bool) {
    let size = |of: usize| case.output_shape()[of];
    match case.name.starts_with("lines") {
        true => {
            let layer = Interpolate1dConfig::new()
                .with_output_size(Some(size(2)))
                .with_mode(mode)
                .with_align_corners(align_corners);
            case.check(layer.init().forward(case.input("x")));
        }
        false => {
            let layer = Interpolate2dConfig::new()
                .with_output_size(Some([size(2), size(3)]))
                .with_mode(mode)
                .with_align_corners(align_corners);
            case.check(layer.init().forward(case.input("x")));
        }
    }
}

#[test]
fn layers_of_images_agree_with_pytorch() {
    let corners = |case: &Case| case.name.ends_with("by corners");
    each(
        include_str!("fixtures/layers/image.json"),
        |case| match case.name {
            "pixel_shuffle" => {
                let layer = PixelShuffleConfig::new(2).init();
                case.check(layer.forward(case.input("x")));
            }
            "pixel_unshuffle" => {
                let layer = PixelUnshuffleConfig::new(2).init();
                case.check(layer.forward(case.input("x")));
            }
            "unfold" => {
                let layer = Unfold4dConfig::new([2, 3])
                    .with_dilation([2, 1])
                    .with_padding([1, 1])
                    .with_stride([1, 2]);
                case.check(layer.init().forward(case.input("x")));
            }
            "fold" => {
                let layer = Fold4dConfig::new([4, 5], [2, 3])
                    .with_dilation([2, 1])
                    .with_padding([1, 1])
                    .with_stride([1, 2]);
                case.check(layer.init().forward(case.input("x")));
            }
            name if name.ends_with(" nearest exact") => {
                interpolated(case, InterpolateMode::NearestExact, true);
            }
            name if name.ends_with(" nearest") => {
                interpolated(case, InterpolateMode::Nearest, true)
            }
            name if name.contains(" linear ") => {
                interpolated(case, InterpolateMode::Linear, corners(case));
            }
            name if name.contains(" cubic ") => {
                interpolated(case, InterpolateMode::Cubic, corners(case));
            }
            name => panic!("an unknown case: {name}"),
        },
    );
}
