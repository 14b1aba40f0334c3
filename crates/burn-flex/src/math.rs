//! Functions of single precision numbers without branches, so that loops over them vectorise.
//!
//! Bounds are in units in the last place, found by trying every 97th number (see the tests). Coefficients are from
//! `scripts/minimax.py`. Double precision is left to the standard library.

use core::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LOG2_E};

/// Adding it to a number below 2^22 rounds that to an integer, which the low bits then hold.
const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23
const ROUND64: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// ln 2 in two parts (Cody and Waite 1980, chapter 6): the first has 9 bits, so that its multiples are exact.
const LN_2_HI: f32 = 355.0 / 512.0;
const LN_2_LO: f32 = -2.121_944_4e-4;

/// `a · b + c`, rounded once where that is one instruction.
#[inline(always)]
pub(crate) fn mul_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    #[cfg(feature = "std")]
    if FMA {
        return a.mul_add(b, c);
    }
    a * b + c
}

/// A polynomial by the rule of Horner; coefficients from the constant upwards.
#[inline(always)]
fn poly<const FMA: bool, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = mul_add::<FMA>(sum, x, coefficients[i]);
    }
    sum
}

#[inline(always)]
fn poly64<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum * x + coefficients[i];
    }
    sum
}

#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

#[inline(always)]
pub(crate) fn copysign(size: f32, sign: f32) -> f32 {
    const SIGN: u32 = 1 << 31;
    f32::from_bits((size.to_bits() & !SIGN) | (sign.to_bits() & SIGN))
}

/// `e^x`, within 1 ulp.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f32) -> f32 {
    // Beyond these the result is infinite or 0. NaN fails both comparisons and stays.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let shifted = mul_add::<FMA>(x, LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = mul_add::<FMA>(n, -LN_2_LO, mul_add::<FMA>(n, -LN_2_HI, x));
    let p = poly::<FMA, 5>(
        r,
        [
            0.499_999_93,
            0.166_665_15,
            0.041_668_456,
            0.008_369_419,
            0.001_381_314_4,
        ],
    );
    let y = mul_add::<FMA>(r * r, p, r) + 1.0;
    // In two steps, since 2^n itself may be out of range where the result is not.
    let n = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let half = n >> 1;
    y * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// The exponent `e` and the rest `m` of a positive normal number `m · 2^e`, with `m` in `[√½, √2)`.
#[inline(always)]
fn split(x: f32) -> (i32, f32) {
    const SQRT_HALF: i32 = FRAC_1_SQRT_2.to_bits() as i32;
    let bits = x.to_bits() as i32;
    let e = bits.wrapping_sub(SQRT_HALF) >> 23;
    (e, f32::from_bits(bits.wrapping_sub(e << 23) as u32))
}

/// `ln((1 + f) · 2^k)` for `1 + f` in `[√½, √2]`.
#[inline(always)]
fn log_of<const FMA: bool>(f: f32, k: f32) -> f32 {
    let p = poly::<FMA, 9>(
        f,
        [
            0.333_333_13,
            -0.250_000_1,
            0.200_021_19,
            -0.166_679_96,
            0.142_195_53,
            -0.124_055_89,
            0.118_881_59,
            -0.116_756_51,
            0.067_466_46,
        ],
    );
    let square = f * f;
    let y = mul_add::<FMA>(k, LN_2_LO, f * square * p);
    let y = f + mul_add::<FMA>(square, -0.5, y);
    mul_add::<FMA>(k, LN_2_HI, y)
}

/// `y`, which is the logarithm of `x` where that is positive and finite, or what the logarithm is elsewhere.
#[inline(always)]
fn log_edges(x: f32, y: f32) -> f32 {
    let edge = if x == f32::INFINITY { x } else { f32::NAN };
    let edge = if x == 0.0 { f32::NEG_INFINITY } else { edge };
    // Not `&&`, which is a branch.
    if (x > 0.0) & (x < f32::INFINITY) {
        y
    } else {
        edge
    }
}

