//! Losses without a module.

use crate::{Tensor, activation};

/// The cross entropy between logits and target probabilities along the last dim, averaged over the rest.
///
/// # Shapes
/// - `logits`, `target`: `[…, classes]`
/// - output: `[1]`
#[track_caller]
pub fn cross_entropy_with_logits<const D: usize>(
    logits: Tensor<D>,
    target: Tensor<D>,
) -> Tensor<1> {
    let log = activation::log_softmax(logits, -1);
    log.mul(target).sum_dim(-1).mean().neg()
}
