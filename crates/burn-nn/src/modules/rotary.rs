//! [`RotaryEncoding`]: pairs of features turned by an angle that grows with the position (Su and others 2021, section
//! 3.2.2).
//!
//! ```text
//! (x[2i], x[2i + 1]) turned by t · θ[i],    θ[i] = θ^(-2i / d)
//! ```

use super::inline;
use alloc::vec::Vec;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Device, Int, Tensor, TensorData};
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

/// Describes a [`RotaryEncoding`].
#[derive(Config, Debug)]
pub struct RotaryEncodingConfig {
    /// How many positions are kept ready.
    pub max_sequence_length: usize,
    /// Size of the features, even.
    pub d_model: usize,
    /// The base `θ` of the rates.
    #[config(default = 10_000.0)]
    pub theta: f32,
}

/// Turns pairs of features by angles that grow with the position.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct RotaryEncoding {
    /// Cosine and sine of the angles, each twice: `[max_sequence_length, d_model, 2]`.
    pub freq_complex: Tensor<3>,
    /// The rates, `[d_model / 2]`.
    pub theta: Tensor<1>,
    /// The position of the first row of `freq_complex`.
    start: usize,
}

impl RotaryEncodingConfig {
    /// The layer on `device`.
    ///
    /// # Panics
    /// If `d_model` is odd, or `theta` is not above 0.
    #[track_caller]
    pub fn init(&self, device: &Device) -> RotaryEncoding {
        self.init_with_frequency_scaling(|rates| rates, device)
    }

    /// The layer on `device` with rates `[d_model / 2]` that `scaling` changes.
    ///
    /// # Panics
    /// If `d_model` is odd, `theta` is not above 0, or the scaling gives another shape.
    #[track_caller]
    pub fn init_with_frequency_scaling(
        &self,
        scaling: impl Fn(Tensor<1>) -> Tensor<1>,
        device: &Device,
    ) -> RotaryEncoding {
        let (width, base) = (self.d_model, f64::from(self.theta));
        assert!(
            width.is_multiple_of(2),
            "`RotaryEncoding`: `d_model` is {width}\n  legal: an even number"
        );
        assert!(
            base > 0.0,
            "`RotaryEncoding`: `theta` is {base}\n  legal: a number above 0"
        );
        let rate = |pair: usize| base.powf(-2.0 * pair as f64 / width as f64) as f32;
        let rates: Vec<f32> = (0..width / 2).map(rate).collect();
        let rates = TensorData::new(rates, [width / 2]);
        let theta = scaling(Tensor::from_data(rates, device));
        assert!(
            theta.dims() == [width / 2],
            "`RotaryEncoding`: the scaled rates have the shape {:?}\n  legal: [{}]",
            theta.dims(),
            width / 2
        );
        RotaryEncoding {
            freq_complex: turns(&theta, 0, self.max_sequence_length),
            theta,
            start: 0,
        }
    }
}

impl RotaryEncoding {
    /// Turns the features, where the first position of the input is the first that is kept ready.
    ///
    /// # Shapes
    /// - input and output: `[…, length, d_model]`
    ///
    /// # Panics
    /// If the input has more positions than are ready, or other features.
    #[track_caller]
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        self.apply(x, 0)
    }

    /// [`RotaryEncoding::forward`] where the first position of the input is `start` behind the first that is kept ready.
    ///
    /// # Panics
    /// If the input has more positions than are ready, or other features.
    #[track_caller]
    pub fn apply<const D: usize>(&self, x: Tensor<D>, start: usize) -> Tensor<D> {
        const {
            assert!(
                D >= 2,
                "a rotary encoding takes at least positions and features"
            )
        };
        let dims = x.dims();
        let [length, features] = [dims[D - 2], dims[D - 1]];
        let [ready, width, _] = self.freq_complex.dims();
        assert!(
            start + length <= ready && features == width,
            "`RotaryEncoding`: the input has {length} positions of {features} features, from {start}\n  legal: positions up to {ready} of {width} features"
        );
        let turns = self.freq_complex.clone().narrow(0, start, length);
        let part = |at: usize| -> Tensor<3> {
            let shape = [1, length, width];
            turns.clone().narrow(2, at, 1).reshape(shape)
        };
        let (cos, sin) = (part(0), part(1));
        // (a, b) turned is (a, b) · cos + (-b, a) · sin.
        let signs = Tensor::<1>::from_data([-1.0, 1.0], (&x.device(), x.dtype()));
        let signs = signs.reshape([1, 1, 1, 2]);
        let rows = x.reshape([-1, length as isize, width as isize]);
        let batch = rows.dims()[0];
        let pairs = rows.clone().reshape([batch, length, width / 2, 2]);
        let across = pairs.flip([3]).mul(signs);
        let across = across.reshape([batch, length, width]);
        rows.mul(cos).add(across.mul(sin)).reshape(dims)
    }

    /// Keeps ready the positions from `start` on instead of the present ones, for a sequence that goes on.
    pub fn shift(&mut self, start: usize) {
        if start != self.start {
            let ready = self.freq_complex.dims()[0];
            self.freq_complex = turns(&self.theta, start, ready);
            self.start = start;
        }
    }

    /// Keeps ready the positions from 0 on.
    pub fn reset(&mut self) {
        self.shift(0);
    }
}

