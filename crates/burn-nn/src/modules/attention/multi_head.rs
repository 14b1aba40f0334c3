//! [`MultiHeadAttention`] (Vaswani and others 2017, section 3.2.2).

use super::heads::{self, Scores};
use crate::activation::Gelu;
use crate::modules::cache::TensorCache;
use crate::modules::inline;
use crate::{Dropout, DropoutConfig, Initializer, Linear, LinearConfig};
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Bool, Device, Tensor};
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

/// Describes a [`MultiHeadAttention`].
#[derive(Config, Debug)]
pub struct MultiHeadAttentionConfig {
    /// Size of the features of inputs and output.
    pub d_model: usize,
    /// Heads, which divide the features among them.
    pub n_heads: usize,
    /// The chance of a weight to become zero in training.
    #[config(default = 0.1)]
    pub dropout: f64,
    /// The score of what is masked: far below every other, yet within the range of half floats.
    #[config(default = "-1.0e4")]
    pub min_float: f64,
    /// Whether the weights of a query may all be 0 (Miller 2023).
    #[config(default = false)]
    pub quiet_softmax: bool,
    /// Draws weights and biases.
    #[config(default = "crate::modules::DEFAULT_INITIALIZER")]
    pub initializer: Initializer,
    /// Whether the map of keys has a bias.
    #[config(default = true)]
    pub key_bias: bool,
    /// Whether the map of values has a bias.
    #[config(default = true)]
    pub value_bias: bool,
    /// Whether the map of queries has a bias.
    #[config(default = true)]
    pub query_bias: bool,
    /// Whether the map of the output has a bias.
    #[config(default = true)]
    pub output_bias: bool,
}

/// Attention by several heads, each over its part of the features.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct MultiHeadAttention {
    /// Maps queries.
    pub query: Linear,
    /// Maps keys.
    pub key: Linear,
    /// Maps values.
    pub value: Linear,
    /// Maps what the heads have found.
    pub output: Linear,
    /// Drops weights in training.
    pub dropout: Dropout,
    /// Part of the interface; nothing is computed with it.
    pub activation: Gelu,
    /// Size of the features of inputs and output.
    pub d_model: usize,
    /// The number of heads.
    pub n_heads: usize,
    /// Features of a head.
    pub d_k: usize,
    /// The score of what is masked.
    pub min_float: f64,
    /// Whether the weights of a query may all be 0.
    pub quiet_softmax: bool,
}

/// What a [`MultiHeadAttention`] is given.
#[derive(Clone, Debug)]
pub struct MhaInput {
    /// `[batch, queries, d_model]`
    query: Tensor<3>,
    /// `[batch, keys, d_model]`
    key: Tensor<3>,
    /// `[batch, keys, d_model]`
    value: Tensor<3>,
    mask_pad: Option<Tensor<2, Bool>>,
    mask_attn: Option<Tensor<3, Bool>>,
}

/// What a [`MultiHeadAttention`] gives.
#[derive(Clone, Debug)]
pub struct MhaOutput {
    /// The weights, `[batch, n_heads, queries, keys]`; after dropout in training.
    pub weights: Tensor<4>,
    /// The output, `[batch, queries, d_model]`.
    pub context: Tensor<3>,
}

/// What a [`MultiHeadAttention`] remembers between calls with a growing sequence.
#[derive(Clone, Debug)]
pub struct MhaCache {
    /// `[batch, n_heads, queries, d_k]`
    query: TensorCache<4>,
    /// `[batch, n_heads, keys, d_k]`
    key: TensorCache<4>,
    /// `[batch, n_heads, keys, d_k]`
    value: TensorCache<4>,
    /// `[batch, queries, d_model]`
    output: TensorCache<3>,
    /// Whether keys and values grow with the queries; otherwise they are those of the first call.
    grows: bool,
}

impl MhaInput {
    /// Queries over keys and values.
    ///
    /// # Shapes
    /// - `query`: `[batch, queries, d_model]`
    /// - `key`, `value`: `[batch, keys, d_model]`
    pub fn new(query: Tensor<3>, key: Tensor<3>, value: Tensor<3>) -> Self {
        Self {
            query,
            key,
            value,
            mask_pad: None,
            mask_attn: None,
        }
    }

