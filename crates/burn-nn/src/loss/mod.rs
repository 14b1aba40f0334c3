//! Losses.

mod cross_entropy;

pub use cross_entropy::{CrossEntropyLoss, CrossEntropyLossConfig};
