//! Convolutions, transposed convolutions and the deformable one.

mod deform;

pub use deform::{DeformConv2d, DeformConv2dConfig};

use super::sizes::Sizes;
use crate::modules::{DEFAULT_INITIALIZER, inline};
use crate::padding::{PaddingConfig1d, PaddingConfig2d, PaddingConfig3d, Slide};
use crate::{Initializer, check};
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay, Param};
use burn_core::tensor::Tensor;
use burn_core::tensor::module::{
    conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv3d,
};
use burn_core::tensor::ops::{ConvOptions, ConvTransposeOptions};
use burn_core::tensor::{Device, Shape};

/// Stops at windows of nothing, or that do not slide.
#[track_caller]
fn windows(layer: &str, kernel_size: &[usize], stride: &[usize], dilation: &[usize]) {
    check::positive(layer, "kernel_size", kernel_size);
    check::positive(layer, "stride", stride);
    check::positive(layer, "dilation", dilation);
}

/// Stops at channels that do not fall into groups.
#[track_caller]
fn groups(layer: &str, field: &str, groups: usize, channels: &[usize]) {
    let whole = |channels: &usize| channels.is_multiple_of(groups);
    assert!(
        groups > 0 && channels.iter().all(whole),
        "`{layer}`: the field `{field}` is {groups}, the channels are {channels:?}\n  legal: a number of groups that divides the channels"
    );
}

/// The parameters of a convolution whose weight has shape `[rows, columns, kernel…]`, drawn for as many inputs an output.
fn parameters<const D: usize>(
    [channels_in, channels_out]: [usize; 2],
    groups: usize,
    kernel: &[usize],
    transposed: bool,
    (initializer, bias): (&Initializer, bool),
    device: &Device,
) -> (Param<Tensor<D>>, Option<Param<Tensor<1>>>) {
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
            #[config(default = DEFAULT_INITIALIZER)]
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
            /// If the groups do not divide the channels, or a kernel size, stride or dilation is 0.
            #[track_caller]
            pub fn init(&self, device: &Device) -> $name {
                let both: fn(&Self) -> [usize; 2] = $both;
                let channels = both(self);
                let kernel: [usize; $dims] = self.kernel_size.each();
                let (stride, dilation): ([_; $dims], [_; $dims]) = (self.stride.each(), self.dilation.each());
                windows(stringify!($name), &kernel, &stride, &dilation);
                groups(stringify!($name), "groups", self.groups, &channels);
                let (weight, bias) = parameters(
                    channels,
                    self.groups,
                    &kernel,
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
            #[config(default = DEFAULT_INITIALIZER)]
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
            /// If the groups do not divide the channels, or a kernel size, stride or dilation is 0.
            #[track_caller]
            pub fn init(&self, device: &Device) -> $name {
                let kernel: [usize; $dims] = self.kernel_size.each();
                let (stride, dilation): ([_; $dims], [_; $dims]) =
                    (self.stride.each(), self.dilation.each());
                windows(stringify!($name), &kernel, &stride, &dilation);
                groups(stringify!($name), "groups", self.groups, &self.channels);
                let (weight, bias) = parameters(
                    self.channels,
                    self.groups,
                    &kernel,
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
    use burn_core::tensor::{Int, TensorData};

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
    #[should_panic(expected = "`Conv2d`: the field `groups` is 3, the channels are [4, 8]")]
    fn groups_divide_the_channels() {
        let config = Conv2dConfig::new([4, 8], [3, 3]).with_groups(3);
        config.init(&Device::default());
    }

    #[test]
    #[should_panic(
        expected = "`ConvTranspose2d`: the field `stride` is [1, 0]\n  legal: at least 1 each"
    )]
    fn windows_slide() {
        let config = ConvTranspose2dConfig::new([4, 8], [3, 3]).with_stride([1, 0]);
        config.init(&Device::default());
    }

    #[test]
    fn an_infinite_weight_meets_the_padding() {
        let device = Device::default();
        for (channels, groups) in [(1, 1), (4, 1), (5, 1), (4, 4)] {
            let mut layer = Conv2dConfig::new([channels, channels], [3, 3])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                .with_groups(groups)
                .with_bias(false)
                .init(&device);
            let inputs = channels / groups;
            let mut weight = alloc::vec![1.0; channels * inputs * 9];
            weight[0] = f32::NEG_INFINITY;
            let weight = TensorData::new(weight, [channels, inputs, 3, 3]);
            layer.weight = Param::from_data(weight, &device);
            let image = Tensor::<1, Int>::arange(1..10, &device).float();
            let image = image.reshape([1, 1, 3, 3]).expand([1, channels, 3, 3]);
            let found = values(layer.forward(image).narrow(1, 0, 1));
            // In the first row and column the infinite weight meets a zero around: NaN.
            for (at, found) in found.into_iter().enumerate() {
                match at < 3 || at % 3 == 0 {
                    true => assert!(found.is_nan(), "{channels} {groups} {at}: {found}"),
                    false => assert_eq!(found, f32::NEG_INFINITY, "{channels} {groups} {at}"),
                }
            }
        }
    }

    #[test]
    fn a_weight_is_drawn_when_it_is_read() {
        let layer = Conv1dConfig::new(2, 6, 3)
            .with_initializer(Initializer::XavierUniform { gain: 1.0 })
            .init(&Device::default());
        // √(6 / (6 + 18))
        assert!(largest(layer.weight.val()) <= 0.5);
    }
}
