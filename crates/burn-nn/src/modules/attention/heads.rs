//! What attention layers share: heads, masks, weights.

use crate::Dropout;
use burn_core::tensor::ops::AttentionModuleOptions;
use burn_core::tensor::{Bool, Tensor, activation, module};

/// `[batch, length, heads · features]` as `[batch, heads, length, features]`.
pub(super) fn split(input: Tensor<3>, heads: usize) -> Tensor<4> {
    let [batch, length, width] = input.dims();
    let parts = input.reshape([batch, length, heads, width / heads]);
    parts.swap_dims(1, 2)
}

/// The reverse of [`split`].
pub(super) fn join(input: Tensor<4>) -> Tensor<3> {
    let [batch, heads, length, features] = input.dims();
    let rows = input.swap_dims(1, 2);
    rows.reshape([batch, length, heads * features])
}

/// How scores become weights.
pub(super) struct Scores<'a> {
    pub dropout: &'a Dropout,
    /// What products of queries and keys are multiplied by.
    pub scale: f64,
    /// The score of what is masked.
    pub min_float: f64,
    /// Whether weights may all be 0.
    pub quiet_softmax: bool,
}

impl Scores<'_> {
    /// The weights of keys `[batch, heads, keys, features]` for queries `[batch, heads, queries, features]`, dropped from
    /// in training: `[batch, heads, queries, keys]`. The mask broadcasts to them.
    pub fn weights(
        &self,
        query: Tensor<4>,
        key: Tensor<4>,
        mask: Option<Tensor<4, Bool>>,
    ) -> Tensor<4> {
        let scores = query.mul_scalar(self.scale).matmul(key.swap_dims(2, 3));
        let scores = match mask {
            Some(mask) => scores.mask_fill(mask, self.min_float),
            None => scores,
        };
        let weights = match self.quiet_softmax {
            true => activation::quiet_softmax(scores, 3),
            false => activation::softmax(scores, 3),
        };
        self.dropout.forward(weights)
    }

    /// The values weighted, as by [`Scores::weights`] but without keeping the weights where that is possible.
    pub fn context(
        &self,
        query: Tensor<4>,
        key: Tensor<4>,
        value: Tensor<4>,
        mask: Option<Tensor<4, Bool>>,
    ) -> Tensor<4> {
        // A tape needs the weights, and so does dropout.
        if query.is_autodiff() || self.quiet_softmax {
            return self.weights(query, key, mask).matmul(value);
        }
        let options = AttentionModuleOptions {
            scale: Some(self.scale),
            ..Default::default()
        };
        let blind = mask.clone().map(|mask| mask.all_dim(3));
        let mean = mask.is_some().then(|| value.clone().mean_dim(2));
        let context = module::attention(query, key, value, mask, None, options);
        match (blind, mean) {
            // Scores that are all `min_float` weigh alike, where the instruction gives zeros.
            (Some(blind), Some(mean)) => context.mask_where(blind, mean),
            _ => context,
        }
    }
}

/// The masks of a layer as one that broadcasts to `[batch, heads, queries, keys]`.
///
/// # Panics
/// If they do not fit.
#[track_caller]
pub(super) fn mask(
    layer: &str,
    pad: Option<Tensor<2, Bool>>,
    attn: Option<Tensor<3, Bool>>,
    [batch, queries, keys]: [usize; 3],
) -> Option<Tensor<4, Bool>> {
    let pad = pad.map(|mask| {
        assert!(
            mask.dims() == [batch, keys],
            "`{layer}`: the mask of padding has the shape {:?}\n  legal: [{batch}, {keys}]",
            mask.dims()
        );
        mask.reshape([batch, 1, 1, keys])
    });
    let attn = attn.map(|mask| {
        let [rows, ..] = mask.dims();
        assert!(
            mask.dims() == [rows, queries, keys] && (rows == batch || rows == 1),
            "`{layer}`: the mask of attention has the shape {:?}\n  legal: [{batch}, {queries}, {keys}], or 1 for the batch",
            mask.dims()
        );
        mask.reshape([rows, 1, queries, keys])
    });
    match (pad, attn) {
        (Some(pad), Some(attn)) => Some(pad.bool_or(attn)),
        (pad, attn) => pad.or(attn),
    }
}
