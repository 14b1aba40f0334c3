//! Functions of f32 as other runtimes compute them, for graphics interfaces. Those let `exp` err by 3 + 2|x| units in the last
//! place and `log` by 2⁻²¹ near 1, and leave open what there is beyond the finite numbers (Vulkan 1.3, "Precision and
//! Operation of SPIR-V Instructions").

use super::binary::product;
use super::compare::{differ, exclusive};
use cubecl::prelude::*;

/// Whether the kernel that is being built goes through a graphics interface.
#[cube]
pub(super) fn is_shader() -> comptime_type!(bool) {
    intrinsic!(|scope| {
        let properties = scope.state().device_properties.clone();
        // What CubeCL calls every device of wgpu's, whatever language it compiles to.
        properties.is_some_and(|it| it.identity.fingerprint.starts_with("spirv_"))
    })
}

#[cube]
fn splat<F: Float, N: Size>(#[comptime] value: f32) -> Vector<F, N> {
    Vector::new(F::new(value))
}

#[cube]
fn of_bits<F: Float, N: Size>(#[comptime] bits: u32) -> Vector<F, N> {
    Vector::<F, N>::reinterpret(Vector::<u32, N>::new(bits))
}

#[cube]
fn infinity<F: Float, N: Size>() -> Vector<F, N> {
    of_bits::<F, N>(0x7f80_0000u32)
}

#[cube]
fn no_number<F: Float, N: Size>() -> Vector<F, N> {
    of_bits::<F, N>(0x7fc0_0000u32)
}

/// `2^n` of whole numbers from -126 to 127.
#[cube]
fn power_of_two<F: Float, N: Size>(n: Vector<F, N>) -> Vector<F, N> {
    let exponent = Vector::<u32, N>::cast_from(n + splat::<F, N>(127.0f32));
    Vector::<F, N>::reinterpret(exponent << Vector::new(23u32))
}

/// `e^x = 2^n e^r` with `|r|` at most `ln 2 / 2`, of which the eighth term of the series is below 6e-9. The first part of
/// `ln 2`, 355/512, has so few bits that its multiples are exact.
#[cube]
pub(super) fn exp<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    let above = x.greater_than(&splat::<F, N>(88.8f32));
    let below = x.less_than(&splat::<F, N>(-104.0f32));
    let nan = differ::<F, N>(x, x);
    let inside = select_many(above.or(below).or(nan), splat::<F, N>(0.0f32), x);
    let n = (inside * splat::<F, N>(std::f32::consts::LOG2_E)).round();
    let r = inside - n * splat::<F, N>(0.693359375f32);
    let r = r + n * splat::<F, N>(2.1219444e-4f32);
    let mut sum = splat::<F, N>(1.0f32);
    #[unroll]
    for at in 0..7usize {
        let term = comptime!(1.0f32 / (7 - at) as f32);
        sum = splat::<F, N>(1.0f32) + sum * r * splat::<F, N>(term);
    }
    // In two steps, as 2^n may be no normal number.
    let half = (n * splat::<F, N>(0.5f32)).floor();
    let scaled = product::<F, N>(sum, power_of_two::<F, N>(half));
    let result = product::<F, N>(scaled, power_of_two::<F, N>(n - half));
    let result = select_many(above, infinity::<F, N>(), result);
    let result = select_many(below, splat::<F, N>(0.0f32), result);
    select_many(nan, x, result)
}

/// `ln(1 + f)` for `f` from `√½ - 1` to `√2 - 1`: with `s = f / (2 + f)` it is `2 (s + s³/3 + s⁵/5 + …)`, of which the seventh
/// term is below 2e-10 (Abramowitz and Stegun 1964, 4.1.27).
#[cube]
fn around_one<F: Float, N: Size>(f: Vector<F, N>) -> Vector<F, N> {
    let s = f / (splat::<F, N>(2.0f32) + f);
    let square = s * s;
    let mut rest = splat::<F, N>(2.0f32 / 13.0f32);
    #[unroll]
    for at in 0..5usize {
        let coefficient = comptime!(2.0f32 / (11 - 2 * at) as f32);
        rest = splat::<F, N>(coefficient) + rest * square;
    }
    // 2 s = f - s f
    f - s * (f - rest * square)
}

/// `ln(1 + x)` without the sum where that loses digits. Compilers of shaders may take `(1 + x) - 1` for `x`, so that its error
/// is not to be had there.
#[cube]
pub(super) fn log1p<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    let above = x.greater_than(&splat::<F, N>(std::f32::consts::FRAC_1_SQRT_2 - 1.0f32));
    let near = above.vec_and(x.less_than(&splat::<F, N>(std::f32::consts::SQRT_2 - 1.0f32)));
    let far = log::<F, N>(splat::<F, N>(1.0f32) + x);
    select_many(near, around_one::<F, N>(x), far)
}

