//! Layers.

pub mod attention;
pub mod cache;
pub mod conv;
pub mod interpolate;
pub mod norm;
pub mod pool;
pub mod transformer;

mod dropout;
mod embedding;
mod identity;
mod linear;
mod noise;
mod pixel;
mod positional;
mod rnn;
mod rotary;
pub(crate) mod similarity;
mod sizes;
mod unfold;

pub use dropout::{Dropout, DropoutConfig};
pub use embedding::{Embedding, EmbeddingConfig};
pub use identity::Identity;
pub(crate) use linear::DEFAULT_INITIALIZER;
pub use linear::{Linear, LinearConfig, LinearLayout};
pub use noise::{GaussianNoise, GaussianNoiseConfig};
pub use norm::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, InstanceNorm, InstanceNormConfig,
    LayerNorm, LayerNormConfig, LocalResponseNorm, LocalResponseNormConfig, RmsNorm, RmsNormConfig,
};
pub use pixel::{PixelShuffle, PixelShuffleConfig, PixelUnshuffle, PixelUnshuffleConfig};
pub use positional::{PositionalEncoding, PositionalEncodingConfig, generate_sinusoids};
pub use rnn::{
    BiGru, BiGruConfig, BiLstm, BiLstmConfig, BiRnn, BiRnnConfig, GateController, Gru, GruConfig,
    Lstm, LstmConfig, LstmState, OptionalInitialLstmState, Rnn, RnnConfig, RnnState, basic, gru,
    lstm,
};
pub use rotary::{RotaryEncoding, RotaryEncodingConfig};
pub use similarity::{
    CosineSimilarity, CosineSimilarityConfig, PairwiseDistance, PairwiseDistanceConfig,
};
pub use unfold::{Fold4d, Fold4dConfig, Unfold4d, Unfold4dConfig};

use burn_core::module::DisplaySettings;

/// A layer in one line.
pub(crate) fn inline() -> Option<DisplaySettings> {
    DisplaySettings::new()
        .with_new_line_after_attribute(false)
        .optional()
}
