//! [`TransformerDecoder`]: a sequence over itself and over another, the memory.

use super::residual::Residual;
use super::{PositionWiseFeedForward, PositionWiseFeedForwardConfig};
use crate::activation::ActivationConfig;
use crate::modules::attention::{
    MhaCache, MhaInput, MultiHeadAttention, MultiHeadAttentionConfig, rest,
};
use crate::modules::cache::TensorCache;
use crate::modules::inline;
use crate::{Dropout, DropoutConfig, Initializer, LayerNorm, LayerNormConfig};
use alloc::vec::Vec;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Bool, Device, Tensor};

/// Describes a [`TransformerDecoder`].
#[derive(Config, Debug)]
pub struct TransformerDecoderConfig {
    /// Size of the features of target, memory and output.
    pub d_model: usize,
    /// Size of the features inside the feed-forward maps.
    pub d_ff: usize,
    /// Heads of attention.
    pub n_heads: usize,
    /// Layers.
    pub n_layers: usize,
    /// The chance of weights and features to become zero in training.
    #[config(default = 0.1)]
    pub dropout: f64,
    /// Whether parts of a layer see what is normalized; otherwise their sums with their inputs are.
    #[config(default = false)]
    pub norm_first: bool,
    /// Whether the weights of a query may all be 0 (Miller 2023).
    #[config(default = false)]
    pub quiet_softmax: bool,
    /// Draws weights and biases.
    #[config(default = "crate::modules::DEFAULT_INITIALIZER")]
    pub initializer: Initializer,
    /// The activation inside the feed-forward maps.
    #[config(default = "ActivationConfig::Gelu")]
    pub activation: ActivationConfig,
    /// Added to the variance by the norms.
    #[config(default = 1e-5)]
    pub layer_norm_eps: f64,
}

/// Layers of attention of a target to itself and to a memory.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct TransformerDecoder {
    /// The layers, first to last.
    pub layers: Vec<TransformerDecoderLayer>,
    /// Size of the features of target, memory and output.
    pub d_model: usize,
    /// Size of the features inside the feed-forward maps.
    pub d_ff: usize,
    /// Heads of attention.
    pub n_heads: usize,
    /// The number of layers.
    pub n_layers: usize,
    /// The chance of weights and features to become zero in training.
    pub dropout: f64,
    /// Whether parts of a layer see what is normalized.
    pub norm_first: bool,
    /// Whether the weights of a query may all be 0.
    pub quiet_softmax: bool,
}

/// What a [`TransformerDecoder`] is given, and what a layer hands on to the next.
#[derive(Clone, Debug)]
pub struct TransformerDecoderInput {
    target: Tensor<3>,
    target_mask_pad: Option<Tensor<2, Bool>>,
    target_mask_attn: Option<Tensor<3, Bool>>,
    memory: Tensor<3>,
    memory_mask_pad: Option<Tensor<2, Bool>>,
    memory_mask_attn: Option<Tensor<3, Bool>>,
}

impl TransformerDecoderInput {
    /// A target `[batch, length, d_model]` with its memory `[batch, keys, d_model]`.
    pub fn new(target: Tensor<3>, memory: Tensor<3>) -> Self {
        Self {
            target,
            target_mask_pad: None,
            target_mask_attn: None,
            memory,
            memory_mask_pad: None,
            memory_mask_attn: None,
        }
    }

    /// Leaves out positions of the memory that are padding: where `[batch, keys]` is true.
    pub fn memory_mask_pad(mut self, mask_pad: Tensor<2, Bool>) -> Self {
        self.memory_mask_pad = Some(mask_pad);
        self
    }

    /// Hides positions of the memory from positions of the target: where `[batch, length, keys]` is true.
    pub fn memory_mask_attn(mut self, mask_attn: Tensor<3, Bool>) -> Self {
        self.memory_mask_attn = Some(mask_attn);
        self
    }

    /// Leaves out positions of the target that are padding: where `[batch, length]` is true.
    pub fn target_mask_pad(mut self, mask_pad: Tensor<2, Bool>) -> Self {
        self.target_mask_pad = Some(mask_pad);
        self
    }

    /// Hides positions of the target (last dimension) from others: where `[batch, length, length]` is true.
    pub fn target_mask_attn(mut self, mask_attn: Tensor<3, Bool>) -> Self {
        self.target_mask_attn = Some(mask_attn);
        self
    }
}