    /// A sequence over itself.
    pub fn self_attn(tensor: Tensor<3>) -> Self {
        Self::new(tensor.clone(), tensor.clone(), tensor)
    }

    /// Leaves out keys that are padding: where `[batch, keys]` is true.
    pub fn mask_pad(mut self, mask_pad: Tensor<2, Bool>) -> Self {
        self.mask_pad = Some(mask_pad);
        self
    }

    /// Leaves out keys query by query: where `[batch, queries, keys]` is true.
    pub fn mask_attn(mut self, mask_attn: Tensor<3, Bool>) -> Self {
        self.mask_attn = Some(mask_attn);
        self
    }

    /// With these masks.
    pub(crate) fn masked(
        self,
        mask_pad: Option<Tensor<2, Bool>>,
        mask_attn: Option<Tensor<3, Bool>>,
    ) -> Self {
        Self {
            mask_pad,
            mask_attn,
            ..self
        }
    }
}

impl MhaCache {
    /// For a sequence over itself that grows at its end.
    pub fn autoregressive() -> Self {
        Self::empty(true)
    }

    /// For a sequence that grows at its end, over another that stays.
    pub fn autoregressive_cross_attention() -> Self {
        Self::empty(false)
    }

    fn empty(grows: bool) -> Self {
        Self {
            query: TensorCache::empty(),
            key: TensorCache::empty(),
            value: TensorCache::empty(),
            output: TensorCache::empty(),
            grows,
        }
    }

    /// The number of keys that were seen.
    pub(crate) fn len(&self) -> usize {
        self.key.len(2)
    }
}

/// The positions of a sequence from `start` on.
///
/// # Panics
/// If the sequence is shorter.
#[track_caller]
pub(crate) fn rest(layer: &str, sequence: Tensor<3>, start: usize) -> Tensor<3> {
    let length = sequence.dims()[1];
    assert!(
        start <= length,
        "`{layer}`: the sequence has {length} positions, the cache {start}\n  legal: the sequence so far with new positions at its end"
    );
    match start {
        0 => sequence,
        _ => sequence.narrow(1, start, length - start),
    }
}

impl MultiHeadAttentionConfig {
    /// The layer on `device`.
    ///
    /// # Panics
    /// If the heads do not divide the features.
    #[track_caller]
    pub fn init(&self, device: &Device) -> MultiHeadAttention {
        let (d_model, heads) = (self.d_model, self.n_heads);
        assert!(
            heads > 0 && d_model.is_multiple_of(heads),
            "`MultiHeadAttention`: `d_model` is {d_model}, `n_heads` is {heads}\n  legal: `n_heads` divides `d_model`"
        );
        let linear = |bias| {
            LinearConfig::new(d_model, d_model)
                .with_bias(bias)
                .with_initializer(self.initializer.clone())
                .init(device)
        };
        MultiHeadAttention {
            query: linear(self.query_bias),
            key: linear(self.key_bias),
            value: linear(self.value_bias),
            output: linear(self.output_bias),
            dropout: DropoutConfig::new(self.dropout).init(),
            activation: Gelu::new(),
            d_model,
            n_heads: heads,
            d_k: d_model / heads,
            min_float: self.min_float,
            quiet_softmax: self.quiet_softmax,
        }
    }
}

impl MultiHeadAttention {
    /// The output with its weights.
    ///
    /// # Panics
    /// If a mask has another shape than its documentation says.
    #[track_caller]
    pub fn forward(&self, input: MhaInput) -> MhaOutput {
        let (projected, mask) = self.project(input);
        let [query, key, value] = projected;
        let weights = self.scores().weights(query, key, mask);
        let context = weights.clone().matmul(value);
        MhaOutput {
            context: self.output.forward(heads::join(context)),
            weights,
        }
    }

