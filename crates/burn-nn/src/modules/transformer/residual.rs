//! The residual path around a part of a layer.

use crate::{Dropout, LayerNorm};
use burn_core::tensor::Tensor;

/// A part of a layer with what surrounds it.
pub(super) struct Residual<'a> {
    pub norm: &'a LayerNorm,
    pub dropout: &'a Dropout,
    /// Whether the part sees what is normalized; otherwise the sum is.
    pub norm_first: bool,
}

impl Residual<'_> {
    /// `x + part(norm(x))` or `norm(x + part(x))`.
    #[track_caller]
    pub fn around(&self, input: Tensor<3>, part: impl FnOnce(Tensor<3>) -> Tensor<3>) -> Tensor<3> {
        match self.norm_first {
            true => {
                let output = part(self.norm.forward(input.clone()));
                self.dropout.forward(output).add(input)
            }
            false => {
                let output = part(input.clone());
                self.norm.forward(self.dropout.forward(output).add(input))
            }
        }
    }
}
