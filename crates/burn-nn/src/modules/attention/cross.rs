//! [`CrossAttention`]: queries from one sequence over keys and values from another, whose heads may be shared.

use super::heads::{self, Scores};
use crate::modules::cache::TensorCache;
use crate::{Dropout, DropoutConfig, Linear, LinearConfig};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::{Bool, Device, Tensor};
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

/// Describes a [`CrossAttention`].
#[derive(Config, Debug)]
pub struct CrossAttentionConfig {
    /// Size of the features of the queries and the output.
    pub d_model: usize,
    /// Size of the features of the context.
    pub d_context: usize,
    /// Heads of the queries.
    pub n_heads: usize,
    /// Heads of keys and values; as many heads of queries in a row share one. 1 is multi-query attention (Shazeer 2019),
    /// more is grouped-query attention (Ainslie and others 2023).
    pub n_heads_kv: usize,
    /// Features of a head.
    pub d_head: usize,
    /// The chance of a weight to become zero in training.
    #[config(default = 0.1)]
    pub dropout: f64,
    /// The score of what is masked.
    #[config(default = "-1.0e4")]
    pub min_float: f64,
    /// Whether the weights of a query may all be 0 (Miller 2023).
    #[config(default = false)]
    pub quiet_softmax: bool,
}

/// Attention of one sequence over another.
#[derive(Module, Debug)]
pub struct CrossAttention {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    dropout: Dropout,
    n_heads: usize,
    n_heads_kv: usize,
    d_head: usize,
    scale: f64,
    min_float: f64,
    quiet_softmax: bool,
}

/// Keys and values of a context, computed once.
#[derive(Clone, Debug)]
pub struct CrossAttentionCache {
    /// The keys, `[batch, n_heads_kv, length, d_head]`.
    pub k: TensorCache<4>,
    /// The values, `[batch, n_heads_kv, length, d_head]`.
    pub v: TensorCache<4>,
}

impl CrossAttentionCache {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            k: TensorCache::empty(),
            v: TensorCache::empty(),
        }
    }
}

impl Default for CrossAttentionCache {
    fn default() -> Self {
        Self::new()
    }
}

impl CrossAttentionConfig {
    /// The layer on `device`.
    ///
    /// # Panics
    /// If heads cannot share keys evenly.
    #[track_caller]
    pub fn init(&self, device: &Device) -> CrossAttention {
        let (heads, shared) = (self.n_heads, self.n_heads_kv);
        assert!(
            shared > 0 && heads.is_multiple_of(shared),
            "`CrossAttention`: `n_heads` is {heads}, `n_heads_kv` is {shared}\n  legal: `n_heads_kv` divides `n_heads`"
        );
        let inner = heads * self.d_head;
        let context = || LinearConfig::new(self.d_context, shared * self.d_head).init(device);
        CrossAttention {
            query: LinearConfig::new(self.d_model, inner).init(device),
            key: context(),
            value: context(),
            output: LinearConfig::new(inner, self.d_model).init(device),
            dropout: DropoutConfig::new(self.dropout).init(),
            n_heads: heads,
            n_heads_kv: shared,
            d_head: self.d_head,
            scale: 1.0 / (self.d_head as f64).sqrt(),
            min_float: self.min_float,
            quiet_softmax: self.quiet_softmax,
        }
    }
}

impl CrossAttention {
    /// Attends to a context.
    ///
    /// # Shapes
    /// - `query`, output: `[batch, queries, d_model]`
    /// - `context`: `[batch, keys, d_context]`
    /// - `mask`: `[batch, keys]`, true where the context is padding
    ///
    /// # Panics
    /// If the mask has another shape.
    #[track_caller]
    pub fn forward(
        &self,
        query: Tensor<3>,
        context: Tensor<3>,
        mask: Option<Tensor<2, Bool>>,
    ) -> Tensor<3> {
        self.forward_cache(query, context, mask, &mut CrossAttentionCache::new())
    }

    /// [`CrossAttention::forward`] with keys and values that are computed for the first context only: later ones are not
    /// looked at.
    ///
    /// # Panics
    /// If the mask has another shape.
    #[track_caller]
    pub fn forward_cache(
        &self,
        query: Tensor<3>,
        context: Tensor<3>,
        mask: Option<Tensor<2, Bool>>,
        cache: &mut CrossAttentionCache,
    ) -> Tensor<3> {
        let heads = |layer: &Linear| heads::split(layer.forward(context.clone()), self.n_heads_kv);
        let key = cache.k.get_or_init(|| heads(&self.key));
        let value = cache.v.get_or_init(|| heads(&self.value));
        let ([batch, queries, _], keys) = (query.dims(), key.dims()[2]);
        let mask = heads::mask("CrossAttention", mask, None, [batch, queries, keys]);
        // Heads that share keys are more queries of one head.
        let query = heads::split(self.query.forward(query), self.n_heads);
        let shared = self.n_heads_kv;
        let rows = self.n_heads / shared * queries;
        let query = query.reshape([batch, shared, rows, self.d_head]);
        let context = self.scores().context(query, key, value, mask);
        let context = context.reshape([batch, self.n_heads, queries, self.d_head]);
        self.output.forward(heads::join(context))
    }

    fn scores(&self) -> Scores<'_> {
        Scores {
            dropout: &self.dropout,
            scale: self.scale,
            min_float: self.min_float,
            quiet_softmax: self.quiet_softmax,
        }
    }
}