/// The natural logarithm, within 1 ulp.
#[inline(always)]
pub(crate) fn log<const FMA: bool>(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let normal = if subnormal { x * 8_388_608.0 } else { x }; // 2^23
    let (e, m) = split(normal);
    let k = e as f32 - if subnormal { 23.0 } else { 0.0 };
    log_edges(x, log_of::<FMA>(m - 1.0, k))
}

/// `ln(1 + x)`, within 2 ulp. What rounding takes from `1 + x` is added to the reduced argument.
#[inline(always)]
pub(crate) fn log1p<const FMA: bool>(x: f32) -> f32 {
    let sum = 1.0 + x;
    let lost = x - (sum - 1.0);
    let (e, m) = split(sum);
    let scale = f32::from_bits(((127 - e).max(0) as u32) << 23); // 2^-e
    let f = mul_add::<FMA>(lost, scale, m - 1.0);
    let y = log_edges(sum, log_of::<FMA>(f, e as f32));
    if x == 0.0 { x } else { y }
}

/// Up to this size [`sin`] and [`cos`] are right: multiples of [`FRAC_PI_2_HI`] below 2^28 are exact.
pub(crate) const TURNS: f32 = 268_435_456.0; // 2^28

/// π/2 in two parts, the first with 25 bits.
const FRAC_PI_2_HI: f64 = 1.570_796_310_901_641_8;
const FRAC_PI_2_LO: f64 = 1.589_325_477_352_819_7e-8;

/// The sine of `x + quarters · π/2`, in double precision throughout.
#[inline(always)]
fn sine(x: f32, quarters: u64) -> f32 {
    let x = f64::from(x);
    let shifted = x * core::f64::consts::FRAC_2_PI + ROUND64;
    let n = shifted - ROUND64;
    let r = (x - n * FRAC_PI_2_HI) - n * FRAC_PI_2_LO;
    let t = r * r;
    let sin = r
        * (1.0
            + t * poly64(
                t,
                [
                    -0.166_666_666_406_130_54,
                    0.008_333_329_266_736_293,
                    -0.000_198_392_961_324_704_2,
                    2.717_939_909_498_368e-6,
                ],
            ));
    let cos = 1.0
        + t * poly64(
            t,
            [
                -0.499_999_999_995_219_77,
                0.041_666_666_557_848_73,
                -0.001_388_888_084_318_323_2,
                2.479_899_014_894_552_2e-5,
                -2.717_635_744_620_832e-7,
            ],
        );
    let quarter = shifted.to_bits().wrapping_add(quarters);
    let y = if quarter & 1 == 0 { sin } else { cos };
    f64::from_bits(y.to_bits() ^ ((quarter & 2) << 62)) as f32
}

/// The sine up to [`TURNS`], within 1 ulp.
#[inline(always)]
pub(crate) fn sin(x: f32) -> f32 {
    sine(x, 0)
}

/// The cosine up to [`TURNS`], within 1 ulp.
#[inline(always)]
pub(crate) fn cos(x: f32) -> f32 {
    sine(x, 1)
}

/// The hyperbolic tangent, within 2 ulp: a polynomial near 0, `1 - 2 / (e^2x + 1)` elsewhere.
#[inline(always)]
pub(crate) fn tanh<const FMA: bool>(x: f32) -> f32 {
    let t = x * x;
    let p = poly::<FMA, 5>(
        t,
        [
            -0.333_332_84,
            0.133_314_91,
            -0.053_743_5,
            0.020_650_588,
            -0.005_717_045,
        ],
    );
    let near = mul_add::<FMA>(x * t, p, x);
    let size = x.abs();
    let far = 1.0 - 2.0 / (exp::<FMA>(size + size) + 1.0);
    copysign(if size < 0.625 { near } else { far }, x)
}

