//! Random distributions and how elements are drawn from them. Generators come from `rand`.

use core::hash::{Hash, Hasher};

use num_traits::Float;
use rand::distr::uniform::SampleUniform;
use rand::distr::{Bernoulli, Distribution as Draw, StandardUniform, Uniform};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::Element;

/// How random elements are distributed. Equality is by bits.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub enum Distribution {
    /// Uniform in `[0, 1)`; integers over all their values, truth values as a fair coin.
    #[default]
    Default,
    /// 1 with the given probability, else 0.
    Bernoulli(f64),
    /// Uniform from the first number up to the second, which is left out.
    Uniform(f64, f64),
    /// Normal with mean and standard deviation.
    Normal(f64, f64),
}

impl Distribution {
    /// A sampler of elements of type `E`.
    ///
    /// # Panics
    /// If the parameters are no distribution: a probability outside `0..=1`, an empty or infinite
    /// range, a negative or infinite standard deviation.
    #[track_caller]
    pub fn sampler<R, E>(self, rng: &mut R) -> DistributionSampler<'_, E, R>
    where
        R: Rng,
        E: Element + SampleUniform,
        StandardUniform: Draw<E>,
    {
        let dtype = E::dtype().name();
        let kind = match self {
            Self::Default => DistributionSamplerKind::Standard(StandardUniform),
            Self::Bernoulli(probability) => match Bernoulli::new(probability) {
                Ok(bernoulli) => DistributionSamplerKind::Bernoulli(bernoulli),
                Err(_) => panic!("{self:?}: a probability lies between 0 and 1"),
            },
            Self::Uniform(low, high) => match Uniform::new(E::from_elem(low), E::from_elem(high)) {
                Ok(uniform) => DistributionSamplerKind::Uniform(uniform),
                Err(_) => panic!("{self:?}: the range is empty or infinite in {dtype}"),
            },
            Self::Normal(mean, std) => match Normal::new(mean, std) {
                Some(normal) => DistributionSamplerKind::Normal(normal),
                None => panic!("{self:?}: both are finite, and a deviation is not negative"),
            },
        };
        DistributionSampler::new(kind, rng)
    }

    /// The variant and the bits, by which distributions are equal.
    fn bits(&self) -> (u8, u64, u64) {
        match *self {
            Self::Default => (0, 0, 0),
            Self::Bernoulli(probability) => (1, probability.to_bits(), 0),
            Self::Uniform(low, high) => (2, low.to_bits(), high.to_bits()),
            Self::Normal(mean, std) => (3, mean.to_bits(), std.to_bits()),
        }
    }
}

impl PartialEq for Distribution {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Distribution {}

impl Hash for Distribution {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

/// The normal distribution.
#[derive(Clone, Copy, Debug)]
pub struct Normal {
    mean: f64,
    std: f64,
}

impl Normal {
    /// `None` if a parameter is not finite or the standard deviation is negative.
    pub fn new(mean: f64, std: f64) -> Option<Self> {
        (mean.is_finite() && std.is_finite() && std >= 0.0).then_some(Self { mean, std })
    }
}

impl Draw<f64> for Normal {
    /// The polar method (Marsaglia and Bray 1964). Its second number is dropped, so that a sample
    /// depends on the generator alone.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        loop {
            let u = 2.0 * rng.random::<f64>() - 1.0;
            let v = 2.0 * rng.random::<f64>() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let radius = Float::sqrt(-2.0 * Float::ln(s) / s);
                return self.mean + self.std * u * radius;
            }
        }
    }
}

/// A [`Distribution`] made ready to draw from.
pub enum DistributionSamplerKind<E>
where
    StandardUniform: Draw<E>,
    E: SampleUniform,
{
    /// Uniform in `[0, 1)`, or over all integers.
    Standard(StandardUniform),
    /// Uniform in a range.
    Uniform(Uniform<E>),
    /// 1 or 0.
    Bernoulli(Bernoulli),
    /// Normal.
    Normal(Normal),
}

/// Draws elements from a distribution.
pub struct DistributionSampler<'a, E, R>
where
    StandardUniform: Draw<E>,
    E: SampleUniform,
    R: Rng,
{
    kind: DistributionSamplerKind<E>,
    rng: &'a mut R,
}

impl<'a, E, R> DistributionSampler<'a, E, R>
where
    StandardUniform: Draw<E>,
    E: SampleUniform + Element,
    R: Rng,
{
    /// A sampler that takes its randomness from `rng`.
    pub fn new(kind: DistributionSamplerKind<E>, rng: &'a mut R) -> Self {
        Self { kind, rng }
    }

    /// The next element.
    pub fn sample(&mut self) -> E {
        match &self.kind {
            DistributionSamplerKind::Standard(standard) => standard.sample(self.rng),
            DistributionSamplerKind::Uniform(uniform) => uniform.sample(self.rng),
            DistributionSamplerKind::Bernoulli(bernoulli) => {
                E::from_elem(bernoulli.sample(self.rng))
            }
            DistributionSamplerKind::Normal(normal) => E::from_elem(normal.sample(self.rng)),
        }
    }
}

/// One element of a half precision type, drawn in single precision.
///
/// Rounding can reach the upper end of a uniform range, which is left out: such a draw is repeated.
pub(crate) fn random_half<E: Element + Float, R: Rng>(
    distribution: Distribution,
    rng: &mut R,
) -> E {
    let (distribution, end) = match distribution {
        Distribution::Default => (distribution, E::one()),
        Distribution::Uniform(low, high) => {
            // The bounds as the type has them, so that a draw below the end exists.
            let (low, high) = (E::from_elem(low), E::from_elem(high));
            (Distribution::Uniform(low.elem(), high.elem()), high)
        }
        _ => (distribution, E::infinity()),
    };
    let mut sampler = distribution.sampler::<R, f32>(rng);
    loop {
        let drawn = E::from_elem(sampler.sample());
        if drawn != end || end.is_infinite() {
            return drawn;
        }
    }
}
