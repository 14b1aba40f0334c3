//! [`Initializer`]: the values that parameters start with.

use alloc::vec::Vec;

use crate::check;
use burn_core::config::Config;
use burn_core::module::{Param, ParamId};
use burn_core::tensor::{Device, Distribution, Shape, Tensor, TensorData};
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

/// How the first value of a parameter is drawn.
///
/// The fan-in is the number of inputs that one output is computed from, the fan-out the reverse.
/// For `xavier` see Glorot and Bengio (2010), for `kaiming` He et al. (2015), for `orthogonal`
/// Saxe et al. (2014).
#[derive(Config, Debug, PartialEq)]
pub enum Initializer {
    /// One value everywhere.
    Constant {
        /// The value.
        value: f64,
    },
    /// 1 everywhere.
    Ones,
    /// 0 everywhere.
    Zeros,
    /// Uniform in `min..max`.
    Uniform {
        /// Lower end.
        min: f64,
        /// Upper end.
        max: f64,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        std: f64,
    },
    /// Uniform in `±gain · √(3 / fan)`.
    KaimingUniform {
        /// Factor for the activation that follows.
        gain: f64,
        /// Whether `fan` is the fan-out; otherwise it is the fan-in.
        fan_out_only: bool,
    },
    /// Normal with standard deviation `gain / √fan`.
    KaimingNormal {
        /// Factor for the activation that follows.
        gain: f64,
        /// Whether `fan` is the fan-out; otherwise it is the fan-in.
        fan_out_only: bool,
    },
    /// Uniform in `±gain · √(6 / (fan_in + fan_out))`.
    XavierUniform {
        /// Factor for the activation that follows.
        gain: f64,
    },
    /// Normal with standard deviation `gain · √(2 / (fan_in + fan_out))`.
    XavierNormal {
        /// Factor for the activation that follows.
        gain: f64,
    },
    /// Orthonormal rows or columns, whichever are fewer, times `gain`. Dimensions after the first
    /// count as one.
    Orthogonal {
        /// Factor for the activation that follows.
        gain: f64,
    },
}

impl Initializer {
    /// A parameter whose value is drawn when it is read first.
    ///
    /// Kaiming and Xavier take the fans from the shape, as of a weight `[out, in, kernel…]` or,
    /// if it has two dimensions, `[in, out]`.
    pub fn init<const D: usize, S: Into<Shape>>(
        &self,
        shape: S,
        device: &Device,
    ) -> Param<Tensor<D>> {
        self.init_with(shape, None, None, device)
    }

    /// A parameter whose value is drawn when it is read first, with given fans.
    ///
    /// # Panics
    /// If the rank of `shape` is not `D`, [`Orthogonal`](Self::Orthogonal) is asked for less than two dimensions, or a
    /// field is not a number, or a negative deviation, or an upper end below the lower one.
    #[track_caller]
    pub fn init_with<const D: usize, S: Into<Shape>>(
        &self,
        shape: S,
        fan_in: Option<usize>,
        fan_out: Option<usize>,
        device: &Device,
    ) -> Param<Tensor<D>> {
        self.check();
        let shape = shape.into();
        let rank = shape.rank();
        assert!(
            rank == D,
            "a parameter of {D} dimensions cannot have the shape {shape:?}"
        );
        let orthogonal = matches!(self, Self::Orthogonal { .. });
        assert!(
            D >= 2 || !orthogonal,
            "orthogonal initialization takes at least two dimensions"
        );

        let fans = Fans::of(shape.as_slice(), fan_in, fan_out);
        let (initializer, sizes) = (self.clone(), shape.clone());
        let init = move |device: &Device, require_grad: bool| {
            // Drawing is no part of the tape.
            let value = initializer.draw(sizes, fans, &device.clone().without_autodiff());
            match device.is_autodiff() {
                true => value.to_device(device).set_require_grad(require_grad),
                false => value,
            }
        };
        Param::uninitialized(ParamId::new(), init, device.clone(), true, shape)
    }

