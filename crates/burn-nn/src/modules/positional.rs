//! [`PositionalEncoding`]: waves that tell positions apart (Vaswani and others 2017, section 3.5).
//!
//! ```text
//! p[t, 2i] = sin(t / T^(2i / d))    p[t, 2i + 1] = cos(t / T^(2i / d))
//! ```

use super::inline;
use alloc::vec::Vec;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Device, Tensor, TensorData};
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

/// Describes a [`PositionalEncoding`].
#[derive(Config, Debug)]
pub struct PositionalEncodingConfig {
    /// Size of the features, even.
    pub d_model: usize,
    /// The greatest length of a sequence.
    #[config(default = "5_000")]
    pub max_sequence_size: usize,
    /// `T`: the slowest wave takes `2π · T` positions, almost.
    #[config(default = "10_000")]
    pub max_timescale: usize,
}

/// Adds to each position waves of its own.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct PositionalEncoding {
    /// What is added, `[1, max_sequence_size, d_model]`.
    pub sinusoids: Tensor<3>,
    /// The greatest length of a sequence.
    pub max_sequence_size: usize,
    /// `T` of the waves.
    pub max_timescale: usize,
}

impl PositionalEncodingConfig {
    /// The layer on `device`.
    ///
    /// # Panics
    /// If the features cannot be paired.
    #[track_caller]
    pub fn init(&self, device: &Device) -> PositionalEncoding {
        let (length, scale) = (self.max_sequence_size, self.max_timescale);
        PositionalEncoding {
            sinusoids: generate_sinusoids(length, self.d_model, scale, device).unsqueeze_dim(0),
            max_sequence_size: length,
            max_timescale: scale,
        }
    }
}

impl PositionalEncoding {
    /// Adds the waves.
    ///
    /// # Shapes
    /// - input and output: `[batch, length, d_model]`
    ///
    /// # Panics
    /// If a sequence is longer than `max_sequence_size`, or its features are not `d_model`.
    #[track_caller]
    pub fn forward(&self, input: Tensor<3>) -> Tensor<3> {
        let [_, length, features] = input.dims();
        let [_, max, d_model] = self.sinusoids.dims();
        assert!(
            length <= max && features == d_model,
            "`PositionalEncoding`: the input has {length} positions of {features} features\n  legal: at most {max} positions (`max_sequence_size`) of {d_model} (`d_model`)"
        );
        let waves = self.sinusoids.clone().narrow(1, 0, length);
        input.add(waves)
    }
}

/// The waves of [`PositionalEncoding`]: `[length, d_model]`.
///
/// # Panics
/// If `d_model` is odd.
#[track_caller]
pub fn generate_sinusoids(
    length: usize,
    d_model: usize,
    max_timescale: usize,
    device: &Device,
) -> Tensor<2> {
    assert!(
        d_model.is_multiple_of(2),
        "`PositionalEncoding`: `d_model` is {d_model}\n  legal: an even number"
    );
    let rate = |pair: usize| (max_timescale as f64).powf(-2.0 * pair as f64 / d_model as f64);
    let rates: Vec<f64> = (0..d_model / 2).map(rate).collect();
    let waves = (0..length).flat_map(|at| {
        let angles = rates.iter().map(move |rate| at as f64 * rate);
        angles.flat_map(|angle| [angle.sin() as f32, angle.cos() as f32])
    });
    let waves = TensorData::new(waves.collect::<Vec<f32>>(), [length, d_model]);
    Tensor::from_data(waves, device)
}

impl ModuleDisplay for PositionalEncoding {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add("d_model", &self.sinusoids.dims()[2])
            .add("max_sequence_size", &self.max_sequence_size)
            .add("max_timescale", &self.max_timescale)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn positions_get_waves_of_falling_rates() {
        let device = Device::default();
        let config = PositionalEncodingConfig::new(4).with_max_sequence_size(3);
        let layer = config.with_max_timescale(100).init(&device);
        let output = layer.forward(Tensor::ones([2, 2, 4], &device));
        let found: Vec<f32> = output.try_into_vec_as().expect("readable");
        // Rates 1 and 100^(-1/2) = 0.1, at positions 0 and 1.
        let waves = [
            0.0,
            1.0,
            0.0,
            1.0,
            0.841_471,
            0.540_302_3,
            0.099_833_4,
            0.995_004_2,
        ];
        for (found, wave) in found.iter().zip(waves.iter().cycle()) {
            assert!((found - wave - 1.0).abs() < 1e-6, "{found} {wave}");
        }
        assert_eq!(
            format!("{layer}"),
            "PositionalEncoding {d_model: 4, max_sequence_size: 3, max_timescale: 100}"
        );
    }

    #[test]
    #[should_panic(expected = "`PositionalEncoding`: the input has 4 positions of 2 features")]
    fn a_sequence_that_is_too_long_is_refused() {
        let device = Device::default();
        let config = PositionalEncodingConfig::new(2).with_max_sequence_size(3);
        config
            .init(&device)
            .forward(Tensor::ones([1, 4, 2], &device));
    }

    #[test]
    #[should_panic(expected = "`d_model` is 3")]
    fn features_come_in_pairs() {
        PositionalEncodingConfig::new(3).init(&Device::default());
    }
}