/// By its value at 0, `π/4` or `π/2` and a polynomial (Moshier, Cephes Mathematical Library 2.2, 1992).
#[cube]
pub(super) fn atan<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    let zero = splat::<F, N>(0.0f32);
    let one = splat::<F, N>(1.0f32);
    let size = x.abs();
    // tan 3π/8 and tan π/8
    let steep = size.greater_than(&splat::<F, N>(std::f32::consts::SQRT_2 + 1.0f32));
    let flat = size.less_than(&splat::<F, N>(std::f32::consts::SQRT_2 - 1.0f32));
    let t = (size - one) / (size + one);
    let t = select_many(steep, -one / size, t);
    let t = select_many(flat, size, t);
    let base = splat::<F, N>(std::f32::consts::FRAC_PI_4);
    let base = select_many(steep, splat::<F, N>(std::f32::consts::FRAC_PI_2), base);
    let base = select_many(flat, zero, base);
    let z = t * t;
    let p = z * splat::<F, N>(8.05374449538e-2f32) + splat::<F, N>(-1.38776856032e-1f32);
    let p = p * z + splat::<F, N>(1.99777106478e-1f32);
    let p = p * z + splat::<F, N>(-3.33329491539e-1f32);
    let result = base + (p * z * t + t);
    let result = select_many(x.less_than(&zero), -result, result);
    select_many(differ::<F, N>(x, x), x, result)
}

/// `ln(2^e m) = e ln 2 + ln m` with `m` around 1.
#[cube]
pub(super) fn log<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    let tiny = x.less_than(&splat::<F, N>(f32::MIN_POSITIVE));
    let scaled = select_many(tiny, x * splat::<F, N>(8388608.0f32), x);
    let bits = Vector::<u32, N>::reinterpret(scaled);
    let exponent = Vector::<F, N>::cast_from(bits >> Vector::new(23u32));
    let e = exponent - splat::<F, N>(127.0f32);
    let e = select_many(tiny, e - splat::<F, N>(23.0f32), e);
    let fraction = (bits & Vector::new(0x007f_ffffu32)) | Vector::new(0x3f80_0000u32);
    let m = Vector::<F, N>::reinterpret(fraction);
    let upper = m.greater_than(&splat::<F, N>(std::f32::consts::SQRT_2));
    let m = select_many(upper, m * splat::<F, N>(0.5f32), m);
    let e = select_many(upper, e + splat::<F, N>(1.0f32), e);
    let near = around_one::<F, N>(m - splat::<F, N>(1.0f32));
    let low = near - e * splat::<F, N>(2.1219444e-4f32);
    let result = low + e * splat::<F, N>(0.693359375f32);
    let zero = splat::<F, N>(0.0f32);
    let result = select_many(x.equal(&zero), -infinity::<F, N>(), result);
    let result = select_many(x.less_than(&zero), no_number::<F, N>(), result);
    let keeps = differ::<F, N>(x, x).or(x.equal(&infinity::<F, N>()));
    select_many(keeps, x, result)
}

/// Below 0.625 by a polynomial (Moshier, Cephes Mathematical Library 2.2, 1992), above by `1 - 2 / (e^2x + 1)`.
#[cube]
pub(super) fn tanh<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    let one = splat::<F, N>(1.0f32);
    let size = x.abs();
    let z = x * x;
    let p = z * splat::<F, N>(-5.70498872745e-3f32) + splat::<F, N>(2.06390887954e-2f32);
    let p = p * z + splat::<F, N>(-5.37397155531e-2f32);
    let p = p * z + splat::<F, N>(1.33314422036e-1f32);
    let p = p * z + splat::<F, N>(-3.33332819422e-1f32);
    let near = p * z * x + x;
    let two = splat::<F, N>(2.0f32);
    let far = one - two / (exp::<F, N>(size * two) + one);
    let far = select_many(x.less_than(&splat::<F, N>(0.0f32)), -far, far);
    let result = select_many(size.less_than(&splat::<F, N>(0.625f32)), near, far);
    select_many(differ::<F, N>(x, x), x, result)
}

/// The runtime's power of positive numbers, and what IEEE 754 (2019, 9.2.1) says of the others.
#[cube]
pub(super) fn pow<F: Float, N: Size>(x: Vector<F, N>, y: Vector<F, N>) -> Vector<F, N> {
    let zero = splat::<F, N>(0.0f32);
    let one = splat::<F, N>(1.0f32);
    let infinity = infinity::<F, N>();
    let size = x.abs();
    let falls = y.less_than(&zero);
    let mut result = size.powf(y);
    result = select_many(
        size.equal(&zero),
        select_many(falls, infinity, zero),
        result,
    );
    let endless = size.equal(&infinity);
    result = select_many(endless, select_many(falls, zero, infinity), result);
    // An endless exponent.
    let grows = exclusive::<N>(size.greater_than(&one), falls);
    let limit = select_many(grows, infinity, zero);
    let limit = select_many(size.equal(&one), one, limit);
    result = select_many(y.abs().equal(&infinity), limit, result);
    // Signs.
    let half = y * splat::<F, N>(0.5f32);
    let whole = y.floor().equal(&y);
    let odd = whole.vec_and(differ::<F, N>(half.floor(), half));
    let sign = Vector::<u32, N>::reinterpret(x) >> Vector::new(31u32);
    let negative = sign.equal(&Vector::new(1u32));
    result = select_many(negative.vec_and(odd), -result, result);
    let root = x.less_than(&zero).vec_and(!whole).vec_and(!endless);
    result = select_many(root, no_number::<F, N>(), result);
    result = select_many(differ::<F, N>(x, x), x, result);
    result = select_many(differ::<F, N>(y, y), y, result);
    select_many(y.equal(&zero).or(x.equal(&one)), one, result)
}
