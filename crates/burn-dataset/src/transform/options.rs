//! Options that several transforms share: where randomness comes from, and how large a result is.

use core::hash::{BuildHasher, Hasher};
use std::hash::RandomState;

use rand::SeedableRng;
use rand::rngs::StdRng;

/// Where a transform takes its randomness from.
#[derive(Debug, Default)]
#[expect(
    clippy::large_enum_variant,
    reason = "the promised API holds the generator unboxed"
)]
pub enum RngSource {
    /// A generator that differs from run to run.
    #[default]
    Default,
    /// A generator started from this seed: the same seed gives the same items in the same order.
    Seed(u64),
    /// This generator.
    Rng(StdRng),
}

impl From<RngSource> for StdRng {
    fn from(source: RngSource) -> Self {
        match source {
            // The standard library keys each `RandomState` differently, from the system's entropy where there is
            // one: enough for shuffling, and it works on targets without a system generator.
            RngSource::Default => StdRng::seed_from_u64(RandomState::new().build_hasher().finish()),
            RngSource::Seed(seed) => StdRng::seed_from_u64(seed),
            RngSource::Rng(rng) => rng,
        }
    }
}

impl From<u64> for RngSource {
    fn from(seed: u64) -> Self {
        Self::Seed(seed)
    }
}

impl From<StdRng> for RngSource {
    fn from(rng: StdRng) -> Self {
        Self::Rng(rng)
    }
}

/// Starts a new generator from `rng`, which moves on: two calls give two different generators.
impl From<&mut StdRng> for RngSource {
    fn from(rng: &mut StdRng) -> Self {
        Self::Rng(StdRng::from_rng(rng))
    }
}

/// How many items a transform yields.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SizeConfig {
    /// As many as the source has.
    #[default]
    Default,
    /// This many times as many as the source has, rounded down.
    Ratio(f64),
    /// This many.
    Fixed(usize),
}

impl SizeConfig {
    /// As many items as the source has.
    pub fn source() -> Self {
        Self::Default
    }

    /// The number of items for a source of `source_size` items.
    ///
    /// # Panics
    /// If a ratio is negative or not a number.
    pub fn resolve(self, source_size: usize) -> usize {
        match self {
            Self::Default => source_size,
            Self::Ratio(ratio) => {
                assert!(ratio >= 0.0, "size ratio {ratio} is not zero or more");
                (source_size as f64 * ratio) as usize
            }
            Self::Fixed(size) => size,
        }
    }
}

impl From<usize> for SizeConfig {
    fn from(size: usize) -> Self {
        Self::Fixed(size)
    }
}

impl From<f64> for SizeConfig {
    fn from(ratio: f64) -> Self {
        Self::Ratio(ratio)
    }
}
