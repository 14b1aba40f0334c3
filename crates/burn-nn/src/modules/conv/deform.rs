//! [`DeformConv2d`]: a convolution whose windows are bent.

use super::{groups, parameters, windows};

use crate::Initializer;
use crate::modules::{DEFAULT_INITIALIZER, inline};
use crate::padding::{PaddingConfig2d, Slide};
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::module::deform_conv2d;
use burn_core::tensor::ops::DeformConvOptions;
use burn_core::tensor::{Device, Tensor};

/// Describes a [`DeformConv2d`].
#[derive(Config, Debug)]
pub struct DeformConv2dConfig {
    /// Channels in and out.
    pub channels: [usize; 2],
    /// Elements of a window.
    pub kernel_size: [usize; 2],
    /// Elements from one window to the next.
    #[config(default = [1, 1])]
    pub stride: [usize; 2],
    /// From one element of a window to the next.
    #[config(default = [1, 1])]
    pub dilation: [usize; 2],
    /// Parts of the channels that do not see each other.
    #[config(default = 1)]
    pub weight_groups: usize,
    /// Parts of the channels in with offsets of their own.
    #[config(default = 1)]
    pub offset_groups: usize,
    /// What lies around the input: zeros.
    #[config(default = "PaddingConfig2d::Valid")]
    pub padding: PaddingConfig2d,
    /// Whether a bias is added.
    #[config(default = true)]
    pub bias: bool,
    /// Draws the weight and the bias. By default uniform in `±1 / √n` for `n` inputs an output.
    #[config(default = "DEFAULT_INITIALIZER")]
    pub initializer: Initializer,
}

/// A convolution whose windows are bent: each of its elements is read from where an offset says, between elements by
/// bilinear interpolation (Dai and others 2017, equation 2), and scaled by a mask (Zhu and others 2019, equation 1).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct DeformConv2d {
    /// `[channels out, channels in / weight groups, kernel height, kernel width]`.
    pub weight: Param<Tensor<4>>,
    /// `[channels out]`.
    pub bias: Option<Param<Tensor<1>>>,
    /// Elements from one window to the next.
    pub stride: [usize; 2],
    /// Elements of a window.
    pub kernel_size: [usize; 2],
    /// From one element of a window to the next.
    pub dilation: [usize; 2],
    /// Parts of the channels that do not see each other.
    pub weight_groups: usize,
    /// Parts of the channels in with offsets of their own.
    pub offset_groups: usize,
    /// What lies around the input: zeros.
    #[module(skip)]
    pub padding: PaddingConfig2d,
}

impl DeformConv2dConfig {
    /// The layer on `device`.
    ///
    /// # Panics
    /// If the groups do not divide the channels, or a kernel size, stride or dilation is 0.
    #[track_caller]
    pub fn init(&self, device: &Device) -> DeformConv2d {
        const NAME: &str = "DeformConv2d";
        let channels = self.channels;
        windows(NAME, &self.kernel_size, &self.stride, &self.dilation);
        groups(NAME, "weight_groups", self.weight_groups, &channels);
        groups(NAME, "offset_groups", self.offset_groups, &channels[..1]);
        let (weight, bias) = parameters(
            channels,
            self.weight_groups,
            &self.kernel_size,
            false,
            (&self.initializer, self.bias),
            device,
        );
        DeformConv2d {
            weight,
            bias,
            stride: self.stride,
            kernel_size: self.kernel_size,
            dilation: self.dilation,
            weight_groups: self.weight_groups,
            offset_groups: self.offset_groups,
            padding: self.padding,
        }
    }
}

impl DeformConv2d {
    /// Convolves images.
    ///
    /// # Shapes
    /// - `input`: `[batch, channels in, height, width]`
    /// - `offset`: `[batch, offset groups · kernel height · kernel width · 2, rows, columns]`, down before across
    /// - `mask`: `[batch, offset groups · kernel height · kernel width, rows, columns]`
    /// - output: `[batch, channels out, rows, columns]`
    #[track_caller]
    pub fn forward(
        &self,
        input: Tensor<4>,
        offset: Tensor<4>,
        mask: Option<Tensor<4>>,
    ) -> Tensor<4> {
        let slide = Slide::<2> {
            kernel: self.kernel_size,
            stride: self.stride,
            dilation: self.dilation,
        };
        let sides = self.padding.pairs(&input.dims()[2..], &slide);
        // The function pads both sides alike: what differs is padded here.
        let (input, padding) = match sides.iter().all(|(before, after)| before == after) {
            true => (input, sides.map(|(before, _)| before)),
            false => (input.pad(sides, 0.0), [0, 0]),
        };
        let options = DeformConvOptions::new(
            self.stride,
            padding,
            self.dilation,
            self.weight_groups,
            self.offset_groups,
        );
        let bias = self.bias.as_ref().map(Param::val);
        deform_conv2d(input, offset, self.weight.val(), mask, bias, options)
    }
}

impl ModuleDisplay for DeformConv2d {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add_debug_attribute("stride", &self.stride)
            .add_debug_attribute("kernel_size", &self.kernel_size)
            .add_debug_attribute("dilation", &self.dilation)
            .add("weight_groups", &self.weight_groups)
            .add("offset_groups", &self.offset_groups)
            .add_debug_attribute("padding", &self.padding)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conv::Conv2dConfig;
    use alloc::format;
    use burn_core::tensor::Distribution;

    #[test]
    fn straight_windows_are_a_convolution_whatever_the_padding() {
        let device = Device::default();
        let image = Tensor::<4>::random([2, 4, 6, 5], Distribution::Default, &device);
        for padding in [
            PaddingConfig2d::Valid,
            PaddingConfig2d::Same,
            PaddingConfig2d::Explicit(1, 0, 2, 1),
        ] {
            let straight = Conv2dConfig::new([4, 2], [3, 2])
                .with_groups(2)
                .with_padding(padding)
                .init(&device);
            let mut bent = DeformConv2dConfig::new([4, 2], [3, 2])
                .with_weight_groups(2)
                .with_offset_groups(2)
                .with_padding(padding)
                .init(&device);
            bent.weight = straight.weight.clone();
            bent.bias = straight.bias.clone();
            let expected = straight.forward(image.clone());
            let [_, _, rows, columns] = expected.dims();
            let offset = Tensor::zeros([2, 24, rows, columns], &device);
            let mask = Tensor::ones([2, 12, rows, columns], &device);
            let found = bent.forward(image.clone(), offset, Some(mask));
            // f32: sums of twelve products of values below 1.
            assert!(found.all_close(expected, None, Some(1e-6)));
        }
    }

    #[test]
    fn the_layer_prints_its_options() {
        let layer = DeformConv2dConfig::new([2, 4], [3, 3]).init(&Device::default());
        assert_eq!(
            format!("{layer}"),
            "DeformConv2d {stride: [1, 1], kernel_size: [3, 3], dilation: [1, 1], weight_groups: 1, offset_groups: 1, padding: Valid, params: 76}"
        );
    }

    #[test]
    #[should_panic(
        expected = "`DeformConv2d`: the field `offset_groups` is 3, the channels are [4]"
    )]
    fn offsets_divide_the_channels() {
        let config = DeformConv2dConfig::new([4, 6], [3, 3]).with_offset_groups(3);
        config.init(&Device::default());
    }
}