    /// [`MultiHeadAttention::forward`] over a sequence that has grown since the last call: it is given as a whole, and
    /// only what is new is computed. That is the same only if no position sees later ones, which `mask_attn` is to say.
    ///
    /// # Panics
    /// If the queries are fewer than before, or a mask has another shape than its documentation says.
    #[track_caller]
    pub fn forward_cache(&self, input: MhaInput, cache: &mut MhaCache) -> MhaOutput {
        let seen = cache.output.len(1);
        let later = |sequence| rest("MultiHeadAttention", sequence, seen);
        let input = match cache.grows {
            true => MhaInput {
                key: later(input.key),
                value: later(input.value),
                ..input
            },
            false => input,
        };
        let input = MhaInput {
            query: later(input.query),
            ..input
        };
        let (pad, attn) = (input.mask_pad.clone(), input.mask_attn.clone());
        let [query, key, value] = self.remember(input, cache);
        let new = query.dims()[2];
        let query = cache.query.append(2, query);
        let [batch, _, queries, _] = query.dims();
        let mask = mask(pad, attn, [batch, queries, key.dims()[2]]);
        let weights = self.scores().weights(query, key, mask);
        let fresh = weights.clone().narrow(2, seen, new).matmul(value);
        let fresh = self.output.forward(heads::join(fresh));
        MhaOutput {
            context: cache.output.append(1, fresh),
            weights,
        }
    }

    /// The output alone, which is cheaper.
    #[track_caller]
    pub(crate) fn context(&self, input: MhaInput) -> Tensor<3> {
        let (projected, mask) = self.project(input);
        let [query, key, value] = projected;
        let context = self.scores().context(query, key, value, mask);
        self.output.forward(heads::join(context))
    }

    /// The output for new positions alone, where `input` has no others but in its masks.
    #[track_caller]
    pub(crate) fn context_next(&self, input: MhaInput, cache: &mut MhaCache) -> Tensor<3> {
        let [batch, new, _] = input.query.dims();
        let (pad, attn) = (input.mask_pad.clone(), input.mask_attn.clone());
        let attn = attn.map(|mask| match mask.dims()[1] {
            rows if rows > new => mask.narrow(1, rows - new, new),
            _ => mask,
        });
        let [query, key, value] = self.remember(input, cache);
        let mask = mask(pad, attn, [batch, new, key.dims()[2]]);
        let context = self.scores().context(query, key, value, mask);
        self.output.forward(heads::join(context))
    }

    /// Queries, keys and values by heads, and the mask.
    #[track_caller]
    fn project(&self, input: MhaInput) -> ([Tensor<4>; 3], Option<Tensor<4, Bool>>) {
        let ([batch, queries, _], keys) = (input.query.dims(), input.key.dims()[1]);
        let mask = mask(input.mask_pad, input.mask_attn, [batch, queries, keys]);
        let projected = [
            self.heads(&self.query, input.query),
            self.heads(&self.key, input.key),
            self.heads(&self.value, input.value),
        ];
        (projected, mask)
    }

    /// The queries by heads, and all keys and values so far.
    #[track_caller]
    fn remember(&self, input: MhaInput, cache: &mut MhaCache) -> [Tensor<4>; 3] {
        let query = self.heads(&self.query, input.query);
        let key = || self.heads(&self.key, input.key);
        let value = || self.heads(&self.value, input.value);
        match cache.grows {
            true => {
                let key = cache.key.append(2, key());
                [query, key, cache.value.append(2, value())]
            }
            false => {
                let key = cache.key.get_or_init(key);
                [query, key, cache.value.get_or_init(value)]
            }
        }
    }

    #[track_caller]
    fn heads(&self, layer: &Linear, input: Tensor<3>) -> Tensor<4> {
        heads::split(layer.forward(input), self.n_heads)
    }

    fn scores(&self) -> Scores<'_> {
        Scores {
            dropout: &self.dropout,
            scale: 1.0 / (self.d_k as f64).sqrt(),
            min_float: self.min_float,
            quiet_softmax: self.quiet_softmax,
        }
    }
}

impl ModuleDisplay for MultiHeadAttention {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("d_model", &self.d_model)
            .add("n_heads", &self.n_heads)
            .add("d_k", &self.d_k)
            .add("dropout", &self.dropout.prob)
            .add("min_float", &self.min_float)
            .add("quiet_softmax", &self.quiet_softmax)
            .optional()
    }
}

#[track_caller]
fn mask(
    pad: Option<Tensor<2, Bool>>,
    attn: Option<Tensor<3, Bool>>,
    sizes: [usize; 3],
) -> Option<Tensor<4, Bool>> {
    heads::mask("MultiHeadAttention", pad, attn, sizes)
}
