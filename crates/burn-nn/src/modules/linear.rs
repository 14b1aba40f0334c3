//! [`Linear`]: an affine map of the last dimension.

use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::{Device, Tensor, module::linear};

use crate::Initializer;
use crate::modules::inline;

/// The gain that makes the bound of a Kaiming initialization `1 / √fan`.
const FRAC_1_SQRT_3: f64 = 0.577_350_269_189_625_8;

/// Uniform in `±1 / √fan_in`.
pub(crate) const DEFAULT_INITIALIZER: Initializer = Initializer::KaimingUniform {
    gain: FRAC_1_SQRT_3,
    fan_out_only: false,
};

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
    #[config(default = "DEFAULT_INITIALIZER")]
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
        inline()
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    fn linear(bias: bool) -> Linear {
        let device = Device::default();
        let weight = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        Linear {
            weight: Param::from_data(weight, &device),
            bias: bias.then(|| Param::from_data([10.0, 20.0, 30.0], &device)),
        }
    }

    #[test]
    fn the_last_dimension_is_mapped_whatever_the_rank() {
        let device = Device::default();
        let (layer, plain) = (linear(true), linear(false));
        // [1, 2] · weight = [1 + 8, 2 + 10, 3 + 12]
        let one = Tensor::<1>::from_data([1.0, 2.0], &device);
        assert_eq!(values(plain.forward(one.clone())), [9.0, 12.0, 15.0]);
        assert_eq!(values(layer.forward(one)), [19.0, 32.0, 45.0]);

        let three = Tensor::<3>::from_data(
            [[[1.0, 2.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]]],
            &device,
        );
        let output = layer.forward(three);
        assert_eq!(output.dims(), [2, 2, 3]);
        let expected = [
            19.0, 32.0, 45.0, 14.0, 25.0, 36.0, 11.0, 22.0, 33.0, 10.0, 20.0, 30.0,
        ];
        assert_eq!(values(output), expected);
    }

    #[test]
    fn weight_and_bias_start_within_the_root_of_the_inputs() {
        let device = Device::default();
        let layer = LinearConfig::new(16, 1000).init(&device);
        let bias = layer.bias.as_ref().expect("a layer has one by default");
        for drawn in [values(layer.weight.val()), values(bias.val())] {
            let max = drawn.iter().fold(0.0, |max: f32, x| max.max(x.abs()));
            // 1 / √16
            assert!(max <= 0.25 && max > 0.24, "{max}");
        }
    }

    #[test]
    fn another_initializer_knows_both_sizes_when_the_weight_is_read() {
        let initializer = Initializer::XavierUniform { gain: 1.0 };
        let config = LinearConfig::new(18, 6).with_initializer(initializer);
        let layer = config.with_bias(true).init(&Device::default());
        let bias = layer.bias.as_ref().expect("it was asked for");
        for drawn in [values(layer.weight.val()), values(bias.val())] {
            // √(6 / (18 + 6))
            assert!(drawn.iter().all(|x| x.abs() <= 0.5));
        }
    }

    #[test]
    fn a_weight_stored_by_columns_is_used_by_rows() {
        let device = Device::default();
        let config = LinearConfig::new(2, 3).with_bias(false);
        let stored = linear(false).weight.val().transpose();
        let record = Linear {
            weight: Param::from_tensor(stored),
            bias: None,
        }
        .into_record();
        let layer = config.with_layout(LinearLayout::Col).init(&device);
        let layer = layer.load_record(record);
        assert_eq!(values(layer.weight.val()), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_layer_prints_its_sizes() {
        let layer = LinearConfig::new(2, 3).init(&Device::default());
        assert_eq!(
            format!("{layer}"),
            "Linear {d_input: 2, d_output: 3, bias: true, params: 9}"
        );
        assert!(!layer.weight.is_initialized());
    }

    #[test]
    #[should_panic(expected = "linear")]
    fn an_input_of_another_size_is_refused_by_name() {
        linear(true).forward(Tensor::<2>::ones([1, 4], &Device::default()));
    }
}
