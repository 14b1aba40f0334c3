//! Layers.

pub mod conv;
pub mod interpolate;
pub mod norm;
pub mod pool;

mod dropout;
mod embedding;
mod identity;
mod linear;
mod noise;
mod pixel;
pub(crate) mod similarity;
mod sizes;
mod unfold;

pub use dropout::{Dropout, DropoutConfig};
pub use embedding::{Embedding, EmbeddingConfig};
pub use identity::Identity;
pub use linear::{Linear, LinearConfig, LinearLayout};
pub use noise::{GaussianNoise, GaussianNoiseConfig};
pub use norm::{
    BatchNorm, BatchNormConfig, GroupNorm, GroupNormConfig, InstanceNorm, InstanceNormConfig,
    LayerNorm, LayerNormConfig, LocalResponseNorm, LocalResponseNormConfig, RmsNorm, RmsNormConfig,
};
pub use pixel::{PixelShuffle, PixelShuffleConfig, PixelUnshuffle, PixelUnshuffleConfig};
pub use similarity::{
    CosineSimilarity, CosineSimilarityConfig, PairwiseDistance, PairwiseDistanceConfig,
};
pub use unfold::{Fold4d, Fold4dConfig, Unfold4d, Unfold4dConfig};