    #[track_caller]
    fn check(&self) {
        let number = |name: &str, field: &str, value: f64| {
            check::field(value.is_finite(), name, field, value, "a finite number");
        };
        match *self {
            Self::Constant { .. } | Self::Ones | Self::Zeros => {}
            Self::Uniform { min, max } => {
                number("Initializer::Uniform", "min", min);
                let ok = max >= min && max.is_finite();
                check::field(ok, "Initializer::Uniform", "max", max, "at least `min`");
            }
            Self::Normal { mean, std } => {
                number("Initializer::Normal", "mean", mean);
                let ok = std >= 0.0 && std.is_finite();
                check::field(ok, "Initializer::Normal", "std", std, "at least 0");
            }
            Self::KaimingUniform { gain, .. } | Self::KaimingNormal { gain, .. } => {
                number("Initializer::Kaiming", "gain", gain);
            }
            Self::XavierUniform { gain } | Self::XavierNormal { gain } => {
                number("Initializer::Xavier", "gain", gain);
            }
            Self::Orthogonal { gain } => number("Initializer::Orthogonal", "gain", gain),
        }
    }

    fn draw<const D: usize>(&self, shape: Shape, fans: Fans, device: &Device) -> Tensor<D> {
        let uniform = |bound: f64| Distribution::Uniform(-bound, bound);
        let normal = |std: f64| Distribution::Normal(0.0, std);
        let distribution = match *self {
            Self::Constant { value } => return Tensor::full(shape, value, device),
            Self::Ones => return Tensor::ones(shape, device),
            Self::Zeros => return Tensor::zeros(shape, device),
            Self::Orthogonal { gain } => return orthogonal(shape, gain, device),
            Self::Uniform { min, max } => Distribution::Uniform(min, max),
            Self::Normal { mean, std } => Distribution::Normal(mean, std),
            Self::KaimingUniform { gain, fan_out_only } => {
                uniform(gain * (3.0 / fans.one(fan_out_only)).sqrt())
            }
            Self::KaimingNormal { gain, fan_out_only } => {
                normal(gain / fans.one(fan_out_only).sqrt())
            }
            Self::XavierUniform { gain } => uniform(gain * (6.0 / fans.sum()).sqrt()),
            Self::XavierNormal { gain } => normal(gain * (2.0 / fans.sum()).sqrt()),
        };
        Tensor::random(shape, distribution, device)
    }
}

#[derive(Clone, Copy)]
struct Fans {
    fan_in: usize,
    fan_out: usize,
}

impl Fans {
    fn of(shape: &[usize], fan_in: Option<usize>, fan_out: Option<usize>) -> Self {
        let (default_in, default_out) = match *shape {
            [] => (1, 1),
            [size] => (size, size),
            [inputs, outputs] => (inputs, outputs),
            [outputs, inputs, ref kernel @ ..] => {
                let kernel: usize = kernel.iter().product();
                (inputs * kernel, outputs * kernel)
            }
        };
        Self {
            fan_in: fan_in.unwrap_or(default_in),
            fan_out: fan_out.unwrap_or(default_out),
        }
    }

    fn one(self, fan_out_only: bool) -> f64 {
        let fan = if fan_out_only {
            self.fan_out
        } else {
            self.fan_in
        };
        // An empty parameter has nothing to draw; 1 keeps its bounds finite.
        fan.max(1) as f64
    }

    fn sum(self) -> f64 {
        (self.fan_in + self.fan_out).max(1) as f64
    }
}

