//! Convolutions and transposed convolutions.

use super::inline;
use super::sizes::Sizes;
use crate::Initializer;
use crate::padding::{PaddingConfig1d, PaddingConfig2d, PaddingConfig3d, Slide};
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::Tensor;
use burn_core::tensor::module::{
    conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv3d,
};
use burn_core::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn_core::tensor::{Device, Shape};

/// The gain that makes the bound of a Kaiming initialization `1 / √fan`.
const FRAC_1_SQRT_3: f64 = 0.577_350_269_189_625_8;

/// The parameters of a convolution whose weight has shape `[rows, columns, kernel…]`, drawn for as many inputs an output.
///
/// # Panics
/// If the channels do not fall into the groups.
#[track_caller]
fn parameters<const D: usize>(
    name: &str,
    [channels_in, channels_out]: [usize; 2],
    groups: usize,
    kernel: &[usize],
    transposed: bool,
    (initializer, bias): (&Initializer, bool),
    device: &Device,
) -> (Param<Tensor<D>>, Option<Param<Tensor<1>>>) {
    assert!(
        groups > 0 && channels_in.is_multiple_of(groups) && channels_out.is_multiple_of(groups),
        "`{name}`: {channels_in} channels in and {channels_out} out do not fall into {groups} groups\n  legal: a number of groups that divides both"
    );
    let area: usize = kernel.iter().product();
    let (rows, columns) = match transposed {
        true => (channels_in, channels_out / groups),
        false => (channels_out, channels_in / groups),
    };
    let shape: Shape = [rows, columns].iter().chain(kernel).copied().collect();
    // Within a group, and read off the weight's shape also where it is used transposed, as PyTorch does.
    let (fan_in, fan_out) = (Some(columns * area), Some(rows / groups * area));
    let weight = initializer.init_with(shape, fan_in, fan_out, device);
    let bias = bias.then(|| initializer.init_with([channels_out], fan_in, fan_out, device));
    (weight, bias)
}

