//! Layers.

pub mod conv;
pub mod norm;
pub mod pool;

mod dropout;
mod embedding;
mod linear;
mod sizes;

pub use dropout::{Dropout, DropoutConfig};
pub use embedding::{Embedding, EmbeddingConfig};
pub use linear::{Linear, LinearConfig, LinearLayout};
pub use norm::{BatchNorm, BatchNormConfig, LayerNorm, LayerNormConfig};

use burn_core::module::DisplaySettings;

/// A layer in one line.
fn inline() -> Option<DisplaySettings> {
    DisplaySettings::new()
        .with_new_line_after_attribute(false)
        .optional()
}
