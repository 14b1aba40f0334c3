//! Functions that are made of others, against those of the standard library in f64, from the smallest numbers to the
//! largest.

use super::dev;
use burn_tensor::{DType, Tensor, TensorData};

type Pair = (&'static str, fn(Tensor<1>) -> Tensor<1>, fn(f64) -> f64);

const FUNCTIONS: [Pair; 9] = [
    ("tan", Tensor::tan, f64::tan),
    ("asin", Tensor::asin, f64::asin),
    ("acos", Tensor::acos, f64::acos),
    ("sinh", Tensor::sinh, f64::sinh),
    ("cosh", Tensor::cosh, f64::cosh),
    ("asinh", Tensor::asinh, f64::asinh),
    ("acosh", Tensor::acosh, acosh),
    ("atanh", Tensor::atanh, atanh),
    ("square", Tensor::square, |x| x * x),
];

/// By the positive argument: near -1 the standard library loses digits that it keeps near 1.
fn atanh(x: f64) -> f64 {
    x.abs().atanh().copysign(x)
}

/// By half the argument: the standard library loses half of the digits near 1.
fn acosh(x: f64) -> f64 {
    2.0 * ((x - 1.0) / 2.0).sqrt().asinh()
}

/// Magnitudes on a logarithmic scale, some numbers around the ends of domains, and the special ones.
fn arguments(largest: f64, epsilon: f64) -> Vec<f64> {
    let scale = largest.ln();
    let magnitudes = (-2000..=2000).map(|at| (scale * f64::from(at) / 2000.0).exp());
    let near = (1..200).flat_map(|at| {
        let step = f64::from(at) * epsilon;
        [1.0 - step, 1.0 + step, 1.0 - 40.0 * step, 1.0 + 40.0 * step]
    });
    let special = [0.0, 1.0, largest, f64::INFINITY, f64::NAN];
    let positive = magnitudes.chain(near).chain(special);
    positive.flat_map(|x| [x, -x]).collect()
}

/// The distance of neighbours around `x` in a type.
fn ulp(x: f64, epsilon: f64, min_positive: f64) -> f64 {
    let size = x.abs().max(min_positive);
    2f64.powi(size.log2().floor() as i32) * epsilon
}

#[track_caller]
fn check(dtype: DType, within: f64) {
    let info = dtype.finfo().expect("a float type");
    let data = arguments(info.max, info.epsilon);
    let count = data.len();
    let x = Tensor::<1>::from_data(TensorData::new(data, [count]), (&dev(), dtype));
    let rounded: Vec<f64> = x.to_data().iter().collect();
    for (name, ours, exact) in FUNCTIONS {
        let found: Vec<f64> = ours(x.clone()).into_data().iter().collect();
        for (x, found) in rounded.iter().zip(found) {
            // An angle of many turns is known to the spacing of its argument at best: that is the sine's business.
            if name == "tan" && x.abs() > 1000.0 {
                continue;
            }
            let expected = exact(*x);
            let same = found == expected || (found.is_nan() && expected.is_nan());
            let limit = within * ulp(expected, info.epsilon, info.min_positive);
            let near = (found - expected).abs() <= limit;
            let overflow = expected.abs() >= info.max * (1.0 - within * info.epsilon);
            let beyond = overflow && found == expected.signum() * f64::INFINITY;
            assert!(
                same || near || beyond,
                "{name}({x:e}) in {}: {found:e} instead of {expected:e}, {} ulps",
                dtype.name(),
                (found - expected).abs() * within / limit
            );
        }
    }
}

#[test]
fn composed_functions_are_accurate_in_single_precision() {
    check(DType::F32, 8.0);
}

#[test]
fn composed_functions_are_accurate_in_double_precision() {
    check(DType::F64, 8.0);
}

#[test]
fn composed_functions_do_not_overflow_in_half_precision() {
    check(DType::F16, 8.0);
    check(DType::BF16, 8.0);
}