/// Cosine and sine of `t · θ` for `length` positions `t` from `start` on, each for both features of a pair.
fn turns(theta: &Tensor<1>, start: usize, length: usize) -> Tensor<3> {
    let pairs = theta.dims()[0];
    let (from, to) = (start as i64, (start + length) as i64);
    let positions = Tensor::<1, Int>::arange(from..to, &theta.device());
    let positions = positions.float().cast(theta.dtype()).reshape([length, 1]);
    let angles = positions.mul(theta.clone().reshape([1, pairs]));
    let both = |part: Tensor<2>| -> Tensor<3> {
        let twice = part.reshape([length, pairs, 1]).repeat_dim(2, 2);
        twice.reshape([length, 2 * pairs, 1])
    };
    Tensor::cat(
        alloc::vec![both(angles.clone().cos()), both(angles.sin())],
        2,
    )
}

impl ModuleDisplay for RotaryEncoding {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let [ready, width, _] = self.freq_complex.dims();
        content
            .add("d_model", &width)
            .add("max_sequence_length", &ready)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[track_caller]
    fn assert_close(found: Vec<f32>, expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            // f32: sines of angles below 10, and one sum.
            assert!(
                (f64::from(*found) - expected).abs() < 1e-6,
                "{found} {expected}"
            );
        }
    }

    fn layer() -> RotaryEncoding {
        let config = RotaryEncodingConfig::new(4, 4).with_theta(100.0);
        config.init(&Device::default())
    }

    #[test]
    fn pairs_are_turned_by_position_times_rate() {
        let x = Tensor::<2>::from_data([[1.0, 0.0, 0.0, 1.0]; 3], &Device::default());
        let turned = |t: f64| {
            let (fast, slow) = (t, t * 0.1);
            [fast.cos(), fast.sin(), -slow.sin(), slow.cos()]
        };
        let expected = [turned(0.0), turned(1.0), turned(2.0)].concat();
        assert_close(values(layer().forward(x.clone())), &expected);
        let heads: Tensor<4> = x.clone().expand([2, 3, 3, 4]);
        assert_close(values(layer().forward(heads)), &expected.repeat(6));
        let expected = [turned(1.0), turned(2.0), turned(3.0)].concat();
        assert_close(values(layer().apply(x, 1)), &expected);
    }

    #[test]
    fn a_shift_moves_the_positions_that_are_ready() {
        let mut layer = layer();
        let x = || Tensor::<2>::from_data([[1.0, 0.0, 1.0, 0.0]], &Device::default());
        layer.shift(5);
        let turned = |t: f64| [t.cos(), t.sin(), (t * 0.1).cos(), (t * 0.1).sin()];
        assert_close(values(layer.forward(x())), &turned(5.0));
        assert_close(values(layer.apply(x(), 2)), &turned(7.0));
        layer.reset();
        assert_close(values(layer.forward(x())), &turned(0.0));
    }

    #[test]
    fn rates_can_be_scaled() {
        let config = RotaryEncodingConfig::new(2, 4).with_theta(100.0);
        let layer = config.init_with_frequency_scaling(|x| x.mul_scalar(0.5), &Device::default());
        assert_close(values(layer.theta.clone()), &[0.5, 0.05]);
        assert_eq!(
            format!("{layer}"),
            "RotaryEncoding {d_model: 4, max_sequence_length: 2}"
        );
        assert_eq!(layer.num_params(), 0);
    }

    #[test]
    #[should_panic(expected = "`RotaryEncoding`: the input has 4 positions of 4 features, from 1")]
    fn positions_that_are_not_ready_are_refused() {
        layer().apply(Tensor::<2>::ones([4, 4], &Device::default()), 1);
    }
}
