//! [`Identity`]: a layer that does nothing.

use burn_core::module::Module;
use burn_core::tensor::Tensor;

/// Gives its input back: for where a layer is asked for and none is wanted.
#[derive(Module, Debug, Default)]
pub struct Identity;

impl Identity {
    /// The layer; it has no parameters.
    pub fn new() -> Self {
        Self
    }

    /// The input.
    pub fn forward<const R: usize>(&self, input: Tensor<R>) -> Tensor<R> {
        input
    }
}