/// A layer of a [`TransformerDecoder`].
#[derive(Module, Debug)]
pub struct TransformerDecoderLayer {
    /// Attention of the target to the memory.
    pub cross_attn: MultiHeadAttention,
    /// Attention of the target to itself.
    pub self_attn: MultiHeadAttention,
    /// The maps at each position.
    pub pwff: PositionWiseFeedForward,
    /// The norm of attention to the memory if norms come first, otherwise to itself.
    pub norm_1: LayerNorm,
    /// The norm of the feed-forward maps if norms come first, otherwise of attention to the memory.
    pub norm_2: LayerNorm,
    /// The norm of attention to itself if norms come first, otherwise of the feed-forward maps.
    pub norm_3: LayerNorm,
    /// Drops from what is added, in training.
    pub dropout: Dropout,
    /// Whether parts see what is normalized.
    pub norm_first: bool,
}

/// What a [`TransformerDecoderLayer`] remembers of a growing target.
///
/// A position passes the layer once, so that norms and maps have nothing to remember but the output.
#[derive(Clone, Debug)]
pub struct TransformerDecoderLayerAutoregressiveCache {
    /// Keys and values of the target.
    pub self_attn: MhaCache,
    /// Keys and values of the memory.
    pub cross_attn: MhaCache,
    /// The output of the layer.
    pub pwff: TensorCache<3>,
    /// Stays empty.
    pub norm_1: TensorCache<3>,
    /// Stays empty.
    pub norm_2: TensorCache<3>,
    /// Stays empty.
    pub norm_3: TensorCache<3>,
}

impl TransformerDecoderLayerAutoregressiveCache {
    /// Nothing yet.
    pub fn empty() -> Self {
        Self {
            self_attn: MhaCache::autoregressive(),
            cross_attn: MhaCache::autoregressive_cross_attention(),
            pwff: TensorCache::empty(),
            norm_1: TensorCache::empty(),
            norm_2: TensorCache::empty(),
            norm_3: TensorCache::empty(),
        }
    }
}

/// What a [`TransformerDecoder`] remembers of a growing target.
#[derive(Clone, Debug)]
pub struct TransformerDecoderAutoregressiveCache {
    layers: Vec<TransformerDecoderLayerAutoregressiveCache>,
    output: TensorCache<3>,
}

impl TransformerDecoderConfig {
    /// The decoder on `device`.
    ///
    /// # Panics
    /// If the heads do not divide the features, or the dropout is no chance.
    #[track_caller]
    pub fn init(&self, device: &Device) -> TransformerDecoder {
        let layer = |_| TransformerDecoderLayer::new(self, device);
        TransformerDecoder {
            layers: (0..self.n_layers).map(layer).collect(),
            d_model: self.d_model,
            d_ff: self.d_ff,
            n_heads: self.n_heads,
            n_layers: self.n_layers,
            dropout: self.dropout,
            norm_first: self.norm_first,
            quiet_softmax: self.quiet_softmax,
        }
    }
}

impl TransformerDecoder {
    /// The target through all layers, `[batch, length, d_model]`.
    ///
    /// # Panics
    /// If a mask has another shape than its documentation says.
    #[track_caller]
    pub fn forward(&self, input: TransformerDecoderInput) -> Tensor<3> {
        let through = |input, layer: &TransformerDecoderLayer| layer.forward(input);
        self.layers.iter().fold(input, through).target
    }

    /// [`TransformerDecoder::forward`] over a target that has grown since the last call: it is given as a whole, and only
    /// what is new is computed. That is the same only if no position sees later ones, which `target_mask_attn` is to say.
    /// The memory is that of the first call.
    ///
    /// # Panics
    /// If the target is shorter than before, or a mask has another shape than its documentation says.
    #[track_caller]
    pub fn forward_autoregressive_inference(
        &self,
        mut input: TransformerDecoderInput,
        cache: &mut TransformerDecoderAutoregressiveCache,
    ) -> Tensor<3> {
        input.target = rest("TransformerDecoder", input.target, cache.output.len(1));
        for (layer, cache) in self.layers.iter().zip(&mut cache.layers) {
            input = layer.next(input, cache);
        }
        cache.output.append(1, input.target)
    }

    /// An empty cache for [`TransformerDecoder::forward_autoregressive_inference`].
    pub fn new_autoregressive_cache(&self) -> TransformerDecoderAutoregressiveCache {
        let empty = |_| TransformerDecoderLayerAutoregressiveCache::empty();
        TransformerDecoderAutoregressiveCache {
            layers: self.layers.iter().map(empty).collect(),
            output: TensorCache::empty(),
        }
    }
}