macro_rules! conv {
    (
        $name:ident, $config:ident, $of:literal, $dims:literal, $rank:literal, $Size:ty, $one:tt, $Padding:ident,
        $function:ident, { $($(#[$doc:meta])* $channels:ident: $Channels:ty),* }, $both:expr
    ) => {
        #[doc = concat!("Describes a [`", stringify!($name), "`].")]
        #[derive(Config, Debug)]
        pub struct $config {
            $($(#[$doc])* pub $channels: $Channels,)*
            /// Elements of a window.
            pub kernel_size: $Size,
            /// Elements from one window to the next.
            #[config(default = $one)]
            pub stride: $Size,
            /// From one element of a window to the next.
            #[config(default = $one)]
            pub dilation: $Size,
            /// Parts of the channels that do not see each other.
            #[config(default = 1)]
            pub groups: usize,
            /// What lies around the input: zeros.
            #[config(default = $Padding::Valid)]
            pub padding: $Padding,
            /// Whether a bias is added.
            #[config(default = true)]
            pub bias: bool,
            /// Draws the weight and the bias. By default uniform in `±1 / √n` for `n` inputs an output.
            #[config(default = Initializer::KaimingUniform { gain: FRAC_1_SQRT_3, fan_out_only: false })]
            pub initializer: Initializer,
        }

        #[doc = concat!("The cross-correlation of ", $of, " with a weight for each pair of channels, and a bias.")]
        #[derive(Module, Debug)]
        #[module(custom_display)]
        pub struct $name {
            /// `[channels out, channels in / groups, kernel size…]`.
            pub weight: Param<Tensor<$rank>>,
            /// `[channels out]`.
            pub bias: Option<Param<Tensor<1>>>,
            /// Elements from one window to the next.
            pub stride: $Size,
            /// Elements of a window.
            pub kernel_size: $Size,
            /// From one element of a window to the next.
            pub dilation: $Size,
            /// Parts of the channels that do not see each other.
            pub groups: usize,
            /// What lies around the input: zeros.
            #[module(skip)]
            pub padding: $Padding,
        }

        impl $config {
            /// The layer on `device`.
            ///
            /// # Panics
            /// If the channels do not fall into the groups.
            #[track_caller]
            pub fn init(&self, device: &Device) -> $name {
                let both: fn(&Self) -> [usize; 2] = $both;
                let (weight, bias) = parameters(
                    stringify!($name),
                    both(self),
                    self.groups,
                    &Sizes::<$dims>::each(self.kernel_size),
                    false,
                    (&self.initializer, self.bias),
                    device,
                );
                $name {
                    weight,
                    bias,
                    stride: self.stride,
                    kernel_size: self.kernel_size,
                    dilation: self.dilation,
                    groups: self.groups,
                    padding: self.padding,
                }
            }
        }

        impl $name {
            /// Convolves `[batch, channels in, …]` to `[batch, channels out, windows…]`.
            #[track_caller]
            pub fn forward(&self, input: Tensor<$rank>) -> Tensor<$rank> {
                let slide = Slide::<$dims> {
                    kernel: self.kernel_size.each(),
                    stride: self.stride.each(),
                    dilation: self.dilation.each(),
                };
                let padding = self.padding.pairs(&input.dims()[2..], &slide);
                let options = ConvOptions::new_with_padding(
                    slide.stride,
                    padding,
                    slide.dilation,
                    self.groups,
                );
                let bias = self.bias.as_ref().map(Param::val);
                $function(input, self.weight.val(), bias, options)
            }
        }

        impl ModuleDisplay for $name {
            fn custom_settings(&self) -> Option<DisplaySettings> {
                inline()
            }

            fn custom_content(&self, content: Content) -> Option<Content> {
                let shape = self.weight.lazy_shape();
                content
                    .add("ch_in", &(shape[1] * self.groups))
                    .add("ch_out", &shape[0])
                    .add_debug_attribute("stride", &self.stride)
                    .add_debug_attribute("kernel_size", &self.kernel_size)
                    .add_debug_attribute("dilation", &self.dilation)
                    .add("groups", &self.groups)
                    .add_debug_attribute("padding", &self.padding)
                    .optional()
            }
        }
    };
}

macro_rules! conv_transpose {
    ($name:ident, $config:ident, $of:literal, $dims:literal, $rank:literal, $Size:ty, $one:tt, $zero:tt, $function:ident) => {
        #[doc = concat!("Describes a [`", stringify!($name), "`].")]
        #[derive(Config, Debug)]
        pub struct $config {
            /// Channels in and out.
            pub channels: [usize; 2],
            /// Elements of a window.
            pub kernel_size: $Size,
            /// Elements of the output from one element of the input to the next.
            #[config(default = $one)]
            pub stride: $Size,
            /// From one element of a window to the next.
            #[config(default = $one)]
            pub dilation: $Size,
            /// Parts of the channels that do not see each other.
            #[config(default = 1)]
            pub groups: usize,
            /// Elements cut from either side of the output.
            #[config(default = $zero)]
            pub padding: $Size,
            /// Elements more at the end of the output.
            #[config(default = $zero)]
            pub padding_out: $Size,
            /// Whether a bias is added.
            #[config(default = true)]
            pub bias: bool,
            /// Draws the weight and the bias. By default uniform in `±1 / √n`, where `n` is the size of a window times the
            /// channels out of a group.
            #[config(default = Initializer::KaimingUniform { gain: FRAC_1_SQRT_3, fan_out_only: false })]
            pub initializer: Initializer,
        }

        #[doc = concat!("The adjoint of a convolution of ", $of, ", and a bias.")]
        #[derive(Module, Debug)]
        #[module(custom_display)]
        pub struct $name {
            /// `[channels in, channels out / groups, kernel size…]`.
            pub weight: Param<Tensor<$rank>>,
            /// `[channels out]`.
            pub bias: Option<Param<Tensor<1>>>,
            /// Channels in and out.
            pub channels: [usize; 2],
            /// Elements of the output from one element of the input to the next.
            pub stride: $Size,
            /// Elements of a window.
            pub kernel_size: $Size,
            /// From one element of a window to the next.
            pub dilation: $Size,
            /// Parts of the channels that do not see each other.
            pub groups: usize,
            /// Elements cut from either side of the output.
            pub padding: $Size,
            /// Elements more at the end of the output.
            pub padding_out: $Size,
        }

        impl $config {
            /// The layer on `device`.
            ///
            /// # Panics
            /// If the channels do not fall into the groups.
            #[track_caller]
            pub fn init(&self, device: &Device) -> $name {
                let (weight, bias) = parameters(
                    stringify!($name),
                    self.channels,
                    self.groups,
                    &Sizes::<$dims>::each(self.kernel_size),
                    true,
                    (&self.initializer, self.bias),
                    device,
                );
                $name {
                    weight,
                    bias,
                    channels: self.channels,
                    stride: self.stride,
                    kernel_size: self.kernel_size,
                    dilation: self.dilation,
                    groups: self.groups,
                    padding: self.padding,
                    padding_out: self.padding_out,
                }
            }
        }

        impl $name {
            /// Convolves `[batch, channels in, …]` to `[batch, channels out, …]`.
            #[track_caller]
            pub fn forward(&self, input: Tensor<$rank>) -> Tensor<$rank> {
                let options = ConvTransposeOptions::new(
                    self.stride.each(),
                    self.padding.each(),
                    self.padding_out.each(),
                    self.dilation.each(),
                    self.groups,
                );
                let bias = self.bias.as_ref().map(Param::val);
                $function(input, self.weight.val(), bias, options)
            }
        }

        impl ModuleDisplay for $name {
            fn custom_settings(&self) -> Option<DisplaySettings> {
                inline()
            }

            fn custom_content(&self, content: Content) -> Option<Content> {
                content
                    .add_debug_attribute("channels", &self.channels)
                    .add_debug_attribute("stride", &self.stride)
                    .add_debug_attribute("kernel_size", &self.kernel_size)
                    .add_debug_attribute("dilation", &self.dilation)
                    .add("groups", &self.groups)
                    .add_debug_attribute("padding", &self.padding)
                    .add_debug_attribute("padding_out", &self.padding_out)
                    .optional()
            }
        }
    };
}

conv!(
    Conv1d, Conv1dConfig, "lines", 1, 3, usize, 1, PaddingConfig1d, conv1d,
    {
        /// Channels in.
        channels_in: usize,
        /// Channels out.
        channels_out: usize
    },
    |config| [config.channels_in, config.channels_out]
);
conv!(
    Conv2d, Conv2dConfig, "images", 2, 4, [usize; 2], [1, 1], PaddingConfig2d, conv2d,
    {
        /// Channels in and out.
        channels: [usize; 2]
    },
    |config| config.channels
);
conv!(
    Conv3d, Conv3dConfig, "volumes", 3, 5, [usize; 3], [1, 1, 1], PaddingConfig3d, conv3d,
    {
        /// Channels in and out.
        channels: [usize; 2]
    },
    |config| config.channels
);
conv_transpose!(
    ConvTranspose1d,
    ConvTranspose1dConfig,
    "lines",
    1,
    3,
    usize,
    1,
    0,
    conv_transpose1d
);
conv_transpose!(
    ConvTranspose2d,
    ConvTranspose2dConfig,
    "images",
    2,
    4,
    [usize; 2],
    [1, 1],
    [0, 0],
    conv_transpose2d
);
conv_transpose!(
    ConvTranspose3d,
    ConvTranspose3dConfig,
    "volumes",
    3,
    5,
    [usize; 3],
    [1, 1, 1],
    [0, 0, 0],
    conv_transpose3d
);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    fn largest<const D: usize>(tensor: Tensor<D>) -> f32 {
        values(tensor).iter().fold(0.0, |most, x| x.abs().max(most))
    }

    #[test]
    fn a_convolution_keeps_its_size_and_knows_its_sides() {
        let device = Device::default();
        let config = Conv1dConfig::new(1, 1, 2)
            .with_initializer(Initializer::Ones)
            .with_bias(false);
        let line = || Tensor::<3>::from_data([[[1.0, 2.0, 3.0, 4.0]]], &device);
        let same = config.clone().with_padding(PaddingConfig1d::Same);
        assert_eq!(
            values(same.init(&device).forward(line())),
            [3.0, 5.0, 7.0, 4.0]
        );
        let explicit = config.with_padding(PaddingConfig1d::Explicit(1, 0));
        assert_eq!(
            values(explicit.init(&device).forward(line())),
            [1.0, 3.0, 5.0, 7.0]
        );
        let image = Tensor::<4>::ones([1, 4, 6, 5], &device);
        let layer = Conv2dConfig::new([4, 8], [3, 2])
            .with_stride([2, 1])
            .with_groups(2)
            .init(&device);
        assert_eq!(layer.forward(image).dims(), [1, 8, 2, 4]);
        assert_eq!(layer.weight.val().dims(), [8, 2, 3, 2]);
    }

    #[test]
    fn a_transposed_convolution_undoes_the_size() {
        let device = Device::default();
        let layer = ConvTranspose2dConfig::new([3, 2], [3, 3])
            .with_stride([2, 2])
            .with_padding([1, 1])
            .with_padding_out([1, 1])
            .init(&device);
        let image = Tensor::<4>::ones([1, 3, 4, 5], &device);
        assert_eq!(layer.forward(image).dims(), [1, 2, 8, 10]);
        assert_eq!(layer.weight.val().dims(), [3, 2, 3, 3]);
    }

    #[test]
    fn weights_start_within_the_root_of_the_inputs() {
        let device = Device::default();
        let layer = Conv2dConfig::new([16, 256], [3, 3])
            .with_groups(4)
            .init(&device);
        let bias = layer.bias.expect("a layer has one by default");
        for most in [largest(layer.weight.val()), largest(bias.val())] {
            // 1 / √(4 · 9)
            assert!(most <= 1.0 / 6.0 && most > 0.15, "{most}");
        }
        let layer = ConvTranspose1dConfig::new([16, 64], 4).init(&device);
        let most = largest(layer.weight.val());
        // 1 / √(64 · 4)
        assert!(most <= 1.0 / 16.0 && most > 0.062, "{most}");
    }

    #[test]
    fn convolutions_print_their_options() {
        let device = Device::default();
        let layer = Conv1dConfig::new(4, 8, 3).init(&device);
        assert_eq!(
            format!("{layer}"),
            "Conv1d {ch_in: 4, ch_out: 8, stride: 1, kernel_size: 3, dilation: 1, groups: 1, padding: Valid, params: 104}"
        );
        let padding = PaddingConfig2d::Explicit(1, 2, 3, 4);
        let layer = Conv2dConfig::new([4, 8], [3, 5])
            .with_padding(padding)
            .with_bias(false)
            .init(&device);
        assert_eq!(
            format!("{layer}"),
            "Conv2d {ch_in: 4, ch_out: 8, stride: [1, 1], kernel_size: [3, 5], dilation: [1, 1], groups: 1, padding: Explicit(1, 2, 3, 4), params: 480}"
        );
        let layer = ConvTranspose1dConfig::new([4, 8], 3).init(&device);
        assert_eq!(
            format!("{layer}"),
            "ConvTranspose1d {channels: [4, 8], stride: 1, kernel_size: 3, dilation: 1, groups: 1, padding: 0, padding_out: 0, params: 104}"
        );
    }

    #[test]
    #[should_panic(expected = "`Conv2d`: 4 channels in and 8 out do not fall into 3 groups")]
    fn groups_divide_the_channels() {
        let config = Conv2dConfig::new([4, 8], [3, 3]).with_groups(3);
        config.init(&Device::default());
    }
}
