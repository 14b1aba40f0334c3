//! Layers put together as a user does: a small classifier of images is trained by one step.

#![cfg(all(feature = "flex", feature = "autodiff"))]

use burn_core::module::Module;
use burn_core::tensor::{Device, Distribution, Int, Tensor};
use burn_nn::conv::{Conv2d, Conv2dConfig};
use burn_nn::loss::CrossEntropyLossConfig;
use burn_nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig, MaxPool2d, MaxPool2dConfig};
use burn_nn::{
    BatchNorm, BatchNormConfig, Dropout, DropoutConfig, LayerNorm, LayerNormConfig, Linear,
    LinearConfig, PaddingConfig2d, Relu,
};

#[derive(Module, Debug)]
struct Net {
    first: Conv2d,
    norm: BatchNorm,
    max: MaxPool2d,
    second: Conv2d,
    mean: AdaptiveAvgPool2d,
    layer_norm: LayerNorm,
    dropout: Dropout,
    head: Linear,
    relu: Relu,
}

impl Net {
    fn new(device: &Device) -> Self {
        Self {
            first: Conv2dConfig::new([1, 4], [3, 3])
                .with_padding(PaddingConfig2d::Same)
                .init(device),
            norm: BatchNormConfig::new(4).init(device),
            max: MaxPool2dConfig::new([2, 2]).init(),
            second: Conv2dConfig::new([4, 8], [3, 3])
                .with_stride([2, 2])
                .init(device),
            mean: AdaptiveAvgPool2dConfig::new([1, 1]).init(),
            layer_norm: LayerNormConfig::new(8).init(device),
            dropout: DropoutConfig::new(0.1).init(),
            head: LinearConfig::new(8, 3).init(device),
            relu: Relu::new(),
        }
    }

    fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let [batch, ..] = images.dims();
        let x = self.norm.forward(self.first.forward(images));
        let x = self.max.forward(self.relu.forward(x));
        let x = self.relu.forward(self.second.forward(x));
        let x: Tensor<2> = self.mean.forward(x).reshape([batch, 8]);
        let x = self.dropout.forward(self.layer_norm.forward(x));
        self.head.forward(x)
    }
}

#[test]
fn a_classifier_of_images_gives_every_parameter_a_gradient() {
    let device = Device::flex().autodiff();
    let net = Net::new(&device);
    let images = Tensor::<4>::random([5, 1, 12, 10], Distribution::Default, &device);
    let scores = net.forward(images.clone());
    assert_eq!(scores.dims(), [5, 3]);
    let targets = Tensor::<1, Int>::from_data([0, 1, 2, 1, 0], &device);
    let loss = CrossEntropyLossConfig::new()
        .init(&device)
        .forward(scores, targets);
    let gradients = loss.backward();
    for weight in [&net.first.weight, &net.second.weight] {
        let gradient = weight.val().grad(&gradients).expect("a layer is trained");
        let size: f32 = gradient.abs().max().into_scalar();
        assert!(size > 0.0);
    }
    for line in [&net.norm.gamma, &net.norm.beta, &net.layer_norm.gamma] {
        assert!(line.val().grad(&gradients).is_some());
    }
    let mean = net.norm.running_mean.value();
    let moved: f32 = mean.abs().max().into_scalar();
    assert!(moved > 0.0);
    // In validation the same images have the same scores.
    let net = net.valid();
    let [once, again] = [0, 1].map(|_| net.forward(images.clone().inner()).into_data());
    once.assert_eq(&again, true);
}
