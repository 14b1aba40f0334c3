//! The model: digits as vectors, with waves for their positions, through an encoder and a decoder.

use burn::nn::attention::generate_autoregressive_mask;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::transformer::{
    TransformerDecoder, TransformerDecoderConfig, TransformerDecoderInput, TransformerEncoder,
    TransformerEncoderConfig, TransformerEncoderInput,
};
use burn::nn::{
    Embedding, EmbeddingConfig, Linear, LinearConfig, PositionalEncoding, PositionalEncodingConfig,
};
use burn::prelude::*;

/// The number of digits.
pub const DIGITS: usize = 10;
/// What the decoder is given before the first digit.
const START: usize = DIGITS;

/// Writes rows of digits backwards.
#[derive(Module, Debug)]
pub struct Reverser {
    embedding: Embedding,
    positions: PositionalEncoding,
    encoder: TransformerEncoder,
    decoder: TransformerDecoder,
    output: Linear,
}

/// The sizes of a [`Reverser`].
#[derive(Config, Debug)]
pub struct ReverserConfig {
    /// Size of the vectors.
    #[config(default = 32)]
    pub d_model: usize,
    /// Heads of attention.
    #[config(default = 4)]
    pub n_heads: usize,
    /// Layers of the encoder, and of the decoder.
    #[config(default = 1)]
    pub n_layers: usize,
}

impl ReverserConfig {
    /// A model with random weights.
    pub fn init(&self, device: &Device) -> Reverser {
        let (width, inner) = (self.d_model, 4 * self.d_model);
        let encoder = TransformerEncoderConfig::new(width, inner, self.n_heads, self.n_layers);
        let decoder = TransformerDecoderConfig::new(width, inner, self.n_heads, self.n_layers);
        Reverser {
            embedding: EmbeddingConfig::new(DIGITS + 1, width).init(device),
            positions: PositionalEncodingConfig::new(width)
                .with_max_sequence_size(64)
                .init(device),
            encoder: encoder.with_dropout(0.0).init(device),
            decoder: decoder.with_dropout(0.0).init(device),
            output: LinearConfig::new(width, DIGITS).init(device),
        }
    }
}

impl Reverser {
    fn embed(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        self.positions.forward(self.embedding.forward(tokens))
    }

    fn encode(&self, row: Tensor<2, Int>) -> Tensor<3> {
        let row = TransformerEncoderInput::new(self.embed(row));
        self.encoder.forward(row)
    }

    /// Scores for each digit of the answer, given those before it: `[batch, length, DIGITS]`.
    pub fn forward(&self, row: Tensor<2, Int>, answer: Tensor<2, Int>) -> Tensor<3> {
        let ([batch, length], device) = (row.dims(), row.device());
        let start = Tensor::full([batch, 1], START as i64, &device);
        let before = Tensor::cat(vec![start, answer.narrow(1, 0, length - 1)], 1);
        let input = TransformerDecoderInput::new(self.embed(before), self.encode(row))
            .target_mask_attn(generate_autoregressive_mask(batch, length, &device));
        self.output.forward(self.decoder.forward(input))
    }

    /// The mean cross entropy over all digits of the answer.
    pub fn loss(&self, row: Tensor<2, Int>) -> Tensor<1> {
        let answer = row.clone().flip([1]);
        let scores = self.forward(row, answer.clone()).flatten::<2>(0, 1);
        CrossEntropyLossConfig::new()
            .init(&scores.device())
            .forward(scores, answer.flatten::<1>(0, 1))
    }

    /// The answer, written digit by digit: at each the one with the best score.
    pub fn write(&self, row: Tensor<2, Int>) -> Tensor<2, Int> {
        let ([batch, length], device) = (row.dims(), row.device());
        let memory = self.encode(row);
        let mut cache = self.decoder.new_autoregressive_cache();
        let mut tokens = Tensor::<2, Int>::full([batch, 1], START as i64, &device);
        for written in 1..=length {
            let input = TransformerDecoderInput::new(self.embed(tokens.clone()), memory.clone())
                .target_mask_attn(generate_autoregressive_mask(batch, written, &device));
            let states = self
                .decoder
                .forward_autoregressive_inference(input, &mut cache);
            let last = self.output.forward(states.narrow(1, written - 1, 1));
            let digit = last.argmax(2).squeeze_dim::<2>(2);
            tokens = Tensor::cat(vec![tokens, digit], 1);
        }
        tokens.narrow(1, 1, length)
    }
}