impl TransformerDecoderLayer {
    /// A layer of the decoder that is described, on `device`.
    #[track_caller]
    pub fn new(config: &TransformerDecoderConfig, device: &Device) -> Self {
        let attention = || {
            MultiHeadAttentionConfig::new(config.d_model, config.n_heads)
                .with_initializer(config.initializer.clone())
                .with_dropout(config.dropout)
                .with_quiet_softmax(config.quiet_softmax)
                .init(device)
        };
        let norm = || {
            LayerNormConfig::new(config.d_model)
                .with_epsilon(config.layer_norm_eps)
                .init(device)
        };
        Self {
            cross_attn: attention(),
            self_attn: attention(),
            pwff: PositionWiseFeedForwardConfig::new(config.d_model, config.d_ff)
                .with_initializer(config.initializer.clone())
                .with_dropout(config.dropout)
                .with_activation(config.activation.clone())
                .init(device),
            norm_1: norm(),
            norm_2: norm(),
            norm_3: norm(),
            dropout: DropoutConfig::new(config.dropout).init(),
            norm_first: config.norm_first,
        }
    }

    /// The target through the layer; everything else is handed on.
    ///
    /// # Panics
    /// If a mask has another shape than its documentation says.
    #[track_caller]
    pub fn forward(&self, input: TransformerDecoderInput) -> TransformerDecoderInput {
        let itself = |input| self.self_attn.context(input);
        let memory = |input| self.cross_attn.context(input);
        self.run(input, itself, memory)
    }

    /// [`TransformerDecoderLayer::forward`] over a target that has grown since the last call; see
    /// [`TransformerDecoder::forward_autoregressive_inference`].
    ///
    /// # Panics
    /// If the target is shorter than before, or a mask has another shape than its documentation says.
    #[track_caller]
    pub fn forward_autoregressive_inference(
        &self,
        mut input: TransformerDecoderInput,
        cache: &mut TransformerDecoderLayerAutoregressiveCache,
    ) -> TransformerDecoderInput {
        let seen = cache.self_attn.len();
        input.target = rest("TransformerDecoderLayer", input.target, seen);
        let output = self.next(input, cache);
        TransformerDecoderInput {
            target: cache.pwff.append(1, output.target),
            ..output
        }
    }

    /// New positions of the target through the layer.
    #[track_caller]
    fn next(
        &self,
        input: TransformerDecoderInput,
        cache: &mut TransformerDecoderLayerAutoregressiveCache,
    ) -> TransformerDecoderInput {
        let (target, source) = (&mut cache.self_attn, &mut cache.cross_attn);
        let itself = |input| self.self_attn.context_next(input, target);
        let memory = |input| self.cross_attn.context_next(input, source);
        self.run(input, itself, memory)
    }

    #[track_caller]
    fn run(
        &self,
        input: TransformerDecoderInput,
        attend_itself: impl FnOnce(MhaInput) -> Tensor<3>,
        attend_memory: impl FnOnce(MhaInput) -> Tensor<3>,
    ) -> TransformerDecoderInput {
        let norms = match self.norm_first {
            true => [&self.norm_3, &self.norm_1, &self.norm_2],
            false => [&self.norm_1, &self.norm_2, &self.norm_3],
        };
        let [itself, memory, maps] = norms.map(|norm| Residual {
            norm,
            dropout: &self.dropout,
            norm_first: self.norm_first,
        });
        let x = itself.around(input.target, |x| {
            let (pad, attn) = (&input.target_mask_pad, &input.target_mask_attn);
            attend_itself(MhaInput::self_attn(x).masked(pad.clone(), attn.clone()))
        });
        let x = memory.around(x, |x| {
            let (pad, attn) = (&input.memory_mask_pad, &input.memory_mask_attn);
            let over = MhaInput::new(x, input.memory.clone(), input.memory.clone());
            attend_memory(over.masked(pad.clone(), attn.clone()))
        });
        let target = maps.around(x, |x| self.pwff.forward(x));
        TransformerDecoderInput { target, ..input }
    }
}

impl ModuleDisplay for TransformerDecoder {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("d_model", &self.d_model)
            .add("d_ff", &self.d_ff)
            .add("n_heads", &self.n_heads)
            .add("n_layers", &self.n_layers)
            .add("dropout", &self.dropout)
            .add("norm_first", &self.norm_first)
            .add("quiet_softmax", &self.quiet_softmax)
            .optional()
    }
}
