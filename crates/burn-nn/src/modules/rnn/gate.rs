//! [`GateController`]: the weights of one gate.

use crate::{Initializer, Linear, LinearConfig};
use burn_core::module::Module;
use burn_core::tensor::{Device, Tensor};

/// A gate of a recurrent layer before its activation: `x · W + b + h · U + c`.
#[derive(Module, Debug)]
pub struct GateController {
    /// Maps the input: `W` and `b`.
    pub input_transform: Linear,
    /// Maps the hidden state: `U` and `c`.
    pub hidden_transform: Linear,
}

impl GateController {
    /// The gate on `device`, from an input of size `d_input` to a hidden state of size `d_output`.
    pub fn new(
        d_input: usize,
        d_output: usize,
        bias: bool,
        initializer: Initializer,
        device: &Device,
    ) -> Self {
        let linear = |d_input| {
            LinearConfig::new(d_input, d_output)
                .with_bias(bias)
                .with_initializer(initializer.clone())
                .init(device)
        };
        Self {
            input_transform: linear(d_input),
            hidden_transform: linear(d_output),
        }
    }

    /// The gate for one position of a sequence.
    ///
    /// # Shapes
    /// - `input`: `[batch, d_input]`
    /// - `hidden`, output: `[batch, d_output]`
    #[track_caller]
    pub fn gate_product(&self, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let input = self.input_transform.forward(input);
        input.add(self.hidden_transform.forward(hidden))
    }

    /// Size of the last dimension of the input.
    pub(super) fn d_input(&self) -> usize {
        self.input_transform.weight.lazy_shape()[0]
    }
}
