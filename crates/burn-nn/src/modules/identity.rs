//! [`Identity`]: nothing.

use burn_core::module::Module;
use burn_core::tensor::Tensor;

/// Passes its input on, where a layer is expected and none is wanted.
#[derive(Module, Debug, Default)]
pub struct Identity;

impl Identity {
    /// The module; it has no parameters.
    pub fn new() -> Self {
        Self
    }

    /// The input.
    pub fn forward<const R: usize>(&self, input: Tensor<R>) -> Tensor<R> {
        input
    }
}
