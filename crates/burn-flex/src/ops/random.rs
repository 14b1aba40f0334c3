//! Random tensors from a counter-based generator.
//!
//! Element `i` of the `n`-th random tensor after a seed is a function of the seed, `n` and `i` alone: the number of
//! threads does not matter.

use super::create::{converted, write};
use crate::FlexTensor;
use crate::math;
use crate::simd::{Kernel, dispatch};
use burn_ir::TensorMeta;
use burn_std::sync::Mutex;
use burn_std::{DType, Distribution, Element, Kind, bf16, f16};
use num_traits::Float;

/// The seed, and the number of random tensors since it was set.
static STATE: Mutex<Option<(u64, u64)>> = Mutex::new(None);

/// Restarts the generator.
pub(crate) fn seed(seed: u64) {
    *STATE.lock() = Some((seed, 0));
}

/// The sequence of words of the next random tensor.
fn next_stream() -> Stream {
    let mut state = STATE.lock();
    let (seed, stream) = state.unwrap_or_else(|| (entropy(), 0));
    *state = Some((seed, stream.wrapping_add(1)));
    Stream { seed, stream }
}

/// A first seed that differs from run to run.
#[cfg(feature = "std")]
fn entropy() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // The standard library seeds its hash maps from the operating system.
    RandomState::new().hash_one(std::time::SystemTime::now())
}

#[cfg(not(feature = "std"))]
fn entropy() -> u64 {
    0
}

/// Words of one tensor.
#[derive(Clone, Copy)]
struct Stream {
    seed: u64,
    stream: u64,
}

/// Counters that are encrypted side by side; each gives four words.
const LANES: usize = 16;
/// Words of one group of counters.
const WORDS: usize = 4 * LANES;

impl Stream {
    /// The words of one group: Philox4x32 with 10 rounds (Salmon, Moraes, Dror and Shaw 2011, section 3.2).
    #[expect(
        clippy::needless_range_loop,
        reason = "lanes of several arrays at once"
    )]
    #[inline(always)]
    fn group(self, group: u64) -> [[u32; LANES]; 4] {
        const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
        const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
        let mut c = [[0u32; LANES]; 4];
        for lane in 0..LANES {
            let counter = group.wrapping_mul(LANES as u64).wrapping_add(lane as u64);
            c[0][lane] = counter as u32;
            c[1][lane] = (counter >> 32) as u32;
            c[2][lane] = self.stream as u32;
            c[3][lane] = (self.stream >> 32) as u32;
        }
        let mut key = [self.seed as u32, (self.seed >> 32) as u32];
        for _ in 0..10 {
            for lane in 0..LANES {
                let first = u64::from(MULTIPLIERS[0]) * u64::from(c[0][lane]);
                let second = u64::from(MULTIPLIERS[1]) * u64::from(c[2][lane]);
                c[0][lane] = (second >> 32) as u32 ^ c[1][lane] ^ key[0];
                c[1][lane] = second as u32;
                c[2][lane] = (first >> 32) as u32 ^ c[3][lane] ^ key[1];
                c[3][lane] = first as u32;
            }
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        c
    }
}

/// Fills a block that starts at a multiple of [`WORDS`] elements.
struct Words32<'a, F> {
    stream: Stream,
    first: usize,
    out: &'a mut [f32],
    /// From two words to two elements, [`WORDS`]` / 2` apart.
    pair: F,
}

impl<F: Pair> Kernel for Words32<'_, F> {
    type Output = ();

    #[expect(
        clippy::needless_range_loop,
        reason = "lanes of several arrays at once"
    )]
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let mut elems = [0.0; WORDS];
        for (i, out) in self.out.chunks_mut(WORDS).enumerate() {
            let words = self.stream.group((self.first / WORDS + i) as u64);
            let (low, high) = elems.split_at_mut(WORDS / 2);
            for half in 0..2 {
                for lane in 0..LANES {
                    let at = half * LANES + lane;
                    (low[at], high[at]) = self
                        .pair
                        .map::<FMA>(words[half][lane], words[half + 2][lane]);
                }
            }
            out.copy_from_slice(&elems[..out.len()]);
        }
    }
}

