//! Low-rank adapters beside matrices of few bits: [`QLora`].

use burn_tensor::Tensor;

use super::{Lora, LoraAdapter, Reparameterizer};
use crate::module::{Param, Quantizer};

/// Adapters as of [`Lora`], beside matrices that a [`Quantizer`] makes codes of (Dettmers et al., 2023).
///
/// Adapters are of the dtype that [`Lora::dtype`] says, or else of that which the matrix had. Gradients flow to them around the
/// codes, which are constants. A matrix outside [`Quantizer::group`] stays as it is.
#[derive(Clone, Debug)]
pub struct QLora {
    pub(crate) lora: Lora,
    quantizer: Quantizer,
}

impl QLora {
    /// Adapters beside matrices of few bits.
    pub fn new(lora: Lora, quantizer: Quantizer) -> Self {
        Self { lora, quantizer }
    }
}

impl Reparameterizer for QLora {
    type Reparam = LoraAdapter;

    fn reparameterize<const D: usize>(
        &mut self,
        path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<LoraAdapter>) {
        match self.lora.reparameterize(path, param) {
            (param, Some(adapter)) if self.quantizer.group.matches(&param.id, Some(path)) => {
                (self.quantizer.quantize(path, param), Some(adapter))
            }
            other => other,
        }
    }
}
