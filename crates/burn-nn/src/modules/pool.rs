//! Pools.

use super::sizes::Sizes;
use crate::check;
use crate::display::in_one_line;
use crate::padding::{PaddingConfig1d, PaddingConfig2d, Slide};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::Tensor;
use burn_core::tensor::module::{
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, avg_pool1d, avg_pool2d,
    max_pool1d, max_pool2d,
};
use burn_core::tensor::ops::{AvgPoolOptions, MaxPoolOptions};

/// Stops at windows of nothing, or that do not slide.
#[track_caller]
fn windows<const N: usize>(
    layer: &str,
    kernel_size: impl Sizes<N>,
    (field, stride): (&str, impl Sizes<N>),
) {
    check::positive(layer, "kernel_size", &kernel_size.each());
    check::positive(layer, field, &stride.each());
}

macro_rules! max_pool {
    ($name:ident, $config:ident, $of:literal, $dims:literal, $rank:literal, $Size:ty, $stride:ident, $one:tt, $Padding:ident, $function:ident) => {
        #[doc = concat!("Describes a [`", stringify!($name), "`].")]
        #[derive(Config, Debug)]
        pub struct $config {
            /// Elements of a window.
            pub kernel_size: $Size,
            /// Elements from one window to the next; by default those of a window.
            #[config(default = kernel_size)]
            pub $stride: $Size,
            /// What lies around the input; it is never the largest.
            #[config(default = $Padding::Valid)]
            pub padding: $Padding,
            /// From one element of a window to the next.
            #[config(default = $one)]
            pub dilation: $Size,
            /// Whether a window may be cut off at the end.
            #[config(default = false)]
            pub ceil_mode: bool,
        }

        #[doc = concat!("The largest element of each window of ", $of, ".")]
        #[derive(Module, Debug)]
        #[module(custom_display)]
        pub struct $name {
            /// Elements of a window.
            pub kernel_size: $Size,
            /// Elements from one window to the next.
            pub stride: $Size,
            /// What lies around the input.
            #[module(skip)]
            pub padding: $Padding,
            /// From one element of a window to the next.
            pub dilation: $Size,
            /// Whether a window may be cut off at the end.
            pub ceil_mode: bool,
        }

        impl $config {
            /// The layer.
            ///
            /// # Panics
            /// If a kernel size, stride or dilation is 0.
            #[track_caller]
            pub fn init(&self) -> $name {
                windows::<$dims>(
                    stringify!($name),
                    self.kernel_size,
                    (stringify!($stride), self.$stride),
                );
                check::positive(
                    stringify!($name),
                    "dilation",
                    &Sizes::<$dims>::each(self.dilation),
                );
                $name {
                    kernel_size: self.kernel_size,
                    stride: self.$stride,
                    padding: self.padding,
                    dilation: self.dilation,
                    ceil_mode: self.ceil_mode,
                }
            }
        }

        impl $name {
            /// Takes the maxima of `[batch, channels, …]`.
            #[track_caller]
            pub fn forward(&self, input: Tensor<$rank>) -> Tensor<$rank> {
                let slide = Slide::<$dims> {
                    kernel: self.kernel_size.each(),
                    stride: self.stride.each(),
                    dilation: self.dilation.each(),
                };
                let options = MaxPoolOptions::new(slide.kernel)
                    .with_stride(slide.stride)
                    .with_padding_pairs(self.padding.pairs(&input.dims()[2..], &slide))
                    .with_dilation(slide.dilation)
                    .with_ceil_mode(self.ceil_mode);
                $function(input, options)
            }
        }

        in_one_line! {
            $name { ; debug kernel_size, stride, padding, dilation, ceil_mode }
        }
    };
}

