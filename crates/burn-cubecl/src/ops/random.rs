//! Random numbers from a counter-based generator: what an element gets depends on the seed and on how much was drawn
//! before, not on how units are scheduled.

use super::cast::{converted, work};
use super::group::{address_type, is_wide};
use super::guard::{fingerprint, guarded};
use super::unary::constant;
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_ir::TensorMeta;
use burn_std::{DType, Distribution, Kind};
use core::f64::consts::TAU;
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

/// What is done with the words of the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Law {
    /// Their bits are the element.
    Bits,
    /// `a + (b - a) · u`, rounded down for ints.
    Uniform,
    /// The mean `a` and the deviation `b`.
    Normal,
    /// 1 with the probability `a`.
    Bernoulli,
}

/// Draws a tensor.
pub(crate) fn run(
    device: &CubeDevice,
    distribution: Distribution,
    output: TensorMeta,
) -> CubeTensor {
    let client = device.client();
    let (len, dtype) = (count(&output), output.dtype);
    let tensor = CubeTensor::empty(device, output);
    if len == 0 {
        return tensor;
    }
    let (law, a, b) = match (distribution, dtype.kind()) {
        (Distribution::Default, Kind::Float) => (Law::Uniform, 0.0, 1.0),
        (Distribution::Default, Kind::Int) => (Law::Bits, 0.0, 0.0),
        (Distribution::Default, Kind::Bool) => (Law::Bernoulli, 0.5, 0.0),
        (Distribution::Uniform(low, high), _) => (Law::Uniform, low, high),
        (Distribution::Normal(mean, deviation), _) => (Law::Normal, mean, deviation),
        (Distribution::Bernoulli(probability), _) => (Law::Bernoulli, probability, 0.0),
    };
    // Ints are drawn from floats as precise as there are.
    let float = match dtype.kind() {
        Kind::Float => work(dtype),
        Kind::Int | Kind::Bool if device.computes(DType::F64) => storage(DType::F64),
        Kind::Int | Kind::Bool => storage(DType::F32),
    };
    // Two words each: floats of f64, and the bits of 64.
    let wide = match law {
        Law::Bits => dtype.size() == 8,
        _ => float == storage(DType::F64),
    };
    let units = len.div_ceil(if wide { 2 } else { 4 });
    let (key, first) = device.draw(units as u64);
    let cube_dim = CubeDim::new(client, units);
    let written = core::slice::from_ref(&tensor);
    let far = is_wide(&[], written);
    let kernel = fingerprint(("draw", law, wide, float, dtype, far));
    // SAFETY: the kernel writes below `len`, which is the number of elements of the buffer; its loops are bounded.
    guarded(device, kernel, cube_dim, written, || unsafe {
        draw::launch_unchecked(
            client,
            calculate_cube_count_elemwise(client, units, cube_dim),
            cube_dim,
            address_type(far),
            BufferArg::from_raw_parts(tensor.handle().clone(), len),
            [
                key as u32,
                (key >> 32) as u32,
                first as u32,
                (first >> 32) as u32,
            ]
            .into_iter()
            .collect(),
            InputScalar::new(a, float),
            InputScalar::new(b, float),
            len,
            law,
            wide,
            float,
            storage(dtype),
        );
    });
    tensor
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn draw<F: Float, T: Numeric>(
    output: &mut [T],
    state: &Sequence<u32>,
    a: InputScalar,
    b: InputScalar,
    len: usize,
    #[comptime] law: Law,
    #[comptime] wide: bool,
    #[define(F)] _float: ElemType,
    #[define(T)] _elem: ElemType,
) {
    let per_unit = comptime!(if wide { 2usize } else { 4usize });
    let start = ABSOLUTE_POS * per_unit;
    if start < len {
        let words = philox(ABSOLUTE_POS, state);
        let a = a.get::<F>();
        let b = b.get::<F>();
        #[unroll]
        for at in 0..per_unit {
            let value = match comptime!(law) {
                Law::Bits => {
                    let low = T::cast_from(words[comptime!(if wide { 2 * at } else { at })]);
                    if comptime!(wide) {
                        let high = T::cast_from(words[comptime!(2 * at + 1)]);
                        low + high * T::cast_from(65536u32) * T::cast_from(65536u32)
                    } else {
                        low
                    }
                }
                Law::Uniform => number::<F, T>(a + (b - a) * unit::<F>(&words, at, wide)),
                Law::Bernoulli => {
                    let hit = unit::<F>(&words, at, wide) < a;
                    number::<F, T>(select(hit, F::new(1.0f32), F::new(0.0f32)))
                }
                Law::Normal => {
                    let pair = comptime!(at / 2 * 2);
                    let radius = F::new(1.0f32) - unit::<F>(&words, pair, wide);
                    let radius = (F::new(-2.0f32) * radius.ln()).sqrt();
                    let angle = constant::<F>(TAU) * unit::<F>(&words, comptime!(pair + 1), wide);
                    let direction = if comptime!(at % 2 == 0) {
                        angle.cos()
                    } else {
                        angle.sin()
                    };
                    number::<F, T>(a + b * radius * direction)
                }
            };
            if start + at < len {
                output[start + at] = value;
            }
        }
    }
}

#[cube]
fn number<F: Float, T: Numeric>(value: F) -> T {
    converted::<F, T, Const<1>>(Vector::new(value)).extract(0usize)
}

/// A float in `[0, 1)`: 24 bits of a word, or 53 bits of two.
#[cube]
fn unit<F: Float>(words: &Sequence<u32>, #[comptime] at: usize, #[comptime] wide: bool) -> F {
    if comptime!(wide) {
        let high = F::cast_from(words[comptime!(2 * at)] >> 5u32);
        let low = F::cast_from(words[comptime!(2 * at + 1)] >> 6u32);
        (high * constant::<F>(67108864.0) + low) * constant::<F>(comptime!(2f64.powi(-53)))
    } else {
        F::cast_from(words[at] >> 8u32) * constant::<F>(comptime!(2f64.powi(-24)))
    }
}

/// The block `place` after the first unused one, by Philox-4×32 with 10 rounds (Salmon et al. 2011, table 2).
#[cube]
fn philox(place: usize, state: &Sequence<u32>) -> Sequence<u32> {
    let place = u32::cast_from(place);
    let low = state[2] + place;
    let carry = u32::cast_from(low < place);
    let mut key0 = state[0];
    let mut key1 = state[1];
    let mut word0 = low;
    let mut word1 = state[3] + carry;
    let mut word2 = 0u32;
    let mut word3 = 0u32;
    #[unroll]
    for _ in 0..10u32 {
        let low0 = word0 * 0xD251_1F53u32;
        let high0 = word0.mul_hi(0xD251_1F53u32);
        let low1 = word2 * 0xCD9E_8D57u32;
        let high1 = word2.mul_hi(0xCD9E_8D57u32);
        word0 = high1 ^ word1 ^ key0;
        word1 = low1;
        word2 = high0 ^ word3 ^ key1;
        word3 = low0;
        key0 += 0x9E37_79B9u32;
        key1 += 0xBB67_AE85u32;
    }
    let mut words = Sequence::new();
    words.push(word0);
    words.push(word1);
    words.push(word2);
    words.push(word3);
    words
}
