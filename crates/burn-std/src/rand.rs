//! The random generator that the crates share. Distributions are in [`crate::distribution`].

pub use ::rand::rngs::StdRng;
pub use ::rand::{Rng, RngExt, SeedableRng};

/// A generator whose seed differs from call to call and, with `std`, from run to run.
pub fn seeded_rng() -> StdRng {
    StdRng::seed_from_u64(crate::id::IdGenerator::generate())
}