/// A function from two words to two numbers.
trait Pair {
    fn map<const FMA: bool>(&self, first: u32, second: u32) -> (f32, f32);
}

/// `low + u · range` for `u` uniform in `[0, 1)`, of as many bits as the output can hold.
struct Uniform {
    low: f32,
    high: f32,
    bits: u32,
}

impl Pair for Uniform {
    #[inline(always)]
    fn map<const FMA: bool>(&self, first: u32, second: u32) -> (f32, f32) {
        let unit = f32::from_bits((127 - self.bits) << 23); // 2^-bits
        let one = |word: u32| {
            let u = (word >> (32 - self.bits)) as i32 as f32 * unit;
            let x = self.low + u * (self.high - self.low);
            // Rounding may reach the end, which is left out.
            if x >= self.high { self.low } else { x }
        };
        (one(first), one(second))
    }
}

/// Whether a word, as a fraction of 2^32, is below a probability.
struct Bernoulli(u64);

impl Pair for Bernoulli {
    #[inline(always)]
    fn map<const FMA: bool>(&self, first: u32, second: u32) -> (f32, f32) {
        let one = |word: u32| if u64::from(word) < self.0 { 1.0 } else { 0.0 };
        (one(first), one(second))
    }
}

/// Two independent normal numbers (Box and Muller 1958).
struct Normal {
    mean: f32,
    deviation: f32,
}

impl Pair for Normal {
    #[inline(always)]
    fn map<const FMA: bool>(&self, first: u32, second: u32) -> (f32, f32) {
        const UNIT: f32 = 2.328_306_4e-10; // 2^-32
        // In (0, 1], so that the logarithm is finite.
        let u = math::float(first) * UNIT + UNIT;
        let radius = Float::sqrt(-2.0 * math::log::<FMA>(u)) * self.deviation;
        let angle = (second >> 8) as i32 as f32 * (core::f32::consts::TAU / 16_777_216.0);
        (
            radius * math::cos(angle) + self.mean,
            radius * math::sin(angle) + self.mean,
        )
    }
}

/// Fills a block of wide words; `first` is a multiple of half of [`WORDS`].
fn words64(stream: Stream, first: usize, out: &mut [u64]) {
    const WIDE: usize = WORDS / 2;
    for (i, out) in out.chunks_mut(WIDE).enumerate() {
        let words = stream.group((first / WIDE + i) as u64);
        for (at, out) in out.iter_mut().enumerate() {
            let (half, lane) = (at / LANES, at % LANES);
            *out = u64::from(words[half][lane]) | u64::from(words[half + 2][lane]) << 32;
        }
    }
}

/// Makes a random tensor.
pub(crate) fn run(distribution: Distribution, output: &TensorMeta) -> FlexTensor {
    let stream = next_stream();
    let dtype = output.dtype;
    match (distribution, dtype.kind()) {
        (Distribution::Default, Kind::Bool) => single(output, stream, &bernoulli(0.5)),
        (Distribution::Bernoulli(probability), _) => {
            single(output, stream, &bernoulli(probability))
        }
        (Distribution::Normal(mean, deviation), _) if dtype == DType::F64 => {
            write(output, 256, &|range, to| {
                converted(range, DType::F64, dtype, to, &|first, out: &mut [f64]| {
                    normal64(stream, first, mean, deviation, out);
                });
            })
        }
        (Distribution::Normal(mean, deviation), _) => {
            let (mean, deviation) = (mean as f32, deviation as f32);
            single(output, stream, &Normal { mean, deviation })
        }
        (Distribution::Default, Kind::Float) => uniform(output, stream, 0.0, 1.0),
        (Distribution::Uniform(low, high), Kind::Float) => uniform(output, stream, low, high),
        (Distribution::Default, _) => write(output, 32, &|range, to| {
            converted(range, DType::U64, dtype, to, &|first, out: &mut [u64]| {
                words64(stream, first, out);
            });
        }),
        (Distribution::Uniform(low, high), _) => integers(output, stream, low, high),
    }
}

