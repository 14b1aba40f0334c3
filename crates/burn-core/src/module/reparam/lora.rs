//! Low-rank adapters: [`Lora`] makes them, [`LoraAdapter`] is one.

use burn_std::FloatDType;
use burn_tensor::{Distribution, Tensor};
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use super::{Reparameterization, Reparameterizer};
use crate::module::{Module, Param, ParamGroup};

/// Gives matrices a trained difference of low rank, while they stay (Hu et al., 2021).
#[derive(Clone, Debug)]
pub struct Lora {
    /// The rank of the difference.
    pub rank: usize,
    /// The difference is multiplied by `alpha / rank`.
    pub alpha: f64,
    /// The standard deviation that the first factor starts with; `1 / √rows` of the matrix if there is none, which keeps
    /// the size of what is multiplied by it.
    pub init_std: Option<f64>,
    /// The dtype of the adapters; that of the matrix if there is none.
    pub dtype: Option<FloatDType>,
    /// Which matrices get an adapter; all by default.
    pub param_group: ParamGroup,
}

impl Lora {
    /// Adapters of a rank.
    ///
    /// # Panics
    /// If `rank` is 0.
    #[track_caller]
    pub fn new(rank: usize, alpha: f64) -> Self {
        assert!(rank > 0, "`Lora`: `rank` is 0; legal: 1 or more");
        Self {
            rank,
            alpha,
            init_std: None,
            dtype: None,
            param_group: ParamGroup::all(),
        }
    }

    /// Sets which matrices get an adapter.
    pub fn set_param_group(mut self, group: ParamGroup) -> Self {
        self.param_group = group;
        self
    }

    /// Sets the dtype of the adapters.
    pub fn set_dtype(mut self, dtype: FloatDType) -> Self {
        self.dtype = Some(dtype);
        self
    }

    /// An adapter that changes nothing yet: the second factor is 0.
    fn adapter<const D: usize>(&self, param: &Param<Tensor<D>>) -> LoraAdapter {
        let base = param.base();
        let (dims, device) = (base.dims(), base.device());
        let (rows, columns) = (dims[0], dims[1]);
        let std = self.init_std.unwrap_or(1.0 / (rows.max(1) as f64).sqrt());
        // Beside codes, which are of no type to compute in, adapters are as the device prefers floats.
        let own = match base.dtype().is_quantized() {
            true => device.settings().float_dtype.into(),
            false => base.dtype(),
        };
        let dtype = self.dtype.map_or(own, Into::into);
        let a = Tensor::random(
            [rows, self.rank],
            Distribution::Normal(0.0, std),
            (&device, dtype),
        );
        LoraAdapter {
            a: Param::from_tensor(a),
            b: Param::from_tensor(Tensor::zeros([self.rank, columns], (&device, dtype))),
            scale: self.alpha / self.rank as f64,
        }
    }
}

impl Reparameterizer for Lora {
    type Reparam = LoraAdapter;

    fn reparameterize<const D: usize>(
        &mut self,
        path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<LoraAdapter>) {
        match D == 2 && self.param_group.matches(&param.id, Some(path)) {
            true => {
                let adapter = self.adapter(&param);
                (param.set_require_grad(false), Some(adapter))
            }
            false => (param, None),
        }
    }
}

/// The difference `scale · a · b` to a matrix.
#[derive(Module, Debug)]
pub struct LoraAdapter {
    /// The first factor: `[rows, rank]`.
    pub a: Param<Tensor<2>>,
    /// The second factor: `[rank, columns]`.
    pub b: Param<Tensor<2>>,
    /// Multiplies the product.
    pub scale: f64,
}

impl LoraAdapter {
    /// The difference.
    pub fn delta(&self) -> Tensor<2> {
        self.a.val().matmul(self.b.val()) * self.scale
    }
}

impl Reparameterization for LoraAdapter {
    const NAME: &'static str = "lora";

    fn apply<const D: usize>(&self, tensor: Tensor<D>) -> Tensor<D> {
        let tensor = tensor.dequantize();
        let (shape, dtype) = (tensor.shape(), tensor.dtype());
        tensor + self.delta().cast(dtype).reshape(shape)
    }
}