/// The error function, within 2 ulp: a polynomial near 0, `1 - e^-q(|x|)` elsewhere.
#[inline(always)]
pub(crate) fn erf<const FMA: bool>(x: f32) -> f32 {
    let near = poly::<FMA, 7>(
        x * x,
        [
            0.128_379_17,
            -0.376_126_34,
            0.112_836_95,
            -0.026_859_399,
            0.005_201_032_3,
            -0.000_814_270_4,
            0.000_083_700_99,
        ],
    );
    let near = mul_add::<FMA>(x, near, x);
    let size = x.abs();
    // At 4 the function is 1 to single precision.
    let bounded = if size > 4.0 { 4.0 } else { size };
    let q = poly::<FMA, 9>(
        bounded,
        [
            -0.000_160_896_99,
            1.129_436_7,
            0.633_537_53,
            0.108_019_51,
            -0.024_901_094,
            0.004_056_322,
            -0.000_397_548_9,
            0.000_014_451_672,
            5.118_755_3e-7,
        ],
    );
    let far = 1.0 - exp::<FMA>(-q);
    if size < 0.921_875 {
        near
    } else {
        copysign(far, x)
    }
}

/// `1 / (1 + e^-x)`, within 2.5 ulp where the result is normal.
#[inline(always)]
pub(crate) fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    1.0 / (1.0 + exp::<FMA>(-x))
}

/// `x · Φ(x)` with an error of 4e-7 in Φ; below -5.4 the distribution function Φ is 0 to single precision beside 1.
///
/// The error function is a quotient of polynomials here (`scripts/quotient.py`), within 6 ulp: half the work of [`erf`].
#[inline(always)]
pub(crate) fn gelu<const FMA: bool>(x: f32) -> f32 {
    // Where the quotient reaches 1. NaN fails both comparisons and stays.
    const EDGE: f32 = 3.93;
    let s = x * FRAC_1_SQRT_2;
    let s = if s > EDGE { EDGE } else { s };
    let s = if s < -EDGE { -EDGE } else { s };
    let t = s * s;
    let above = poly::<FMA, 6>(
        t,
        [
            FRAC_2_SQRT_PI,
            0.190_782_6,
            0.052_790_13,
            0.003_779_559,
            0.000_284_807_85,
            0.000_002_041_984_5,
        ],
    );
    let below = poly::<FMA, 6>(
        t,
        [
            1.0,
            0.502_409_4,
            0.114_257_02,
            0.014_997_336,
            0.001_165_201_3,
            0.000_038_004_18,
        ],
    );
    let erf = s * above / below;
    let erf = if erf > 1.0 { 1.0 } else { erf };
    let erf = if erf < -1.0 { -1.0 } else { erf };
    (x * 0.5) * (1.0 + erf)
}

/// The binary logarithm of `|x|` in double precision, with an error of 2^-40 of it.
#[inline(always)]
fn log2_of_size(x: f32) -> f64 {
    let x = x.abs();
    let subnormal = x < f32::MIN_POSITIVE;
    let normal = if subnormal { x * 8_388_608.0 } else { x }; // 2^23
    let (e, m) = split(normal);
    let e = e as f32 - if subnormal { 23.0 } else { 0.0 };
    let m = f64::from(m);
    let s = (m - 1.0) / (m + 1.0);
    let p = poly64(
        s * s,
        [
            2.885_390_081_777_437_4,
            0.961_796_695_082_945_5,
            0.577_077_564_874_653_7,
            0.412_263_175_280_269_2,
            0.316_420_220_150_661_85,
            0.386_790_946_950_266_36,
            -1.161_544_070_237_556_4,
        ],
    );
    let y = f64::from(e) + s * p;
    let edge = f64::from(if x == 0.0 { f32::NEG_INFINITY } else { x });
    if (x > 0.0) & (x < f32::INFINITY) {
        y
    } else {
        edge
    }
}