fn bernoulli(probability: f64) -> Bernoulli {
    Bernoulli((probability * 4_294_967_296.0) as u64) // 2^32
}

/// Draws in single precision.
fn single<F: Pair + Sync>(output: &TensorMeta, stream: Stream, pair: &F) -> FlexTensor {
    write(output, 64, &|range, to| {
        converted(range, DType::F32, output.dtype, to, &|first, out| {
            dispatch(Words32 {
                stream,
                first,
                out,
                pair,
            });
        });
    })
}

impl<F: Pair> Pair for &F {
    #[inline(always)]
    fn map<const FMA: bool>(&self, first: u32, second: u32) -> (f32, f32) {
        (**self).map::<FMA>(first, second)
    }
}

/// Uniform floats.
fn uniform(output: &TensorMeta, stream: Stream, low: f64, high: f64) -> FlexTensor {
    if output.dtype == DType::F64 {
        return write(output, 48, &|range, to| {
            converted(
                range,
                DType::F64,
                DType::F64,
                to,
                &|first, out: &mut [f64]| {
                    words64(stream, first, bytemuck::cast_slice_mut(out));
                    for out in out {
                        const UNIT: f64 = 1.110_223_024_625_156_5e-16; // 2^-53
                        let x = low + (out.to_bits() >> 11) as f64 * UNIT * (high - low);
                        *out = if x >= high { low } else { x };
                    }
                },
            );
        });
    }
    /// The bounds as the type holds them, so that drawn numbers, once rounded, stay between them.
    fn bounds<E: Element>(low: f64, high: f64) -> (f32, f32) {
        (E::from_elem(low).elem(), E::from_elem(high).elem())
    }
    // As many bits as the significand has, or rounding would reach 1.
    let ((low, high), bits) = match output.dtype {
        DType::F16 => (bounds::<f16>(low, high), 11),
        DType::BF16 => (bounds::<bf16>(low, high), 8),
        _ => ((low as f32, high as f32), 24),
    };
    single(output, stream, &Uniform { low, high, bits })
}

/// Normal numbers of double precision; the two of a pair are the halves of a group.
fn normal64(stream: Stream, first: usize, mean: f64, deviation: f64, out: &mut [f64]) {
    const WIDE: usize = WORDS / 2;
    const UNIT: f64 = 1.110_223_024_625_156_5e-16; // 2^-53
    let mut words = [0u64; WIDE];
    for (i, out) in out.chunks_mut(WIDE).enumerate() {
        words64(stream, first + i * WIDE, &mut words);
        for (at, out) in out.iter_mut().enumerate() {
            let pair = at % LANES;
            let u = ((words[pair] >> 11) + 1) as f64 * UNIT;
            let angle = (words[pair + LANES] >> 11) as f64 * UNIT * core::f64::consts::TAU;
            let wave = match at < LANES {
                true => Float::cos(angle),
                false => Float::sin(angle),
            };
            *out = mean + deviation * Float::sqrt(-2.0 * Float::ln(u)) * wave;
        }
    }
}

/// Integers from `low` up to `high`, which is left out: the high word of a product (Lemire 2019, section 3), without the
/// rejection of a bias below 2^-32.
fn integers(output: &TensorMeta, stream: Stream, low: f64, high: f64) -> FlexTensor {
    let low = low as i128;
    let count = (high as i128 - low).clamp(0, i128::from(u64::MAX)) as u128;
    write(output, 48, &|range, to| {
        converted(
            range,
            DType::I64,
            output.dtype,
            to,
            &|first, out: &mut [i64]| {
                words64(stream, first, bytemuck::cast_slice_mut(out));
                for out in out {
                    let above = (u128::from(*out as u64) * count) >> 64;
                    *out = (low + above as i128) as i64;
                }
            },
        );
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_published_generator() {
        // The known answers that the authors distribute for philox4x32-10.
        let zero = Stream { seed: 0, stream: 0 }.group(0);
        let words = zero.map(|words| words[0]);
        assert_eq!(words, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    }
}
