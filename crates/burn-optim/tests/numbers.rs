//! Steps of each optimizer and rates of each schedule, compared to PyTorch, and to the formulas of the papers where it
//! has none.

use burn_core::module::{Module, Param};
use burn_core::tensor::{DType, Device, Tensor};
use burn_optim::decay::WeightDecayConfig;
use burn_optim::lr_scheduler::LrSchedulerConfig;
use burn_optim::lr_scheduler::composed::ComposedLrSchedulerConfig;
use burn_optim::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn_optim::lr_scheduler::exponential::ExponentialLrSchedulerConfig;
use burn_optim::lr_scheduler::linear::LinearLrSchedulerConfig;
use burn_optim::lr_scheduler::module_lr_scheduler::ModuleLrSchedulerConfig;
use burn_optim::lr_scheduler::noam::NoamLrSchedulerConfig;
use burn_optim::lr_scheduler::sequential::SequentialLrSchedulerConfig;
use burn_optim::lr_scheduler::step::StepLrSchedulerConfig;
use burn_optim::momentum::MomentumConfig;
use burn_optim::{
    AdaGradConfig, AdafactorConfig, AdamConfig, AdamWConfig, AdanConfig, AdjustLrFn,
    GradientsParams, LBFGSConfig, LambConfig, LineSearchFn, LionConfig, ModuleOptimizer,
    MuonConfig, RmsPropConfig, SgdConfig,
};
use serde_json::Value;

// Made by the scripts beside them.
const TORCH: &str = include_str!("fixtures/torch/steps.json");
const TORCH_LBFGS: &str = include_str!("fixtures/torch/lbfgs.json");
const TORCH_RATES: &str = include_str!("fixtures/torch/rates.json");
const TORCH_CLIPPING: &str = include_str!("fixtures/torch/clipping.json");
const PAPERS: &str = include_str!("fixtures/optimizers/steps.json");

#[derive(Module, Debug)]
struct Weights<const D: usize> {
    values: Param<Tensor<D>>,
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("the fixture is JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("the fixture has a list here")
}

fn numbers(value: &Value) -> Vec<f64> {
    let numbers = list(value).iter();
    numbers
        .map(|number| number.as_f64().expect("of numbers"))
        .collect()
}

#[track_caller]
fn assert_close(found: impl IntoIterator<Item = f64>, expected: &Value, what: &str) {
    for (found, expected) in found.into_iter().zip(numbers(expected)) {
        let error = (found - expected).abs();
        assert!(
            error < 1e-6 + 1e-5 * expected.abs(),
            "{what}: {found} for {expected}"
        );
    }
}

fn optimizer(case: &str) -> ModuleOptimizer {
    let decay = Some(WeightDecayConfig::new(0.1));
    match case.split_once(' ').map_or(case, |(name, _)| name) {
        "sgd" => sgd(case),
        "adam" | "adamw" => adam(case),
        "muon" => muon(case),
        _ => match case {
            "adagrad" => AdaGradConfig::new().init(),
            "adagrad with decays" => AdaGradConfig::new()
                .with_lr_decay(0.1)
                .with_weight_decay(decay)
                .init(),
            "rmsprop" => RmsPropConfig::new().with_momentum(0.0).init(),
            "rmsprop with momentum" => RmsPropConfig::new().init(),
            "rmsprop centered with everything" => RmsPropConfig::new()
                .with_alpha(0.9)
                .with_centered(true)
                .with_weight_decay(decay)
                .init(),
            "adafactor" | "adafactor of a vector" => AdafactorConfig::new().init(),
            "adafactor with everything" => AdafactorConfig::new()
                .with_decay_rate(-0.5)
                .with_clip_threshold(1.5)
                .with_weight_decay(0.1)
                .init(),
            "adan" => AdanConfig::new().init(),
            "adan with proximal decay" => AdanConfig::new().with_weight_decay(0.1).init(),
            "adan with decay" => AdanConfig::new()
                .with_weight_decay(0.1)
                .with_no_prox(true)
                .init(),
            "lion" => LionConfig::new().init(),
            "lion with decay" => LionConfig::new().with_weight_decay(0.1).init(),
            "lamb" => LambConfig::new().init(),
            "lamb with decay" => LambConfig::new().with_weight_decay(0.1).init(),
            "lamb without trust ratio" => LambConfig::new()
                .with_weight_decay(0.1)
                .with_use_trust_ratio(false)
                .init(),
            _ => panic!("the fixture has a case `{case}` that this test does not know"),
        },
    }
}

fn sgd(case: &str) -> ModuleOptimizer {
    let sgd = SgdConfig::new();
    let momentum = MomentumConfig::new().with_dampening(0.0);
    let decay = Some(WeightDecayConfig::new(0.1));
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
        _ => panic!("the fixture has a case `{case}` that this test does not know"),
    }
}