/// `2^t` in double precision for `t` in the range of single precision, with an error of 2^-40 of it.
#[inline(always)]
fn exp2_64(t: f64) -> f64 {
    let t = if t > 140.0 { 140.0 } else { t };
    let t = if t < -160.0 { -160.0 } else { t };
    let shifted = t + ROUND64;
    let p = poly64(
        t - (shifted - ROUND64),
        [
            0.999_999_999_999_762_3,
            0.693_147_180_546_514_9,
            0.240_226_506_988_805_67,
            0.055_504_109_393_400_77,
            0.009_618_128_542_808_475,
            0.001_333_345_206_302_425_8,
            0.000_154_038_517_836_187_7,
            0.000_015_309_737_333_959_798,
            1.317_585_160_119_911_1e-6,
        ],
    );
    // The sum holds the exponent in its low bits; the bias goes in, the rest goes out at the top.
    p * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// `x^y`, within 1 ulp, with the edges of IEEE 754-2019, section 9.2.1.
#[inline(always)]
pub(crate) fn pow(x: f32, y: f32) -> f32 {
    let size = exp2_64(f64::from(y) * log2_of_size(x)) as f32;
    let integer = round(y) == y;
    let odd = integer & (round(y * 0.5) != y * 0.5);
    let sign = if odd { x.to_bits() & (1 << 31) } else { 0 };
    let value = f32::from_bits(size.to_bits() | sign);
    let real = integer | (x >= 0.0) | (x == f32::NEG_INFINITY);
    let value = if real { value } else { f32::NAN };
    let one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (y.abs() == f32::INFINITY));
    if one { 1.0 } else { value }
}

/// Rounding to integers without instructions that only newer machines have.
macro_rules! rounding {
    ($ty:ident, $half_even:ident, $trunc:ident, $floor:ident, $ceil:ident, $integers:expr) => {
        /// The nearest integer, halves to even.
        #[inline(always)]
        pub(crate) fn $half_even(x: $ty) -> $ty {
            // Numbers from here on have no fraction, so adding it rounds one off.
            const INTEGERS: $ty = $integers;
            let size = x.abs();
            let rounded = (size + INTEGERS) - INTEGERS;
            // NaN is not below and stays.
            let size = if size < INTEGERS { rounded } else { size };
            let sign = x.to_bits() & (-0.0 as $ty).to_bits();
            $ty::from_bits(size.to_bits() | sign)
        }

        /// The integer part.
        #[inline(always)]
        pub(crate) fn $trunc(x: $ty) -> $ty {
            let size = x.abs();
            let near = $half_even(size);
            let size = if near > size { near - 1.0 } else { near };
            let sign = x.to_bits() & (-0.0 as $ty).to_bits();
            $ty::from_bits(size.to_bits() | sign)
        }

        /// The largest integer not above `x`.
        #[inline(always)]
        pub(crate) fn $floor(x: $ty) -> $ty {
            let near = $half_even(x);
            if near > x { near - 1.0 } else { near }
        }

        /// The smallest integer not below `x`.
        #[inline(always)]
        pub(crate) fn $ceil(x: $ty) -> $ty {
            -$floor(-x)
        }
    };
}

rounding!(f32, round, trunc, floor, ceil, 8_388_608.0);
rounding!(
    f64,
    round64,
    trunc64,
    floor64,
    ceil64,
    4_503_599_627_370_496.0
);

