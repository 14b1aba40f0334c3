//! [`TransformerEncoder`]: a sequence over itself.

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

/// Describes a [`TransformerEncoder`].
#[derive(Config, Debug)]
pub struct TransformerEncoderConfig {
    /// Size of the features of input and output.
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

/// Layers of attention of a sequence to itself.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct TransformerEncoder {
    /// The layers, first to last.
    pub layers: Vec<TransformerEncoderLayer>,
    /// Size of the features of input and output.
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

/// What a [`TransformerEncoder`] is given.
#[derive(Clone, Debug)]
pub struct TransformerEncoderInput {
    tensor: Tensor<3>,
    mask_pad: Option<Tensor<2, Bool>>,
    mask_attn: Option<Tensor<3, Bool>>,
}

impl TransformerEncoderInput {
    /// A sequence, `[batch, length, d_model]`.
    pub fn new(tensor: Tensor<3>) -> Self {
        Self {
            tensor,
            mask_pad: None,
            mask_attn: None,
        }
    }

    /// Leaves out positions that are padding: where `[batch, length]` is true.
    pub fn mask_pad(mut self, mask_pad: Tensor<2, Bool>) -> Self {
        self.mask_pad = Some(mask_pad);
        self
    }

    /// Hides positions (last dimension) from others: where `[batch, length, length]` is true.
    pub fn mask_attn(mut self, mask_attn: Tensor<3, Bool>) -> Self {
        self.mask_attn = Some(mask_attn);
        self
    }
}

/// A layer of a [`TransformerEncoder`].
#[derive(Module, Debug)]
pub struct TransformerEncoderLayer {
    /// Attention of the sequence to itself.
    pub mha: MultiHeadAttention,
    /// The maps at each position.
    pub pwff: PositionWiseFeedForward,
    /// The norm of the feed-forward maps if norms come first, otherwise of attention.
    pub norm_1: LayerNorm,
    /// The norm of attention if norms come first, otherwise of the feed-forward maps.
    pub norm_2: LayerNorm,
    /// Drops from what is added, in training.
    pub dropout: Dropout,
    /// Whether parts see what is normalized.
    pub norm_first: bool,
}

/// What a [`TransformerEncoderLayer`] remembers of a growing sequence.
///
/// A position passes the layer once, so that norms and maps have nothing to remember but the output.
#[derive(Clone, Debug)]
pub struct TransformerEncoderLayerAutoregressiveCache {
    /// Keys and values of attention.
    pub mha: MhaCache,
    /// The output of the layer.
    pub pwff: TensorCache<3>,
    /// Stays empty.
    pub norm_1: TensorCache<3>,
    /// Stays empty.
    pub norm_2: TensorCache<3>,
}

impl TransformerEncoderLayerAutoregressiveCache {
    /// Nothing yet.
    pub fn empty() -> Self {
        Self {
            mha: MhaCache::autoregressive(),
            pwff: TensorCache::empty(),
            norm_1: TensorCache::empty(),
            norm_2: TensorCache::empty(),
        }
    }
}

/// What a [`TransformerEncoder`] remembers of a growing sequence.
#[derive(Clone, Debug)]
pub struct TransformerEncoderAutoregressiveCache {
    layers: Vec<TransformerEncoderLayerAutoregressiveCache>,
    output: TensorCache<3>,
}

impl TransformerEncoderConfig {
    /// The encoder on `device`.
    ///
    /// # Panics
    /// If the heads do not divide the features, or the dropout is no chance.
    #[track_caller]
    pub fn init(&self, device: &Device) -> TransformerEncoder {
        let layer = |_| TransformerEncoderLayer::new(self, device);
        TransformerEncoder {
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

impl TransformerEncoder {
    /// The sequence through all layers, `[batch, length, d_model]`.
    ///
    /// # Panics
    /// If a mask has another shape than its documentation says.
    #[track_caller]
    pub fn forward(&self, input: TransformerEncoderInput) -> Tensor<3> {
        let (pad, attn) = (input.mask_pad, input.mask_attn);
        let through =
            |x, layer: &TransformerEncoderLayer| layer.forward(x, pad.clone(), attn.clone());
        self.layers.iter().fold(input.tensor, through)
    }

    /// [`TransformerEncoder::forward`] over a sequence that has grown since the last call: it is given as a whole, and
    /// only what is new is computed. That is the same only if no position sees later ones, which `mask_attn` is to say.
    ///
    /// # Panics
    /// If the sequence is shorter than before, or a mask has another shape than its documentation says.
    #[track_caller]
    pub fn forward_autoregressive_inference(
        &self,
        input: TransformerEncoderInput,
        cache: &mut TransformerEncoderAutoregressiveCache,
    ) -> Tensor<3> {
        let (pad, attn) = (input.mask_pad, input.mask_attn);
        let mut x = rest("TransformerEncoder", input.tensor, cache.output.len(1));
        for (layer, cache) in self.layers.iter().zip(&mut cache.layers) {
            x = layer.next(x, pad.clone(), attn.clone(), &mut cache.mha);
        }
        cache.output.append(1, x)
    }

    /// An empty cache for [`TransformerEncoder::forward_autoregressive_inference`].
    pub fn new_autoregressive_cache(&self) -> TransformerEncoderAutoregressiveCache {
        let empty = |_| TransformerEncoderLayerAutoregressiveCache::empty();
        TransformerEncoderAutoregressiveCache {
            layers: self.layers.iter().map(empty).collect(),
            output: TensorCache::empty(),
        }
    }
}

impl TransformerEncoderLayer {
    /// A layer of the encoder that is described, on `device`.
    #[track_caller]
    pub fn new(config: &TransformerEncoderConfig, device: &Device) -> Self {
        let norm = || {
            LayerNormConfig::new(config.d_model)
                .with_epsilon(config.layer_norm_eps)
                .init(device)
        };
        Self {
            mha: MultiHeadAttentionConfig::new(config.d_model, config.n_heads)
                .with_initializer(config.initializer.clone())
                .with_dropout(config.dropout)
                .with_quiet_softmax(config.quiet_softmax)
                .init(device),
            pwff: PositionWiseFeedForwardConfig::new(config.d_model, config.d_ff)
                .with_initializer(config.initializer.clone())
                .with_dropout(config.dropout)
                .with_activation(config.activation.clone())
                .init(device),
            norm_1: norm(),
            norm_2: norm(),
            dropout: DropoutConfig::new(config.dropout).init(),
            norm_first: config.norm_first,
        }
    }

    /// The sequence through the layer.
    ///
    /// # Shapes
    /// - `input`, output: `[batch, length, d_model]`
    /// - `mask_pad`: `[batch, length]`, true where a position is padding
    /// - `mask_attn`: `[batch, length, length]`, true where a position (last dimension) is hidden from another
    ///
    /// # Panics
    /// If a mask has another shape.
    #[track_caller]
    pub fn forward(
        &self,
        input: Tensor<3>,
        mask_pad: Option<Tensor<2, Bool>>,
        mask_attn: Option<Tensor<3, Bool>>,
    ) -> Tensor<3> {
        self.run(input, |x| {
            let input = MhaInput::self_attn(x).masked(mask_pad, mask_attn);
            self.mha.context(input)
        })
    }

    /// [`TransformerEncoderLayer::forward`] over a sequence that has grown since the last call; see
    /// [`TransformerEncoder::forward_autoregressive_inference`].
    ///
    /// # Panics
    /// If the sequence is shorter than before, or a mask has another shape.
    #[track_caller]
    pub fn forward_autoregressive_inference(
        &self,
        input: Tensor<3>,
        mask_pad: Option<Tensor<2, Bool>>,
        mask_attn: Option<Tensor<3, Bool>>,
        cache: &mut TransformerEncoderLayerAutoregressiveCache,
    ) -> Tensor<3> {
        let new = rest("TransformerEncoderLayer", input, cache.mha.len());
        let output = self.next(new, mask_pad, mask_attn, &mut cache.mha);
        cache.pwff.append(1, output)
    }

    /// New positions through the layer.
    #[track_caller]
    fn next(
        &self,
        input: Tensor<3>,
        mask_pad: Option<Tensor<2, Bool>>,
        mask_attn: Option<Tensor<3, Bool>>,
        cache: &mut MhaCache,
    ) -> Tensor<3> {
        self.run(input, |x| {
            let input = MhaInput::self_attn(x).masked(mask_pad, mask_attn);
            self.mha.context_next(input, cache)
        })
    }

    #[track_caller]
    fn run(&self, input: Tensor<3>, attend: impl FnOnce(Tensor<3>) -> Tensor<3>) -> Tensor<3> {
        let (first, second) = match self.norm_first {
            true => (&self.norm_2, &self.norm_1),
            false => (&self.norm_1, &self.norm_2),
        };
        let residual = |norm| Residual {
            norm,
            dropout: &self.dropout,
            norm_first: self.norm_first,
        };
        let x = residual(first).around(input, attend);
        residual(second).around(x, |x| self.pwff.forward(x))
    }
}

impl ModuleDisplay for TransformerEncoder {
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
