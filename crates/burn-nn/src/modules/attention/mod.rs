//! Attention: outputs as means of values, weighted by how well keys fit queries (Vaswani and others 2017, equation 1).
//!
//! ```text
//! softmax(q · kᵀ / √d + mask) · v
//! ```
//!
//! The instruction is [`attention`](burn_core::tensor::module::attention): layers use it where nobody asks for the
//! weights and no tape records. Masks are true where a position is left out.

mod cross;
mod heads;
mod mask;
mod multi_head;

pub use cross::{CrossAttention, CrossAttentionCache, CrossAttentionConfig};
pub use mask::{
    GeneratePaddingMask, SeqLengthOption, generate_autoregressive_mask, generate_padding_mask,
};
pub(crate) use multi_head::rest;
pub use multi_head::{MhaCache, MhaInput, MhaOutput, MultiHeadAttention, MultiHeadAttentionConfig};
