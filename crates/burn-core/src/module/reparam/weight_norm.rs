//! Weight normalization: lengths and directions of weights, trained apart.

use alloc::vec::Vec;

use burn_tensor::Tensor;

use super::{Reparameterization, Reparameterizer};
use crate::module::{Module, Param, ParamGroup};

/// Splits weights into lengths and directions (Salimans and Kingma, 2016, equation 2): the base is trained for its
/// direction only, and the lengths, one for each index of a dim, are parameters of their own.
#[derive(Clone, Debug)]
pub struct WeightNorm {
    /// The dim that keeps its lengths: that of the outputs of a layer. 1 for `Linear`, 0 for convolutions.
    pub dim: usize,
    /// Which parameters of 2 dimensions or more are split; all by default.
    pub param_group: ParamGroup,
}

impl WeightNorm {
    /// Lengths along `dim`.
    pub fn new(dim: usize) -> Self {
        Self {
            dim,
            param_group: ParamGroup::all(),
        }
    }

    /// Sets which parameters are split.
    pub fn set_param_group(mut self, group: ParamGroup) -> Self {
        self.param_group = group;
        self
    }
}

impl Reparameterizer for WeightNorm {
    type Reparam = WeightNormScale;

    /// # Panics
    /// If the parameter does not have the dim.
    fn reparameterize<const D: usize>(
        &mut self,
        path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<WeightNormScale>) {
        if D < 2 || !self.param_group.matches(&param.id, Some(path)) {
            return (param, None);
        }
        let dim = self.dim;
        assert!(
            dim < D,
            "`WeightNorm`: `{path}` has {D} dimensions, and `dim` is {dim}\n  legal: below {D}, or a group without it"
        );
        let lengths = lengths(param.base(), dim).reshape([-1]);
        let scale = WeightNormScale {
            scale: Param::from_tensor(lengths),
            dim,
        };
        (param, Some(scale))
    }
}

/// The lengths of normalized weights.
#[derive(Module, Debug)]
pub struct WeightNormScale {
    /// One length for each index of the dim.
    pub scale: Param<Tensor<1>>,
    /// The dim.
    pub dim: usize,
}

impl Reparameterization for WeightNormScale {
    const NAME: &'static str = "weight_norm";

    fn apply<const D: usize>(&self, tensor: Tensor<D>) -> Tensor<D> {
        let mut shape = [1; D];
        shape[self.dim] = tensor.dims()[self.dim];
        let factor = self.scale.val().reshape(shape) / lengths(tensor.clone(), self.dim);
        tensor * factor
    }
}

/// The Euclidean norms over all dims but one.
fn lengths<const D: usize>(tensor: Tensor<D>, dim: usize) -> Tensor<D> {
    let others: Vec<usize> = (0..D).filter(|other| *other != dim).collect();
    tensor.square().sum_dims(&others).sqrt()
}