/// `x` as a float, rounded once; by halves, since vector instructions for unsigned integers are rare.
#[inline(always)]
pub(crate) fn float(x: u32) -> f32 {
    (x >> 16) as i32 as f32 * 65_536.0 + (x & 0xffff) as i32 as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit patterns of positive and negative numbers of all sizes, subnormal, infinite and NaN too.
    ///
    /// The bounds in this module hold for steps of 97 too, which take a minute in a release build.
    const STEP: usize = 10_007;

    /// The largest error in units in the last place, and where it is.
    #[track_caller]
    fn within(bound: f64, f: impl Fn(f32) -> f32, reference: impl Fn(f64) -> f64, domain: f32) {
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            f32::MIN,
        ];
        let all = (0..=u32::MAX).step_by(STEP).map(f32::from_bits);
        for x in all.chain(edges).filter(|x| x.is_nan() || x.abs() <= domain) {
            let (found, expected) = (f(x), reference(f64::from(x)));
            let rounded = expected as f32;
            if rounded.is_nan() || rounded.is_infinite() || rounded == 0.0 {
                let same = found == rounded || (found.is_nan() && rounded.is_nan());
                // Just below the largest number, an error of one unit may overflow.
                let near = found.is_infinite() || found == f32::MAX || found.abs() <= 2e-45;
                assert!(
                    same || (near && !rounded.is_nan()),
                    "f({x:e}) = {found:e}, not {rounded:e}"
                );
                continue;
            }
            if found.is_infinite() {
                assert_eq!(rounded.abs(), f32::MAX, "f({x:e}) overflows");
                continue;
            }
            let unit =
                f64::from(f32::from_bits(rounded.abs().to_bits() + 1)) - f64::from(rounded.abs());
            let error = (f64::from(found) - expected).abs() / unit;
            assert!(
                error <= bound,
                "f({x:e}) = {found:e}, not {expected:e}: {error} ulp"
            );
        }
    }

    #[test]
    fn exponential_functions_are_within_their_bounds() {
        within(1.0, exp::<true>, f64::exp, f32::INFINITY);
        within(1.0, exp::<false>, f64::exp, f32::INFINITY);
        within(2.0, tanh::<true>, f64::tanh, f32::INFINITY);
        within(2.0, tanh::<false>, f64::tanh, f32::INFINITY);
        within(2.0, erf::<true>, libm::erf, f32::INFINITY);
        within(2.0, erf::<false>, libm::erf, f32::INFINITY);
        // Beyond 87 the exponential overflows before the result is subnormal.
        within(2.5, sigmoid::<true>, |x| 1.0 / (1.0 + (-x).exp()), 87.0);
    }

    #[test]
    fn logarithms_are_within_their_bounds() {
        within(1.0, log::<true>, f64::ln, f32::INFINITY);
        within(1.0, log::<false>, f64::ln, f32::INFINITY);
        within(2.0, log1p::<true>, f64::ln_1p, f32::INFINITY);
        within(2.0, log1p::<false>, f64::ln_1p, f32::INFINITY);
    }

    #[test]
    fn waves_are_within_their_bounds() {
        within(1.0, sin, f64::sin, TURNS);
        within(1.0, cos, f64::cos, TURNS);
    }

    #[test]
    fn powers_are_within_their_bounds() {
        for y in [2.0, 0.5, -1.0, 3.0, 1.0 / 3.0, -7.3, 1e-3, 1e6] {
            within(1.0, |x| pow(x, y), |x| x.powf(f64::from(y)), f32::INFINITY);
            within(1.0, |x| pow(y, x), |x| f64::from(y).powf(x), f32::INFINITY);
        }
    }

    #[test]
    fn powers_have_the_edges_of_the_standard() {
        let inf = f32::INFINITY;
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            2.0,
            -2.0,
            3.0,
            -3.0,
            0.5,
            -0.5,
            inf,
            -inf,
            f32::NAN,
        ];
        for x in numbers {
            for y in numbers {
                let (found, expected) = (pow(x, y), x.powf(y));
                let same = found.to_bits() == expected.to_bits();
                assert!(
                    same || (found.is_nan() && expected.is_nan()),
                    "{x}^{y} = {found}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn rounding_is_exact_and_keeps_the_sign_of_zero() {
        for x in (0..=u32::MAX)
            .step_by(STEP)
            .map(f32::from_bits)
            .chain([0.5, -0.5, 1.5, 2.5, -0.0])
        {
            let pairs = [
                (round(x), x.round_ties_even()),
                (trunc(x), x.trunc()),
                (floor(x), x.floor()),
                (ceil(x), x.ceil()),
            ];
            for (found, expected) in pairs {
                assert!(
                    found.to_bits() == expected.to_bits() || x.is_nan(),
                    "{x}: {found}, {expected}"
                );
            }
        }
    }

    #[test]
    fn odd_functions_keep_the_sign_of_zero() {
        for f in [tanh::<true>, erf::<true>, log1p::<true>, sin] {
            assert_eq!(f(-0.0).to_bits(), (-0.0f32).to_bits());
        }
    }
}
