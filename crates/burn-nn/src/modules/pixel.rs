//! [`PixelShuffle`] and [`PixelUnshuffle`]: channels as blocks of pixels, and back.

use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::Tensor;

/// Describes a [`PixelShuffle`].
#[derive(Config, Debug)]
pub struct PixelShuffleConfig {
    /// Side of a block.
    pub upscale_factor: usize,
}

/// Makes each `r²` channels one channel of blocks of `r × r` pixels (Shi and others 2016, equation 4).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct PixelShuffle {
    /// Side of a block.
    pub upscale_factor: usize,
}

impl PixelShuffleConfig {
    /// The layer.
    ///
    /// # Panics
    /// If the factor is 0.
    #[track_caller]
    pub fn init(&self) -> PixelShuffle {
        let upscale_factor = self.upscale_factor;
        check::positive("PixelShuffle", "upscale_factor", &[upscale_factor]);
        PixelShuffle { upscale_factor }
    }
}

impl PixelShuffle {
    /// Rearranges images.
    ///
    /// # Shapes
    /// - input: `[batch, channels · r², height, width]`
    /// - output: `[batch, channels, height · r, width · r]`
    ///
    /// # Panics
    /// If `r²` does not divide the channels.
    #[track_caller]
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let [batch, channels, height, width] = input.dims();
        let r = self.upscale_factor;
        assert!(
            channels.is_multiple_of(r * r),
            "`PixelShuffle`: `upscale_factor` is {r}, but there are {channels} channels\n  legal: a multiple of {} channels",
            r * r
        );
        let channels = channels / (r * r);
        input
            .reshape([batch, channels, r, r, height, width])
            .permute([0, 1, 4, 2, 5, 3])
            .reshape([batch, channels, height * r, width * r])
    }
}

/// Describes a [`PixelUnshuffle`].
#[derive(Config, Debug)]
pub struct PixelUnshuffleConfig {
    /// Side of a block.
    pub downscale_factor: usize,
}

/// Makes each block of `r × r` pixels one pixel of `r²` as many channels: the inverse of [`PixelShuffle`].
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct PixelUnshuffle {
    /// Side of a block.
    pub downscale_factor: usize,
}

impl PixelUnshuffleConfig {
    /// The layer.
    ///
    /// # Panics
    /// If the factor is 0.
    #[track_caller]
    pub fn init(&self) -> PixelUnshuffle {
        let downscale_factor = self.downscale_factor;
        check::positive("PixelUnshuffle", "downscale_factor", &[downscale_factor]);
        PixelUnshuffle { downscale_factor }
    }
}

impl PixelUnshuffle {
    /// Rearranges images.
    ///
    /// # Shapes
    /// - input: `[batch, channels, height · r, width · r]`
    /// - output: `[batch, channels · r², height, width]`
    ///
    /// # Panics
    /// If `r` does not divide height and width.
    #[track_caller]
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let [batch, channels, height, width] = input.dims();
        let r = self.downscale_factor;
        assert!(
            height.is_multiple_of(r) && width.is_multiple_of(r),
            "`PixelUnshuffle`: `downscale_factor` is {r}, but images are {height} × {width}\n  legal: multiples of {r}"
        );
        let (height, width) = (height / r, width / r);
        input
            .reshape([batch, channels, height, r, width, r])
            .permute([0, 1, 3, 5, 2, 4])
            .reshape([batch, channels * r * r, height, width])
    }
}

in_one_line! {
    PixelShuffle { upscale_factor }
    PixelUnshuffle { downscale_factor }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::{Device, Int};

    #[test]
    fn channels_become_blocks_and_blocks_channels() {
        let device = Device::default();
        let images = Tensor::<1, Int>::arange(0..8, &device).float();
        let images: Tensor<4> = images.reshape([1, 4, 1, 2]);
        let large = PixelShuffleConfig::new(2).init().forward(images.clone());
        let expected = [[[[0.0, 2.0, 1.0, 3.0], [4.0, 6.0, 5.0, 7.0]]]];
        large.to_data().assert_eq(&expected.into(), false);
        let back = PixelUnshuffleConfig::new(2).init().forward(large);
        back.into_data().assert_eq(&images.into_data(), true);
    }

    #[test]
    #[should_panic(expected = "`PixelShuffle`: `upscale_factor` is 2, but there are 6 channels")]
    fn the_square_of_the_factor_divides_the_channels() {
        let images = Tensor::ones([1, 6, 1, 1], &Device::default());
        PixelShuffleConfig::new(2).init().forward(images);
    }

    #[test]
    #[should_panic(expected = "`PixelUnshuffle`: `downscale_factor` is 2, but images are 4 × 3")]
    fn the_factor_divides_the_sides() {
        let images = Tensor::ones([1, 6, 4, 3], &Device::default());
        PixelUnshuffleConfig::new(2).init().forward(images);
    }
}
