//! The classifier: two hidden layers over the pixels.

use crate::data::{CLASSES, PIXELS};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Relu};
use burn::prelude::*;

/// Scores the ten digits for an image.
#[derive(Module, Debug)]
pub struct Classifier {
    first: Linear,
    second: Linear,
    output: Linear,
    activation: Relu,
}

/// The sizes of a [`Classifier`].
#[derive(Config, Debug)]
pub struct ClassifierConfig {
    /// The width of the hidden layers.
    #[config(default = 128)]
    pub hidden: usize,
}

impl ClassifierConfig {
    /// A classifier with random weights.
    pub fn init(&self, device: &Device) -> Classifier {
        Classifier {
            first: LinearConfig::new(PIXELS, self.hidden).init(device),
            second: LinearConfig::new(self.hidden, self.hidden).init(device),
            output: LinearConfig::new(self.hidden, CLASSES).init(device),
            activation: Relu::new(),
        }
    }
}

impl Classifier {
    /// The scores of each class, before softmax.
    ///
    /// # Shapes
    /// - `images`: `[batch, PIXELS]`
    /// - output: `[batch, CLASSES]`
    pub fn forward(&self, images: Tensor<2>) -> Tensor<2> {
        let hidden = self.activation.forward(self.first.forward(images));
        let hidden = self.activation.forward(self.second.forward(hidden));
        self.output.forward(hidden)
    }

    /// The mean cross entropy between scores and labels.
    pub fn loss(&self, scores: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        CrossEntropyLossConfig::new()
            .init(&scores.device())
            .forward(scores, labels)
    }
}
