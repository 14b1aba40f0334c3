//! Steps of each optimizer, compared to the formulas of the papers in f64.

use burn_core::module::{Module, Param};
use burn_core::tensor::{Device, Tensor};
use burn_optim::decay::WeightDecayConfig;
use burn_optim::momentum::MomentumConfig;
use burn_optim::{AdamConfig, AdamWConfig, GradientsParams, ModuleOptimizer, SgdConfig};
use serde_json::Value;

/// Made by the script beside it.
const FIXTURE: &str = include_str!("fixtures/optimizers/steps.json");

#[derive(Module, Debug)]
struct Weights {
    values: Param<Tensor<1>>,
}

fn numbers(value: &Value) -> Vec<f64> {
    let numbers = value.as_array().expect("the fixture has a list here");
    numbers
        .iter()
        .map(|number| number.as_f64().expect("of numbers"))
        .collect()
}

fn optimizer(case: &str) -> ModuleOptimizer {
    let sgd = SgdConfig::new();
    let momentum = MomentumConfig::new().with_dampening(0.0);
    let decay = Some(WeightDecayConfig::new(0.1));
    let adam = AdamConfig::new();
    let adamw = AdamWConfig::new().with_weight_decay(0.5);
    match case {
        "sgd" => sgd.init(),
        "sgd with weight decay" => sgd.with_weight_decay(decay).init(),
        "sgd with momentum" => sgd.with_momentum(Some(momentum)).init(),
        "sgd with momentum and dampening" => sgd.with_momentum(Some(MomentumConfig::new())).init(),
        "sgd with nesterov momentum and weight decay" => {
            let momentum = momentum.with_momentum(0.8).with_nesterov(true);
            sgd.with_momentum(Some(momentum))
                .with_weight_decay(decay)
                .init()
        }
        "adam" => adam.init(),
        "adam with other betas and epsilon" => adam
            .with_beta_1(0.8)
            .with_beta_2(0.9)
            .with_epsilon(1e-2)
            .init(),
        "adam with weight decay" => adam.with_weight_decay(decay).init(),
        "adam with amsgrad" => adam.with_beta_2(0.5).with_amsgrad(true).init(),
        "adamw" => adamw.init(),
        "adamw with amsgrad" => adamw.with_beta_2(0.5).with_amsgrad(true).init(),
        "adamw with caution" => adamw.with_cautious_weight_decay(true).init(),
        _ => panic!("the fixture has a case `{case}` that this test does not know"),
    }
}

fn steps_on(device: &Device) {
    let fixture: Value = serde_json::from_str(FIXTURE).expect("the fixture is JSON");
    let lr = fixture["learning_rate"].as_f64().expect("a number");
    let cases = fixture["parameters"].as_object().expect("by case");
    assert_eq!(cases.len(), 12);
    for (case, expected) in cases {
        let mut optimizer = optimizer(case);
        let start = numbers(&fixture["start"]);
        let mut weights = Weights {
            values: Param::from_data(start.as_slice(), device),
        };
        let gradients = fixture["gradients"].as_array().expect("by step");
        let expected = expected.as_array().expect("by step");
        for (step, (grad, expected)) in gradients.iter().zip(expected).enumerate() {
            let grad = Tensor::<1>::from_data(numbers(grad).as_slice(), device);
            let mut grads = GradientsParams::new();
            grads.register(weights.values.id, grad);
            weights = optimizer.step(lr, weights, grads);

            let found = weights.values.val().into_data();
            for (found, expected) in found.iter::<f64>().zip(numbers(expected)) {
                // f32: a few roundings of values up to 2 in each of five steps.
                let error = (found - expected).abs();
                assert!(error < 2e-6, "{case}, step {step}: {found} for {expected}");
            }
        }
    }
}

#[test]
fn steps_follow_the_formulas() {
    steps_on(&Device::flex());
}

#[test]
#[cfg(feature = "fusion")]
fn steps_follow_the_formulas_unfused() {
    steps_on(&Device::flex().unfused());
}
