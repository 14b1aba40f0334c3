//! Random data: fixed seeds, wide margins.

use burn_std::rand::{SeedableRng, StdRng};
use burn_std::{Distribution, Element, TensorData, bf16, f16};

const COUNT: usize = 10_000;

fn draw<E: Element>(distribution: Distribution) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(7);
    TensorData::random::<E, _, _>([COUNT], distribution, &mut rng)
        .iter()
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_same_seed_draws_the_same_data() {
    assert_eq!(
        draw::<f32>(Distribution::Default),
        draw::<f32>(Distribution::Default)
    );
}

#[test]
fn floats_are_uniform_below_one_by_default() {
    // The standard error of the mean is 0.289 / sqrt(10,000) = 0.003: the margin is 5 of them.
    for values in [
        draw::<f64>(Distribution::Default),
        draw::<f32>(Distribution::Default),
        draw::<f16>(Distribution::Default),
        draw::<bf16>(Distribution::Default),
    ] {
        assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
        assert!((mean(&values) - 0.5).abs() < 0.015, "{}", mean(&values));
    }
}

#[test]
fn normal_has_its_mean_and_deviation() {
    let values = draw::<f64>(Distribution::Normal(3.0, 2.0));
    let squares: Vec<_> = values.iter().map(|value| (value - 3.0).powi(2)).collect();
    // Standard errors: 2 / 100 of the mean, 4 * sqrt(2) / 100 of the variance; 5 of them.
    assert!((mean(&values) - 3.0).abs() < 0.1);
    assert!((mean(&squares) - 4.0).abs() < 0.3);
    // About 68.3 % lie within one deviation; the standard error is 0.005.
    let within = squares.iter().filter(|square| **square < 4.0).count() as f64 / COUNT as f64;
    assert!((within - 0.683).abs() < 0.025, "{within}");
}

#[test]
fn bernoulli_is_one_as_often_as_it_says() {
    let values = draw::<u8>(Distribution::Bernoulli(0.2));
    assert!(values.iter().all(|value| *value == 0.0 || *value == 1.0));
    assert!((mean(&values) - 0.2).abs() < 0.02);
}

#[test]
fn uniform_integers_leave_out_the_upper_end() {
    let values = draw::<i32>(Distribution::Uniform(-1.0, 3.0));
    for expected in -1..3 {
        assert!(values.contains(&f64::from(expected)));
    }
    assert!(values.iter().all(|value| (-1.0..3.0).contains(value)));
}

#[test]
fn truth_values_are_a_fair_coin_by_default() {
    let share = mean(&draw::<bool>(Distribution::Default));
    assert!((share - 0.5).abs() < 0.025, "{share}");
}

#[test]
fn a_narrow_half_precision_range_leaves_out_the_upper_end() {
    // One step of bf16 above 1: nearly half of the draws round up and are repeated.
    let values = draw::<bf16>(Distribution::Uniform(1.0, 1.0078125));
    assert!(values.iter().all(|value| *value == 1.0));
}

#[test]
#[should_panic(expected = "Uniform(2.0, 1.0): the range is empty or infinite in f32")]
fn an_empty_range_panics() {
    draw::<f32>(Distribution::Uniform(2.0, 1.0));
}

#[test]
#[should_panic(expected = "Bernoulli(1.5): a probability lies between 0 and 1")]
fn a_probability_above_one_panics() {
    draw::<bool>(Distribution::Bernoulli(1.5));
}

#[test]
#[should_panic(expected = "Normal(0.0, -1.0): both are finite")]
fn a_negative_deviation_panics() {
    draw::<f16>(Distribution::Normal(0.0, -1.0));
}

#[test]
fn distributions_are_equal_by_bits() {
    assert_eq!(
        Distribution::Normal(f64::NAN, 1.0),
        Distribution::Normal(f64::NAN, 1.0)
    );
    assert_ne!(
        Distribution::Uniform(0.0, 1.0),
        Distribution::Uniform(-0.0, 1.0)
    );
    assert_ne!(
        Distribution::Uniform(0.0, 1.0),
        Distribution::Normal(0.0, 1.0)
    );
}
