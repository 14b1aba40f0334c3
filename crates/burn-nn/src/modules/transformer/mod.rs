//! The transformer (Vaswani and others 2017): layers of attention and feed-forward maps with residual paths.
//!
//! Each part `f` of a layer adds to what goes through: `norm(x + f(x))`, or with `norm_first` `x + f(norm(x))` (Xiong and
//! others 2020). Nothing is added to the input to tell positions: see
//! [`PositionalEncoding`](crate::PositionalEncoding).

mod decoder;
mod encoder;
mod feed_forward;
mod residual;

pub use decoder::{
    TransformerDecoder, TransformerDecoderAutoregressiveCache, TransformerDecoderConfig,
    TransformerDecoderInput, TransformerDecoderLayer, TransformerDecoderLayerAutoregressiveCache,
};
pub use encoder::{
    TransformerEncoder, TransformerEncoderAutoregressiveCache, TransformerEncoderConfig,
    TransformerEncoderInput, TransformerEncoderLayer, TransformerEncoderLayerAutoregressiveCache,
};
pub use feed_forward::{PositionWiseFeedForward, PositionWiseFeedForwardConfig};
