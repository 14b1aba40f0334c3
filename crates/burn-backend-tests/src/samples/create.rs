//! Tensors from nothing.

use super::binary::number;
use super::{ANY, BOOLS, FLOATS, INF, INTS, NUMERIC};
use crate::array::Array;
use crate::{Property, Sample};
use burn_ir::{CreateOp, Operation};
use burn_std::{DType, Distribution, Scalar, Shape};

fn full(
    note: &str,
    shape: &[usize],
    value: impl Fn(DType) -> Scalar + Send + Sync + 'static,
) -> Sample {
    let shape: Shape = shape.iter().copied().collect();
    Sample::new(note, ANY, vec![], move |dtype| Operation::Create {
        op: CreateOp::Full {
            shape: shape.clone(),
            dtype,
            value: value(dtype),
        },
    })
    .by_family()
}

fn arange(note: &str, start: i64, step: i64, len: usize) -> Sample {
    Sample::new(note, INTS, vec![], move |dtype| Operation::Create {
        op: CreateOp::Arange {
            start,
            step,
            len,
            dtype,
        },
    })
    .by_family()
}

/// How many draws the properties are about.
const DRAWS: usize = 4000;

fn random(
    note: &str,
    distribution: Distribution,
    check: impl Fn(&Array) -> Option<String> + Send + Sync + 'static,
) -> Sample {
    Sample::new(note, FLOATS, vec![], move |dtype| Operation::Create {
        op: CreateOp::Random {
            shape: [DRAWS].into(),
            dtype,
            distribution,
        },
    })
    .property(check)
}

/// All draws in range, and their mean within five standard errors of the distribution's: fails one run in a million,
/// and for a fixed seed always or never.
fn draws(low: f64, high: f64, mean: f64, deviation: f64) -> impl Fn(&Array) -> Option<String> {
    move |array| {
        let draws = || array.data.iter().map(|num| num.float());
        if let Some(outside) = draws().find(|draw| !(low..=high).contains(draw)) {
            return Some(format!("{outside} is outside of [{low}, {high}]"));
        }
        let found = draws().sum::<f64>() / DRAWS as f64;
        let spread = (draws().map(|draw| (draw - mean).powi(2)).sum::<f64>() / DRAWS as f64).sqrt();
        // The standard deviation of n draws has a standard error below 1/√n of itself for these distributions.
        let error = 5.0 * deviation / (DRAWS as f64).sqrt();
        ((found - mean).abs() > error || (spread - deviation).abs() > error).then(|| {
            format!("mean {found} and deviation {spread} instead of {mean} and {deviation}")
        })
    }
}

pub(super) fn samples() -> Vec<Sample> {
    let property: fn(f64, f64, f64, f64) -> Property =
        |low, high, mean, deviation| std::sync::Arc::new(draws(low, high, mean, deviation));
    let distribution = |note, distribution, property: Property| {
        random(note, distribution, move |array| property(array))
    };
    vec![
        full("of a number", &[3, 5], number),
        full("without dims", &[], number),
        full("without elements", &[0, 5], number),
        full("of infinity", &[3], |_| Scalar::Float(-INF)).on(FLOATS),
        full("of NaN", &[3], |_| Scalar::Float(f64::NAN)).on(FLOATS),
        full("of the greatest", &[3], |dtype| match dtype {
            DType::U64 => Scalar::UInt(u64::MAX),
            dtype => Scalar::Int(crate::array::int_limits(dtype).1 as i64),
        })
        .on(INTS),
        arange("forwards", 0, 1, 21),
        arange("backwards", 7, -3, 6),
        arange("wrapping", 250, 2, 5),
        arange("without elements", 4, 1, 0),
        // Uniform in [0, 1): deviation 1/√12. Rounding to a half type may reach neither end but 0.
        distribution(
            "default",
            Distribution::Default,
            property(0.0, 1.0, 0.5, 12f64.sqrt().recip()),
        ),
        distribution(
            "uniform",
            Distribution::Uniform(-2.0, 4.0),
            property(-2.0, 4.0, 1.0, 6.0 / 12f64.sqrt()),
        ),
        distribution(
            "normal",
            Distribution::Normal(1.0, 2.0),
            property(-INF, INF, 1.0, 2.0),
        ),
        // Deviation √(p·(1 - p)).
        distribution(
            "bernoulli",
            Distribution::Bernoulli(0.25),
            property(0.0, 1.0, 0.25, 0.1875f64.sqrt()),
        )
        .on(NUMERIC),
        distribution("coin", Distribution::Default, property(0.0, 1.0, 0.5, 0.5)).on(BOOLS),
    ]
}