fn adam(case: &str) -> ModuleOptimizer {
    let adam = AdamConfig::new();
    let adamw = AdamWConfig::new().with_weight_decay(0.5);
    match case {
        "adam" => adam.init(),
        "adam with other betas and epsilon" => adam
            .with_beta_1(0.8)
            .with_beta_2(0.9)
            .with_epsilon(1e-2)
            .init(),
        "adam with weight decay" => adam
            .with_weight_decay(Some(WeightDecayConfig::new(0.1)))
            .init(),
        "adam with amsgrad" => adam.with_beta_2(0.5).with_amsgrad(true).init(),
        "adamw" => adamw.init(),
        "adamw with amsgrad" => adamw.with_beta_2(0.5).with_amsgrad(true).init(),
        "adamw with caution" => adamw.with_cautious_weight_decay(true).init(),
        _ => panic!("the fixture has a case `{case}` that this test does not know"),
    }
}

fn muon(case: &str) -> ModuleOptimizer {
    let muon = MuonConfig::new();
    let decay = |penalty| Some(WeightDecayConfig::new(penalty));
    match case {
        "muon" => muon.init(),
        "muon of a tall matrix with decay" => muon.with_weight_decay(decay(0.1)).init(),
        "muon as adamw" => {
            let momentum = MomentumConfig::new()
                .with_dampening(0.0)
                .with_nesterov(true);
            muon.with_momentum(momentum)
                .with_adjust_lr_fn(AdjustLrFn::MatchRmsAdamW)
                .init()
        }
        "muon with plain momentum" => muon
            .with_momentum(MomentumConfig::new())
            .with_weight_decay(decay(0.5))
            .init(),
        _ => panic!("the fixture has a case `{case}` that this test does not know"),
    }
}

fn steps<const D: usize>(case: &str, fixture: &Value, shape: [usize; D], device: &Device) {
    let lr = match case {
        // Beyond the bound of relative steps.
        "adafactor with everything" => 5.0,
        _ => fixture["learning_rate"].as_f64().expect("a number"),
    };
    let tensor = |elems: &Value| {
        let elems = numbers(elems);
        Tensor::<1>::from_data(elems.as_slice(), device).reshape(shape)
    };
    let mut optimizer = optimizer(case);
    let mut weights = Weights {
        values: Param::from_tensor(tensor(&fixture["start"])),
    };
    let expected = list(&fixture["cases"][case]["steps"]);
    for (step, (grad, expected)) in list(&fixture["gradients"]).iter().zip(expected).enumerate() {
        let mut grads = GradientsParams::new();
        grads.register(weights.values.id, tensor(grad));
        weights = optimizer.step(lr, weights, grads);
        let found = weights.values.val().into_data();
        assert_close(
            found.iter::<f64>(),
            expected,
            &format!("{case}, step {step}"),
        );
    }
}

fn all_steps(device: &Device) {
    let mut cases = 0;
    for fixture in [json(TORCH), json(PAPERS)] {
        for (case, about) in fixture["cases"].as_object().expect("by case") {
            match numbers(&about["shape"])[..] {
                [len] => steps(case, &fixture, [len as usize], device),
                [rows, columns] => {
                    steps(case, &fixture, [rows as usize, columns as usize], device);
                }
                _ => panic!("{case} has another rank"),
            }
            cases += 1;
        }
    }
    assert_eq!(cases, 32);
}

#[test]
fn steps_follow_pytorch_and_the_papers() {
    all_steps(&Device::flex());
}

#[test]
#[cfg(feature = "fusion")]
fn steps_follow_pytorch_and_the_papers_unfused() {
    all_steps(&Device::flex().unfused());
}

#[derive(Module, Debug)]
struct Two {
    a: Param<Tensor<2>>,
    b: Param<Tensor<1>>,
}

impl Two {
    fn loss(&self, target: &Tensor<1>, weight: &Tensor<1>) -> Tensor<1> {
        let x = Tensor::cat(vec![self.a.val().reshape([4]), self.b.val()], 0);
        let error = (x.clone() - target.clone()).square() * weight.clone();
        let (first, last) = (x.clone().slice(0..1), x.clone().slice(5..6));
        error.sum() + x.square().square().sum() * 0.1 + (first * last).square() * 0.2
    }
}

