//! [`Linear`]: an affine map of the last dimension.

use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::{Device, Tensor, module::linear};

use crate::Initializer;

/// The gain that makes the bound of a Kaiming initialization `1 / √fan`.
const FRAC_1_SQRT_3: f64 = 0.577_350_269_189_625_8;

/// How the weight of a [`Linear`] lies in files; its shape in the module does not change.
#[derive(Config, Copy, Debug, PartialEq, Eq)]
pub enum LinearLayout {
    /// `[d_input, d_output]`.
    Row,
    /// `[d_output, d_input]`: transposed when it is read and written.
    Col,
}

/// Describes a [`Linear`].
#[derive(Config, Debug)]
pub struct LinearConfig {
    /// Size of the last dimension of the input.
    pub d_input: usize,
    /// Size of the last dimension of the output.
    pub d_output: usize,
    /// Whether a bias is added.
    #[config(default = true)]
    pub bias: bool,
    /// Draws the weight and the bias. By default uniform in `±1 / √d_input`.
    #[config(default = "Initializer::KaimingUniform { gain: FRAC_1_SQRT_3, fan_out_only: false }")]
    pub initializer: Initializer,
    /// How the weight is stored.
    #[config(default = "LinearLayout::Row")]
    pub layout: LinearLayout,
}

/// An affine map of the last dimension: `output = input · weight + bias`.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Linear {
    /// `[d_input, d_output]`.
    pub weight: Param<Tensor<2>>,
    /// `[d_output]`.
    pub bias: Option<Param<Tensor<1>>>,
}

impl LinearConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> Linear {
        let (inputs, outputs) = (self.d_input, self.d_output);
        let (fan_in, fan_out) = (Some(inputs), Some(outputs));
        let weight = self
            .initializer
            .init_with([inputs, outputs], fan_in, fan_out, device);
        let weight = match self.layout {
            LinearLayout::Row => weight,
            LinearLayout::Col => weight
                .save_mapper(Tensor::transpose)
                .load_mapper(Tensor::transpose),
        };
        let bias = || {
            self.initializer
                .init_with([outputs], fan_in, fan_out, device)
        };
        let bias = self.bias.then(bias);
        Linear { weight, bias }
    }
}

impl Linear {
    /// Maps the last dimension.
    ///
    /// # Shapes
    /// - input: `[…, d_input]`
    /// - output: `[…, d_output]`
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        linear(input, self.weight.val(), self.bias.as_ref().map(Param::val))
    }
}

impl ModuleDisplay for Linear {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new()
            .with_new_line_after_attribute(false)
            .optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let shape = self.weight.lazy_shape();
        let [d_input, d_output] = [shape.as_slice()[0], shape.as_slice()[1]];
        content
            .add("d_input", &d_input)
            .add("d_output", &d_output)
            .add("bias", &self.bias.is_some())
            .optional()
    }
}