/// Draws a normal matrix and makes its shorter side orthonormal.
///
/// Gram–Schmidt on the host in f64, each vector projected twice ("twice is enough", Giraud et al.,
/// 2005): done once for a parameter, in place of a decomposition that every engine would need.
fn orthogonal<const D: usize>(shape: Shape, gain: f64, device: &Device) -> Tensor<D> {
    let rows = shape.as_slice()[0];
    let columns = shape.as_slice()[1..].iter().product::<usize>();
    let random = Tensor::<2>::random([rows, columns], Distribution::Normal(0.0, 1.0), device);
    let random: Vec<f64> = random.into_data().iter::<f64>().collect();
    let tall = rows > columns;
    let (count, len) = if tall {
        (columns, rows)
    } else {
        (rows, columns)
    };
    let at = |vector: usize, i: usize| {
        if tall {
            i * columns + vector
        } else {
            vector * columns + i
        }
    };

    let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(count);
    for vector in 0..count {
        let mut v: Vec<f64> = (0..len).map(|i| random[at(vector, i)]).collect();
        for _ in 0..2 {
            for other in &vectors {
                let dot: f64 = v.iter().zip(other).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(other).for_each(|(a, b)| *a -= dot * b);
            }
        }
        let norm = v.iter().map(|a| a * a).sum::<f64>().sqrt();
        v.iter_mut().for_each(|a| *a /= norm);
        vectors.push(v);
    }
    let mut values = alloc::vec![0.0; rows * columns];
    for (vector, v) in vectors.iter().enumerate() {
        for (i, value) in v.iter().enumerate() {
            values[at(vector, i)] = gain * value;
        }
    }
    let dtype = device.settings().float_dtype.into();
    Tensor::from_data(TensorData::new(values, shape), (device, dtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fans_of_a_kernel_count_its_elements() {
        let Fans { fan_in, fan_out } = Fans::of(&[6, 2, 3], None, None);
        assert_eq!((fan_in, fan_out), (6, 18));
        let Fans { fan_in, fan_out } = Fans::of(&[6, 2], None, Some(9));
        assert_eq!((fan_in, fan_out), (6, 9));
    }

    #[track_caller]
    fn values(initializer: Initializer, shape: [usize; 2]) -> Vec<f64> {
        let device = Device::default();
        device.seed(7);
        let param: Param<Tensor<2>> = initializer.init(shape, &device);
        param.into_value().into_data().iter::<f64>().collect()
    }

    /// Mean and standard deviation of 40,000 draws, and the largest distance from `centre`.
    fn statistics(initializer: Initializer, shape: [usize; 2], centre: f64) -> [f64; 3] {
        let drawn = values(initializer, shape);
        assert_eq!(drawn.len(), 40_000);
        let mean = drawn.iter().sum::<f64>() / 4e4;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4e4;
        let far = drawn
            .iter()
            .fold(0.0, |far: f64, x| far.max((x - centre).abs()));
        [mean, variance.sqrt(), far]
    }

    #[test]
    fn uniform_values_fill_their_bounds() {
        let kaiming = |fan_out_only: bool| Initializer::KaimingUniform {
            gain: 2.0,
            fan_out_only,
        };
        let uniform = Initializer::Uniform { min: 1.0, max: 2.0 };
        let xavier = Initializer::XavierUniform { gain: 2.0 };
        // The bound is gain · √(3 / fan), or gain · √(6 / (fan_in + fan_out)); fans are 100 and 400.
        for (initializer, centre, bound) in [
            (uniform, 1.5, 0.5),
            (kaiming(false), 0.0, 2.0 * 0.03f64.sqrt()),
            (kaiming(true), 0.0, 2.0 * 0.0075f64.sqrt()),
            (xavier, 0.0, 2.0 * 0.012f64.sqrt()),
        ] {
            let name = alloc::format!("{initializer:?}");
            let [mean, std, far] = statistics(initializer, [100, 400], centre);
            assert!(far <= bound && far > 0.999 * bound, "{name}: {far}");
            // The deviation is bound / √3; five standard errors of a mean and of a deviation.
            let expected = bound / 3f64.sqrt();
            assert!((mean - centre).abs() < 0.025 * expected, "{name}: {mean}");
            assert!((std / expected - 1.0).abs() < 0.012, "{name}: {std}");
        }
    }

    #[test]
    fn normal_values_have_their_deviation() {
        let kaiming = |fan_out_only: bool| Initializer::KaimingNormal {
            gain: 2.0,
            fan_out_only,
        };
        let normal = Initializer::Normal {
            mean: 3.0,
            std: 0.5,
        };
        // The deviation is gain / √fan, or gain · √(2 / (fan_in + fan_out)); fans are 100 and 400.
        for (initializer, centre, expected) in [
            (normal, 3.0, 0.5),
            (kaiming(false), 0.0, 0.2),
            (kaiming(true), 0.0, 0.1),
            (
                Initializer::XavierNormal { gain: 2.0 },
                0.0,
                2.0 * 0.004f64.sqrt(),
            ),
        ] {
            let name = alloc::format!("{initializer:?}");
            let [mean, std, far] = statistics(initializer, [100, 400], centre);
            // Five standard errors: 5 / √40000 of a mean, 5 / √80000 of a deviation.
            assert!((mean - centre).abs() < 0.025 * expected, "{name}: {mean}");
            assert!((std / expected - 1.0).abs() < 0.018, "{name}: {std}");
            // Of so many normal draws the largest is 3.5 to 6 deviations away.
            let far = far / expected;
            assert!(far > 3.5 && far < 6.0, "{name}: {far}");
        }
    }

    #[test]
    fn orthogonal_rows_have_the_length_of_the_gain() {
        let drawn = values(Initializer::Orthogonal { gain: 0.5 }, [3, 7]);
        for a in 0..3 {
            for b in 0..3 {
                let dot: f64 = (0..7).map(|i| drawn[7 * a + i] * drawn[7 * b + i]).sum();
                let expected = if a == b { 0.25 } else { 0.0 };
                // f32 storage of values below 1.
                assert!((dot - expected).abs() < 1e-6, "{a} {b}: {dot}");
            }
        }
    }

    #[test]
    #[should_panic(
        expected = "`Initializer::Normal`: the field `std` is -1.0\n  legal: at least 0"
    )]
    fn a_negative_deviation_is_refused() {
        let normal = Initializer::Normal {
            mean: 0.0,
            std: -1.0,
        };
        values(normal, [1, 1]);
    }

    #[test]
    fn orthogonal_columns_have_the_length_of_the_gain() {
        let drawn = values(Initializer::Orthogonal { gain: 2.0 }, [5, 3]);
        for a in 0..3 {
            for b in 0..3 {
                let dot: f64 = (0..5).map(|i| drawn[3 * i + a] * drawn[3 * i + b]).sum();
                let expected = if a == b { 4.0 } else { 0.0 };
                // f32 storage of values up to 2.
                assert!((dot - expected).abs() < 1e-5, "{a} {b}: {dot}");
            }
        }
    }

    #[test]
    fn equal_seeds_draw_equal_values() {
        let normal = || Initializer::Normal {
            mean: 1.0,
            std: 2.0,
        };
        assert_eq!(values(normal(), [10, 10]), values(normal(), [10, 10]));
    }

    #[test]
    fn constants_are_everywhere() {
        assert_eq!(values(Initializer::Zeros, [1, 2]), [0.0, 0.0]);
        assert_eq!(values(Initializer::Ones, [1, 2]), [1.0, 1.0]);
        let constant = Initializer::Constant { value: 2.5 };
        assert_eq!(values(constant, [1, 2]), [2.5, 2.5]);
    }

    #[test]
    fn a_parameter_on_an_autodiff_device_is_a_leaf() {
        let device = Device::default().autodiff();
        let param: Param<Tensor<1>> = Initializer::Ones.init([2], &device);
        assert!(param.val().is_require_grad());
        let param: Param<Tensor<1>> = Initializer::Ones.init([2], &device);
        assert!(!param.set_require_grad(false).val().is_require_grad());
    }

    #[test]
    #[should_panic(expected = "a parameter of 1 dimensions cannot have the shape [2, 3]")]
    fn a_shape_of_another_rank_is_refused() {
        let _: Param<Tensor<1>> = Initializer::Ones.init([2, 3], &Device::default());
    }

    #[test]
    #[should_panic(expected = "orthogonal initialization takes at least two dimensions")]
    fn an_orthogonal_vector_is_refused() {
        let initializer = Initializer::Orthogonal { gain: 1.0 };
        let _: Param<Tensor<1>> = initializer.init([2], &Device::default());
    }
}
