//! [`Interpolate1d`] and [`Interpolate2d`]: lines and images of another size.

use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::Tensor;
use burn_core::tensor::module::interpolate;
use burn_core::tensor::ops;

/// How values between elements come about.
#[derive(Config, Debug, PartialEq, Eq)]
pub enum InterpolateMode {
    /// The element below.
    Nearest,
    /// The element nearest to the centre.
    NearestExact,
    /// On a straight line between the two neighbours.
    Linear,
    /// On a cubic through four neighbours (Keys 1981, with `a = -0.75`).
    Cubic,
    /// By Lanczos' windowed sine over six neighbours.
    Lanczos,
}

impl From<InterpolateMode> for ops::InterpolateMode {
    fn from(mode: InterpolateMode) -> Self {
        match mode {
            InterpolateMode::Nearest => Self::Nearest,
            InterpolateMode::NearestExact => Self::NearestExact,
            InterpolateMode::Linear => Self::Bilinear,
            InterpolateMode::Cubic => Self::Bicubic,
            InterpolateMode::Lanczos => Self::Lanczos3,
        }
    }
}

macro_rules! layer {
    ($(#[$doc:meta])* $name:ident, $config:ident, $Size:ty, $Factor:ty, $each:expr) => {
        #[doc = concat!("Describes an [`", stringify!($name), "`]: either a size or a factor.")]
        #[derive(Config, Debug)]
        pub struct $config {
            /// The size of the output.
            pub output_size: Option<$Size>,
            /// What the size of the input is multiplied by; the product is rounded down.
            pub scale_factor: Option<$Factor>,
            /// How values between elements come about.
            #[config(default = "InterpolateMode::Nearest")]
            pub mode: InterpolateMode,
            /// Whether the centres of the outermost elements stay in place, rather than their outer edges. The nearest
            /// modes take no notice.
            #[config(default = true)]
            pub align_corners: bool,
        }

        $(#[$doc])*
        #[derive(Module, Debug)]
        #[module(custom_display)]
        pub struct $name {
            /// The size of the output.
            pub output_size: Option<$Size>,
            /// What the size of the input is multiplied by.
            pub scale_factor: Option<$Factor>,
            /// How values between elements come about.
            #[module(skip)]
            pub mode: InterpolateMode,
            /// Whether the centres of the outermost elements stay in place.
            pub align_corners: bool,
        }

        impl $config {
            /// The layer.
            ///
            /// # Panics
            /// If there are both a size and a factor, or a factor is not a positive number.
            #[track_caller]
            pub fn init(self) -> $name {
                let both = self.output_size.is_some() && self.scale_factor.is_some();
                check::field(
                    !both,
                    stringify!($name),
                    "scale_factor",
                    self.scale_factor,
                    "none beside an `output_size`",
                );
                for factor in self.scale_factor.into_iter().flat_map($each) {
                    let ok = factor > 0.0 && factor.is_finite();
                    check::field(ok, stringify!($name), "scale_factor", factor, "above 0");
                }
                $name {
                    output_size: self.output_size,
                    scale_factor: self.scale_factor,
                    mode: self.mode,
                    align_corners: self.align_corners,
                }
            }
        }

        in_one_line! {
            $name { ; debug mode, output_size, scale_factor }
        }
    };
}

layer! {
    /// Lines of another size.
    Interpolate1d, Interpolate1dConfig, usize, f32, |factor| [factor]
}

layer! {
    /// Images of another size.
    Interpolate2d, Interpolate2dConfig, [usize; 2], [f32; 2], |factors| factors
}

impl Interpolate1d {
    /// Resizes lines.
    ///
    /// # Shapes
    /// - input: `[batch, channels, length]`
    /// - output: `[batch, channels, output length]`
    ///
    /// # Panics
    /// If there is neither a size nor a factor.
    #[track_caller]
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let options = ops::InterpolateOptions {
            output_size: self.output_size.map(|size| [1, size]),
            scale_factor: self.scale_factor.map(|factor| [1.0, factor]),
            mode: self.mode.clone().into(),
            align_corners: self.align_corners,
        };
        let images: Tensor<4> = input.unsqueeze_dim(2);
        interpolate(images, options).squeeze_dim(2)
    }
}

impl Interpolate2d {
    /// Resizes images.
    ///
    /// # Shapes
    /// - input: `[batch, channels, height, width]`
    /// - output: `[batch, channels, output height, output width]`
    ///
    /// # Panics
    /// If there is neither a size nor a factor.
    #[track_caller]
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let options = ops::InterpolateOptions {
            output_size: self.output_size,
            scale_factor: self.scale_factor,
            mode: self.mode.clone().into(),
            align_corners: self.align_corners,
        };
        interpolate(input, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use burn_core::tensor::Device;

    fn line() -> Tensor<3> {
        Tensor::from_data([[[1.0, 2.0, 4.0, 8.0]]], &Device::default())
    }

    #[test]
    fn a_factor_is_rounded_down() {
        let layer = Interpolate1dConfig::new()
            .with_scale_factor(Some(1.6))
            .init();
        let expected = [[[1.0, 1.0, 2.0, 4.0, 4.0, 8.0]]];
        layer
            .forward(line())
            .into_data()
            .assert_eq(&expected.into(), false);
        let layer = Interpolate2dConfig::new()
            .with_scale_factor(Some([2.0, 0.5]))
            .init();
        let image = Tensor::ones([1, 2, 3, 5], &Device::default());
        assert_eq!(layer.forward(image).dims(), [1, 2, 6, 2]);
    }

    #[test]
    fn the_layer_prints_its_sizes() {
        let layer = Interpolate1dConfig::new().with_output_size(Some(3)).init();
        assert_eq!(
            format!("{layer}"),
            "Interpolate1d {mode: Nearest, output_size: Some(3), scale_factor: None}"
        );
    }

    #[test]
    #[should_panic(
        expected = "`Interpolate1d`: the field `scale_factor` is Some(2.0)\n  legal: none beside"
    )]
    fn a_size_and_a_factor_are_refused() {
        Interpolate1dConfig::new()
            .with_output_size(Some(3))
            .with_scale_factor(Some(2.0))
            .init();
    }

    #[test]
    #[should_panic(expected = "`Interpolate2d`: the field `scale_factor` is -1.0")]
    fn a_negative_factor_is_refused() {
        Interpolate2dConfig::new()
            .with_scale_factor(Some([2.0, -1.0]))
            .init();
    }

    #[test]
    #[should_panic(expected = "`interpolate`: the options have no size")]
    fn a_layer_without_a_size_does_not_run() {
        Interpolate1dConfig::new().init().forward(line());
    }
}