macro_rules! avg_pool {
    ($name:ident, $config:ident, $of:literal, $dims:literal, $rank:literal, $Size:ty, $stride:ident, $Padding:ident, $function:ident) => {
        #[doc = concat!("Describes an [`", stringify!($name), "`].")]
        #[derive(Config, Debug)]
        pub struct $config {
            /// Elements of a window.
            pub kernel_size: $Size,
            /// Elements from one window to the next; by default those of a window.
            #[config(default = kernel_size)]
            pub $stride: $Size,
            /// What lies around the input.
            #[config(default = $Padding::Valid)]
            pub padding: $Padding,
            /// Whether padding counts as zeros; otherwise it is left out of the mean.
            #[config(default = true)]
            pub count_include_pad: bool,
            /// Whether a window may be cut off at the end.
            #[config(default = false)]
            pub ceil_mode: bool,
        }

        #[doc = concat!("The mean of each window of ", $of, ".")]
        #[derive(Module, Debug)]
        #[module(custom_display)]
        pub struct $name {
            /// Elements of a window.
            pub kernel_size: $Size,
            /// Elements from one window to the next.
            pub stride: $Size,
            /// What lies around the input.
            #[module(skip)]
            pub padding: $Padding,
            /// Whether padding counts as zeros.
            pub count_include_pad: bool,
            /// Whether a window may be cut off at the end.
            pub ceil_mode: bool,
        }

        impl $config {
            /// The layer.
            ///
            /// # Panics
            /// If a kernel size or stride is 0.
            #[track_caller]
            pub fn init(&self) -> $name {
                windows::<$dims>(
                    stringify!($name),
                    self.kernel_size,
                    (stringify!($stride), self.$stride),
                );
                $name {
                    kernel_size: self.kernel_size,
                    stride: self.$stride,
                    padding: self.padding,
                    count_include_pad: self.count_include_pad,
                    ceil_mode: self.ceil_mode,
                }
            }
        }

        impl $name {
            /// Takes the means of `[batch, channels, …]`.
            #[track_caller]
            pub fn forward(&self, input: Tensor<$rank>) -> Tensor<$rank> {
                let slide = Slide::<$dims> {
                    kernel: self.kernel_size.each(),
                    stride: self.stride.each(),
                    dilation: [1; $dims],
                };
                let options = AvgPoolOptions::new(slide.kernel)
                    .with_stride(slide.stride)
                    .with_padding_pairs(self.padding.pairs(&input.dims()[2..], &slide))
                    .with_count_include_pad(self.count_include_pad)
                    .with_ceil_mode(self.ceil_mode);
                $function(input, options)
            }
        }

        in_one_line! {
            $name { ; debug kernel_size, stride, padding, count_include_pad, ceil_mode }
        }
    };
}

macro_rules! adaptive_avg_pool {
    ($name:ident, $config:ident, $of:literal, $rank:literal, $Size:ty, $function:ident) => {
        #[doc = concat!("Describes an [`", stringify!($name), "`].")]
        #[derive(Config, Debug)]
        pub struct $config {
            /// The spatial size of the output.
            pub output_size: $Size,
        }

        #[doc = concat!("The mean of each of so many parts of ", $of, ", whatever their size.")]
        #[derive(Module, Debug)]
        #[module(custom_display)]
        pub struct $name {
            /// The spatial size of the output.
            pub output_size: $Size,
        }

        impl $config {
            /// The layer.
            pub fn init(&self) -> $name {
                $name {
                    output_size: self.output_size,
                }
            }
        }

        impl $name {
            /// Takes the means of `[batch, channels, …]`.
            #[track_caller]
            pub fn forward(&self, input: Tensor<$rank>) -> Tensor<$rank> {
                $function(input, self.output_size)
            }
        }

        in_one_line! {
            $name { ; debug output_size }
        }
    };
}

