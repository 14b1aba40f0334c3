//! Activations in which one half gates the other: [`GLU`] and [`SwiGlu`].

use crate::modules::inline;
use crate::{Initializer, Linear, LinearConfig, LinearLayout};
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{AsIndex, Device, Tensor, activation};

/// The first half of a dimension times the logistic function of the second (Dauphin and others 2016, equation 1).
#[derive(Module, Debug)]
pub struct GLU {
    dim: isize,
}

impl GLU {
    /// The module for dimension `dim`, counted from the end if it is negative.
    pub fn new(dim: impl AsIndex) -> Self {
        Self { dim: dim.index() }
    }

    /// Gates one half by the other.
    ///
    /// # Shapes
    /// - input: `[…, 2n, …]` with an even size in `dim`
    /// - output: `[…, n, …]`
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        activation::glu(input, self.dim)
    }
}

/// Describes a [`SwiGlu`].
#[derive(Config, Debug)]
pub struct SwiGluConfig {
    /// Size of the last dimension of the input.
    pub d_input: usize,
    /// Size of the last dimension of the output.
    pub d_output: usize,
    /// Whether both maps add a bias.
    #[config(default = false)]
    pub bias: bool,
    /// Draws weights and biases.
    #[config(default = "crate::modules::DEFAULT_INITIALIZER")]
    pub initializer: Initializer,
    /// How the weights are stored.
    #[config(default = "LinearLayout::Row")]
    pub layout: LinearLayout,
}

/// `silu(linear_inner(x)) · linear_outer(x)` (Shazeer 2020, equation 5).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct SwiGlu {
    /// The map that gates.
    pub linear_inner: Linear,
    /// The map that is gated.
    pub linear_outer: Linear,
}

impl SwiGluConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> SwiGlu {
        let linear = LinearConfig::new(self.d_input, self.d_output)
            .with_bias(self.bias)
            .with_initializer(self.initializer.clone())
            .with_layout(self.layout);
        SwiGlu {
            linear_inner: linear.init(device),
            linear_outer: linear.init(device),
        }
    }
}

impl SwiGlu {
    /// Maps the last dimension.
    ///
    /// # Shapes
    /// - input: `[…, d_input]`
    /// - output: `[…, d_output]`
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let gate = activation::silu(self.linear_inner.forward(input.clone()));
        gate.mul(self.linear_outer.forward(input))
    }
}

impl ModuleDisplay for SwiGlu {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let shape = self.linear_inner.weight.lazy_shape();
        content
            .add("d_input", &shape[0])
            .add("d_output", &shape[1])
            .add("bias", &self.linear_inner.bias.is_some())
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    #[test]
    fn both_maps_are_parameters() {
        let layer = SwiGluConfig::new(2, 3).init(&Device::default());
        assert_eq!(
            format!("{layer}"),
            "SwiGlu {d_input: 2, d_output: 3, bias: false, params: 12}"
        );
        assert_eq!(format!("{}", GLU::new(-1)), "GLU {\n  dim: -1\n}");
    }

    #[test]
    fn the_second_half_gates_the_first() {
        let device = Device::default();
        let x = Tensor::<2>::from_data([[1.0, 2.0, 0.0, -1.0]], &device);
        let found: Vec<f32> = GLU::new(1).forward(x).try_into_vec_as().expect("readable");
        // 1 / (1 + e^0) = 1/2, 2 / (1 + e^1)
        assert_eq!(found[0], 0.5);
        assert!((found[1] - 0.537_882_86).abs() < 1e-6);
    }

    #[test]
    #[should_panic(expected = "an even size")]
    fn an_odd_size_has_no_halves() {
        GLU::new(0).forward(Tensor::<1>::ones([3], &Device::default()));
    }
}
