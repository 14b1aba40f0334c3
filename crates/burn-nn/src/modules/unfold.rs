//! [`Unfold4d`] and [`Fold4d`]: windows as columns, and columns added up as windows.

use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::Tensor;
use burn_core::tensor::module::{fold4d, unfold4d};
use burn_core::tensor::ops::UnfoldOptions;

macro_rules! layer {
    (
        $(#[$doc:meta])* $name:ident, $config:ident
        $(, $(#[$field_doc:meta])* $field:ident)?
    ) => {
        #[doc = concat!("Describes a [`", stringify!($name), "`].")]
        #[derive(Config, Debug)]
        pub struct $config {
            $($(#[$field_doc])* pub $field: [usize; 2],)?
            /// Height and width of a window.
            pub kernel_size: [usize; 2],
            /// Elements from one window to the next.
            #[config(default = [1, 1])]
            pub stride: [usize; 2],
            /// From one element of a window to the next.
            #[config(default = [1, 1])]
            pub dilation: [usize; 2],
            /// Zeros on either side of the height and the width.
            #[config(default = [0, 0])]
            pub padding: [usize; 2],
        }

        $(#[$doc])*
        #[derive(Module, Debug)]
        #[module(custom_display)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: [usize; 2],)?
            /// Height and width of a window.
            pub kernel_size: [usize; 2],
            /// Elements from one window to the next.
            pub stride: [usize; 2],
            /// From one element of a window to the next.
            pub dilation: [usize; 2],
            /// Zeros on either side of the height and the width.
            pub padding: [usize; 2],
        }

        impl $config {
            /// The layer.
            ///
            /// # Panics
            /// If a kernel size, stride or dilation is 0.
            #[track_caller]
            pub fn init(&self) -> $name {
                check::positive(stringify!($name), "kernel_size", &self.kernel_size);
                check::positive(stringify!($name), "stride", &self.stride);
                check::positive(stringify!($name), "dilation", &self.dilation);
                $name {
                    $($field: self.$field,)?
                    kernel_size: self.kernel_size,
                    stride: self.stride,
                    dilation: self.dilation,
                    padding: self.padding,
                }
            }
        }

        impl $name {
            fn options(&self) -> UnfoldOptions {
                UnfoldOptions::new(self.stride, self.padding, self.dilation)
            }
        }

        in_one_line! {
            $name { ; debug $($field,)? kernel_size, stride, dilation, padding }
        }
    };
}

layer! {
    /// The windows of images as columns.
    Unfold4d, Unfold4dConfig
}

layer! {
    /// Columns as windows of images, which add up where they overlap: the adjoint of [`Unfold4d`].
    Fold4d, Fold4dConfig,
    /// Height and width of the images.
    output_size
}

impl Unfold4d {
    /// Takes images apart.
    ///
    /// # Shapes
    /// - input: `[batch, channels, height, width]`
    /// - output: `[batch, channels · kernel height · kernel width, windows]`
    #[track_caller]
    pub fn forward(&self, input: Tensor<4>) -> Tensor<3> {
        unfold4d(input, self.kernel_size, self.options())
    }
}

impl Fold4d {
    /// Puts images together.
    ///
    /// # Shapes
    /// - input: `[batch, channels · kernel height · kernel width, windows]`
    /// - output: `[batch, channels, output height, output width]`
    #[track_caller]
    pub fn forward(&self, input: Tensor<3>) -> Tensor<4> {
        fold4d(input, self.output_size, self.kernel_size, self.options())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use burn_core::tensor::Device;

    #[test]
    fn folding_counts_the_windows_over_an_element() {
        let image = Tensor::<4>::ones([1, 1, 3, 3], &Device::default());
        let columns = Unfold4dConfig::new([2, 2]).init().forward(image);
        assert_eq!(columns.dims(), [1, 4, 4]);
        let counts = Fold4dConfig::new([3, 3], [2, 2]).init().forward(columns);
        let expected = [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]];
        counts.into_data().assert_eq(&expected.into(), false);
    }

    #[test]
    fn the_layers_print_their_options() {
        assert_eq!(
            format!("{}", Fold4dConfig::new([4, 4], [2, 2]).init()),
            "Fold4d {output_size: [4, 4], kernel_size: [2, 2], stride: [1, 1], dilation: [1, 1], padding: [0, 0]}"
        );
        assert_eq!(
            format!("{}", Unfold4dConfig::new([2, 2]).init()),
            "Unfold4d {kernel_size: [2, 2], stride: [1, 1], dilation: [1, 1], padding: [0, 0]}"
        );
    }

    #[test]
    #[should_panic(expected = "`Unfold4d`: the field `dilation` is [0, 1]")]
    fn elements_of_a_window_are_apart() {
        Unfold4dConfig::new([2, 2]).with_dilation([0, 1]).init();
    }
}