max_pool!(
    MaxPool1d,
    MaxPool1dConfig,
    "lines",
    1,
    3,
    usize,
    stride,
    1,
    PaddingConfig1d,
    max_pool1d
);
max_pool!(
    MaxPool2d,
    MaxPool2dConfig,
    "images",
    2,
    4,
    [usize; 2],
    strides,
    [1, 1],
    PaddingConfig2d,
    max_pool2d
);
avg_pool!(
    AvgPool1d,
    AvgPool1dConfig,
    "lines",
    1,
    3,
    usize,
    stride,
    PaddingConfig1d,
    avg_pool1d
);
avg_pool!(
    AvgPool2d,
    AvgPool2dConfig,
    "images",
    2,
    4,
    [usize; 2],
    strides,
    PaddingConfig2d,
    avg_pool2d
);
adaptive_avg_pool!(
    AdaptiveAvgPool1d,
    AdaptiveAvgPool1dConfig,
    "lines",
    3,
    usize,
    adaptive_avg_pool1d
);
adaptive_avg_pool!(
    AdaptiveAvgPool2d,
    AdaptiveAvgPool2dConfig,
    "images",
    4,
    [usize; 2],
    adaptive_avg_pool2d
);
adaptive_avg_pool!(
    AdaptiveAvgPool3d,
    AdaptiveAvgPool3dConfig,
    "volumes",
    5,
    [usize; 3],
    adaptive_avg_pool3d
);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use burn_core::tensor::{Device, Int};

    fn line(count: i64) -> Tensor<3> {
        let line = Tensor::<1, Int>::arange(1..count + 1, &Device::default());
        line.float().reshape([1, 1, count as usize])
    }

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[test]
    fn windows_do_not_overlap_by_default() {
        let max = MaxPool1dConfig::new(2).init();
        assert_eq!(values(max.forward(line(5))), [2.0, 4.0]);
        let mean = AvgPool1dConfig::new(2).with_ceil_mode(true).init();
        assert_eq!(values(mean.forward(line(5))), [1.5, 3.5, 5.0]);
    }

    #[test]
    fn same_padding_counts_as_zeros_in_means_if_asked_for() {
        let config = AvgPool1dConfig::new(2)
            .with_stride(1)
            .with_padding(PaddingConfig1d::Same);
        assert_eq!(values(config.init().forward(line(3))), [1.5, 2.5, 1.5]);
        let config = config.with_count_include_pad(false);
        assert_eq!(values(config.init().forward(line(3))), [1.5, 2.5, 3.0]);
        let max = MaxPool1dConfig::new(2)
            .with_stride(1)
            .with_dilation(2)
            .with_padding(PaddingConfig1d::Same);
        // Pairs two apart, with one unseen element on either side.
        assert_eq!(values(max.init().forward(line(4))), [2.0, 3.0, 4.0, 3.0]);
    }

    #[test]
    fn adaptive_pools_have_the_size_that_was_asked_for() {
        let image = Tensor::<4>::ones([2, 3, 7, 5], &Device::default());
        let pool = AdaptiveAvgPool2dConfig::new([3, 4]).init();
        let output = pool.forward(image);
        assert_eq!(output.dims(), [2, 3, 3, 4]);
        assert!(values(output).iter().all(|x| *x == 1.0));
        let pool = AdaptiveAvgPool1dConfig::new(2).init();
        assert_eq!(values(pool.forward(line(3))), [1.5, 2.5]);
    }

    #[test]
    fn pools_print_their_options() {
        let pool = MaxPool2dConfig::new([3, 2]).init();
        assert_eq!(
            format!("{pool}"),
            "MaxPool2d {kernel_size: [3, 2], stride: [3, 2], padding: Valid, dilation: [1, 1], ceil_mode: false}"
        );
    }

    #[test]
    fn a_window_that_would_start_in_the_padding_behind_is_dropped() {
        let padding = PaddingConfig1d::Explicit(1, 1);
        let max = MaxPool1dConfig::new(2)
            .with_stride(3)
            .with_padding(padding)
            .with_ceil_mode(true)
            .init();
        assert_eq!(values(max.forward(line(5))), [1.0, 4.0]);
        let mean = AvgPool1dConfig::new(2)
            .with_padding(padding)
            .with_ceil_mode(true);
        assert_eq!(
            values(mean.clone().init().forward(line(5))),
            [0.5, 2.5, 4.5]
        );
        let mean = mean.with_count_include_pad(false);
        assert_eq!(values(mean.init().forward(line(5))), [1.0, 2.5, 4.5]);
    }

    #[test]
    #[should_panic(
        expected = "`MaxPool2d`: the field `strides` is [2, 0]\n  legal: at least 1 each"
    )]
    fn windows_slide() {
        MaxPool2dConfig::new([2, 2]).with_strides([2, 0]).init();
    }
}