#[test]
fn lbfgs_follows_pytorch() {
    let fixture = json(TORCH_LBFGS);
    let device = Device::flex().autodiff();
    let vector = |name: &str| {
        let elems = numbers(&fixture[name]);
        Tensor::<1>::from_data(elems.as_slice(), (&device, DType::F64))
    };
    let (start, target, weight) = (vector("start"), vector("target"), vector("weight"));
    for (search, case) in fixture["cases"].as_object().expect("by case") {
        let number = |name: &str| case[name].as_u64().expect("a number") as usize;
        let mut optimizer = LBFGSConfig::new()
            .with_max_iter(number("max_iter"))
            .with_history_size(number("history_size"))
            .with_line_search_fn(match search.as_str() {
                "none" => LineSearchFn::None,
                _ => LineSearchFn::StrongWolfe,
            })
            .init();
        let mut module = Two {
            a: Param::from_tensor(start.clone().slice(0..4).reshape([2, 2])),
            b: Param::from_tensor(start.clone().slice(4..6)),
        };
        let lr = case["lr"].as_f64().expect("a number");
        for (step, expected) in list(&case["steps"]).iter().enumerate() {
            // What is saved and loaded goes on as if never stopped.
            let bytes = optimizer.into_bytes().expect("the record is small");
            let optimizer_now = optimizer.from_bytes(bytes);
            optimizer = optimizer_now.expect("it was just written");
            let (next, loss) = optimizer.step(lr, module, |module| {
                let loss = module.loss(&target, &weight);
                let grads = GradientsParams::from_grads(loss.backward(), &module);
                (loss.into_scalar(), grads)
            });
            module = next;
            let found = Tensor::cat(vec![module.a.val().reshape([4]), module.b.val()], 0);
            let found = found.into_data().iter::<f64>().collect::<Vec<_>>();
            let found = found.into_iter().chain([loss]);
            assert_close(found, expected, &format!("{search}, step {step}"));
            assert!(module.a.val().is_require_grad());
        }
    }
}

fn schedule(name: &str) -> LrSchedulerConfig {
    let linear = LinearLrSchedulerConfig::new(0.8, 0.2, 3);
    match name {
        "constant" => 0.3.into(),
        "linear" => linear.into(),
        "cosine" => CosineAnnealingLrSchedulerConfig::new(0.5, 4)
            .with_min_lr(0.1)
            .into(),
        "exponential" => ExponentialLrSchedulerConfig::new(0.5, 0.9).into(),
        "step" => StepLrSchedulerConfig::new(0.5, 3).into(),
        "noam" => NoamLrSchedulerConfig::new(1.0)
            .with_warmup_steps(4)
            .with_model_size(16)
            .into(),
        "sequential" => {
            let falling = ExponentialLrSchedulerConfig::new(0.8, 0.5).into();
            SequentialLrSchedulerConfig::new(vec![linear.into(), falling], vec![4]).into()
        }
        "composed" => ComposedLrSchedulerConfig::new()
            .linear(LinearLrSchedulerConfig::new(1.0, 0.25, 3))
            .exponential(ExponentialLrSchedulerConfig::new(0.8, 0.9))
            .into(),
        _ => panic!("the fixture has a schedule `{name}` that this test does not know"),
    }
}

#[test]
fn rates_follow_pytorch() {
    let fixture = json(TORCH_RATES);
    let cases = fixture.as_object().expect("by case");
    assert_eq!(cases.len(), 8);
    for (name, expected) in cases {
        let mut scheduler = ModuleLrSchedulerConfig::new(schedule(name))
            .init()
            .expect("the configuration is legal");
        let count = list(expected).len();
        let found: Vec<f64> = (0..count).map(|_| scheduler.step().base()).collect();
        assert_close(found, expected, name);
    }
}

#[test]
fn gradients_clipped_together_follow_pytorch() {
    let fixture = json(TORCH_CLIPPING);
    let device = Device::flex();
    for (name, max) in [("norm 1", 1.0), ("norm 10", 10.0)] {
        let mut grads = GradientsParams::new();
        let grad = |at: usize| numbers(&fixture["gradients"][at]);
        let params = [0, 1].map(|at| {
            let tensor = Tensor::<1>::from_data(grad(at).as_slice(), &device);
            let param = Param::from_tensor(tensor.clone());
            // The norm does not depend on the shapes.
            grads.register(param.id, tensor.unsqueeze::<2>());
            param
        });
        let clipped = grads.clip_global_norm(max);
        for (at, param) in params.iter().enumerate() {
            let found = clipped.get::<2>(param.id).expect("it is there").into_data();
            assert_close(found.iter::<f64>(), &fixture["clipped"][name][at], name);
        }
    }
}
