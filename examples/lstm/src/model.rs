//! The model: an LSTM over the bits, and a map from what it remembers to even and odd.

use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, Lstm, LstmConfig};
use burn::prelude::*;
use burn::tensor::Distribution;

/// Says at each bit whether the ones so far are odd.
#[derive(Module, Debug)]
pub struct Parity {
    lstm: Lstm,
    output: Linear,
}

/// Rows of bits with what is to be said at each of them.
#[derive(Clone, Debug)]
pub struct Rows {
    /// `[batch, length]`
    pub bits: Tensor<2, Int>,
    /// `[batch, length]`: 1 where the ones so far are odd.
    pub parity: Tensor<2, Int>,
}

impl Rows {
    /// Random rows.
    pub fn random(rows: usize, length: usize, device: &Device) -> Self {
        let shape = [rows, length];
        let bits = Tensor::<2>::random(shape, Distribution::Bernoulli(0.5), device).int();
        let parity = bits.clone().cumsum(1).remainder_scalar(2);
        Self { bits, parity }
    }
}

impl Parity {
    /// A model with random weights and a memory of `hidden` numbers.
    pub fn new(hidden: usize, device: &Device) -> Self {
        Self {
            lstm: LstmConfig::new(1, hidden, true).init(device),
            output: LinearConfig::new(hidden, 2).init(device),
        }
    }

    /// Scores for even and odd at each bit: `[batch, length, 2]`.
    pub fn forward(&self, bits: Tensor<2, Int>) -> Tensor<3> {
        let bits = bits.float().unsqueeze_dim::<3>(2);
        let (states, _) = self.lstm.forward(bits, None);
        self.output.forward(states)
    }

    /// The mean cross entropy over all bits of some rows.
    pub fn loss(&self, rows: &Rows) -> Tensor<1> {
        let scores = self.forward(rows.bits.clone()).flatten::<2>(0, 1);
        CrossEntropyLossConfig::new()
            .init(&scores.device())
            .forward(scores, rows.parity.clone().flatten::<1>(0, 1))
    }
}
