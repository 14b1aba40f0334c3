//! The network: two blocks of convolution, normalization and pool, and a linear head.

use crate::data::{SHAPES, SIDE};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig, MaxPool2d, MaxPool2dConfig};
use burn::nn::{
    BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig, PaddingConfig2d, Relu,
};
use burn::prelude::*;

/// A convolution that keeps the size, normalized, and halved by a pool.
#[derive(Module, Debug)]
pub struct Block {
    conv: Conv2d,
    norm: BatchNorm,
    activation: Relu,
    pool: MaxPool2d,
}

impl Block {
    fn new(channels: [usize; 2], device: &Device) -> Self {
        Self {
            // The shift of the norm does what a bias would.
            conv: Conv2dConfig::new(channels, [3, 3])
                .with_padding(PaddingConfig2d::Same)
                .with_bias(false)
                .init(device),
            norm: BatchNormConfig::new(channels[1]).init(device),
            activation: Relu::new(),
            pool: MaxPool2dConfig::new([2, 2]).init(),
        }
    }

    fn forward(&self, images: Tensor<4>) -> Tensor<4> {
        let x = self.norm.forward(self.conv.forward(images));
        self.pool.forward(self.activation.forward(x))
    }
}

/// Scores the shapes for an image.
#[derive(Module, Debug)]
pub struct Net {
    blocks: Vec<Block>,
    pool: AdaptiveAvgPool2d,
    dropout: Dropout,
    head: Linear,
}

/// The sizes of a [`Net`].
#[derive(Config, Debug)]
pub struct NetConfig {
    /// Channels of the first block; the second has twice as many.
    #[config(default = 8)]
    pub channels: usize,
    /// The chance of a feature to be dropped in training.
    #[config(default = 0.1)]
    pub dropout: f64,
}

/// The features of a channel that the head sees, in each direction.
const PATCHES: usize = SIDE / 8;

impl NetConfig {
    /// A network with random weights.
    pub fn init(&self, device: &Device) -> Net {
        let [first, second] = [self.channels, 2 * self.channels];
        let features = second * PATCHES * PATCHES;
        Net {
            blocks: vec![
                Block::new([1, first], device),
                Block::new([first, second], device),
            ],
            pool: AdaptiveAvgPool2dConfig::new([PATCHES, PATCHES]).init(),
            dropout: DropoutConfig::new(self.dropout).init(),
            head: LinearConfig::new(features, SHAPES.len()).init(device),
        }
    }
}

impl Net {
    /// The scores of each shape, before softmax.
    ///
    /// # Shapes
    /// - `images`: `[batch, 1, SIDE, SIDE]`
    /// - output: `[batch, SHAPES]`
    pub fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let blocks = self.blocks.iter();
        let x = blocks.fold(images, |x, block| block.forward(x));
        let x: Tensor<2> = self.pool.forward(x).flatten(1, 3);
        self.head.forward(self.dropout.forward(x))
    }

    /// The mean cross entropy between scores and labels.
    pub fn loss(&self, scores: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        CrossEntropyLossConfig::new()
            .init(&scores.device())
            .forward(scores, labels)
    }
}
