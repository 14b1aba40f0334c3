//! What a step does to a module, and what an optimizer remembers.

use burn_core::module::{Module, Param, ParamGroup};
use burn_core::store::RecordError;
use burn_core::tensor::{Bytes, Device, Int, Tensor};
use burn_nn::{Linear, LinearConfig};
use burn_optim::grad_clipping::{GradientClipping, GradientClippingConfig};
use burn_optim::lr_scheduler::constant::ConstantLr;
use burn_optim::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn_optim::momentum::MomentumConfig;
use burn_optim::{
    AdaGradConfig, AdafactorConfig, AdamConfig, AdamWConfig, AdanConfig, GradientsAccumulator,
    GradientsParams, LambConfig, LearningRate, LionConfig, ModuleOptimizer, MultiGradientsParams,
    MuonConfig, Optimizer, OptimizerRecord, RecordState, RmsPropConfig, SgdConfig,
};

#[derive(Module, Debug)]
struct Net {
    first: Linear,
    second: Linear,
}

fn net(device: &Device) -> Net {
    let layer = |start: f32| Linear {
        weight: Param::from_data([[start, start + 1.0], [start + 2.0, start + 3.0]], device),
        bias: Some(Param::from_data([start, -start], device)),
    };
    Net {
        first: layer(1.0),
        second: layer(2.0),
    }
}

fn grads(net: &Net) -> GradientsParams {
    let device = net.first.weight.val().device();
    let input = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 4.0]], &device);
    let output = net.second.forward(net.first.forward(input));
    GradientsParams::from_grads(output.sum().backward(), net)
}

fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    tensor.try_to_vec_as().expect("a CPU tensor can be read")
}

fn all(net: &Net) -> Vec<f32> {
    let bias = |layer: &Linear| values(layer.bias.as_ref().expect("both have one"));
    let (first, second) = (&net.first, &net.second);
    [
        values(&first.weight),
        bias(first),
        values(&second.weight),
        bias(second),
    ]
    .concat()
}

fn step(optimizer: &mut ModuleOptimizer, net: Net) -> Net {
    let grads = grads(&net);
    optimizer.step(0.1, net, grads)
}

#[test]
fn each_parameter_goes_against_its_gradient() {
    let before = net(&Device::flex().autodiff());
    let grads = grads(&before);
    let grad = grads.get::<2>(before.second.weight.id).expect("it has one");
    let weight = values(&before.second.weight);
    let expected: Vec<f32> = weight
        .iter()
        .zip(values(&grad))
        .map(|(weight, grad)| weight - 0.5 * grad)
        .collect();
    let after = SgdConfig::new().init().step(0.5, before.clone(), grads);
    assert_eq!(values(&after.second.weight), expected);
    assert_eq!(after.second.weight.id, before.second.weight.id);
}

#[test]
fn a_step_starts_a_new_tape() {
    let device = Device::flex().autodiff();
    let mut optimizer = AdamConfig::new().init();
    let net = step(&mut optimizer, net(&device));
    let weight = net.first.weight.val();
    assert!(weight.is_autodiff() && weight.is_require_grad());
    // The tape of the first step was consumed: a second backward pass must not reach it.
    step(&mut optimizer, net);
}

#[test]
fn what_is_frozen_has_no_gradient_and_stays() {
    let group = ParamGroup::from_predicate("first");
    let before = net(&Device::flex().autodiff()).freeze_group(group);
    assert_eq!(grads(&before).len(), 2);
    let after = step(&mut AdamConfig::new().init(), before.clone());
    assert_eq!(values(&after.first.weight), values(&before.first.weight));
    assert_ne!(values(&after.second.weight), values(&before.second.weight));
    assert!(!after.first.weight.val().is_require_grad());
}

#[test]
fn gradients_of_chosen_parameters_leave_the_others_in_place() {
    let net = net(&Device::flex().autodiff());
    let input = Tensor::<2>::ones([1, 2], &Device::flex().autodiff());
    let loss = net.second.forward(net.first.forward(input)).sum();
    let mut all = loss.backward();
    let ids = [net.first.weight.id];
    let mut chosen = GradientsParams::from_params(&mut all, &net, &ids);
    assert_eq!(chosen.len(), 1);
    assert!(chosen.remove::<2>(net.first.weight.id).is_some());
    assert!(chosen.is_empty());
    assert_eq!(GradientsParams::from_module(&mut all, &net).len(), 3);
}

#[test]
fn a_group_follows_its_own_rule() {
    let stay = SgdConfig::new().build();
    let mut optimizer = SgdConfig::new().init().with_group(
        ParamGroup::from_predicate("first"),
        stay,
        Some(GradientClipping::Value(0.0)),
    );
    let before = net(&Device::flex().autodiff());
    let after = step(&mut optimizer, before.clone());
    assert_eq!(values(&after.first.weight), values(&before.first.weight));
    assert_ne!(values(&after.second.weight), values(&before.second.weight));
}

#[test]
fn gradients_are_clipped_by_parameter() {
    let device = Device::flex();
    let before = net(&device);
    let mut grads = GradientsParams::new();
    // Norm 5 and norm 0.5.
    let long = Tensor::<2>::from_data([[3.0, 0.0], [0.0, 4.0]], &device);
    let short = Tensor::<2>::from_data([[0.3, 0.0], [0.0, 0.4]], &device);
    grads.register(before.first.weight.id, long);
    grads.register(before.second.weight.id, short);
    let clipping = GradientClippingConfig::Norm(1.0);
    let config = SgdConfig::new().with_gradient_clipping(Some(clipping));
    let after = config.init().step(1.0, before.clone(), grads);
    let moved =
        |before: &Linear, after: &Linear| values(&(before.weight.val() - after.weight.val()));
    for (found, expected) in [
        (moved(&before.first, &after.first), [0.6, 0.0, 0.0, 0.8]),
        (moved(&before.second, &after.second), [0.3, 0.0, 0.0, 0.4]),
    ] {
        for (found, expected) in found.into_iter().zip(expected) {
            // f32: differences of values up to 5.
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
        }
    }
}

#[test]
fn accumulated_gradients_are_sums() {
    let net = net(&Device::flex().autodiff());
    let mut accumulator = GradientsAccumulator::new();
    accumulator.accumulate(&net, grads(&net));
    accumulator.accumulate(&net, grads(&net));
    let id = net.first.weight.id;
    let sum = accumulator.grads().get::<2>(id).expect("it has one");
    let one = grads(&net).get::<2>(id).expect("it has one");
    assert_eq!(values(&sum), values(&(one * 2.0)));
    assert!(accumulator.grads().is_empty());
}

#[test]
fn gradients_of_several_devices_make_one_step() {
    let before = net(&Device::flex());
    let part = |id, grad: [[f32; 2]; 2]| {
        let mut grads = GradientsParams::new();
        grads.register(id, Tensor::<2>::from_data(grad, &Device::flex()));
        (grads, Device::flex())
    };
    let grads = MultiGradientsParams {
        grads: vec![
            part(before.first.weight.id, [[1.0, 0.0], [0.0, 0.0]]),
            part(before.second.weight.id, [[0.0, 1.0], [0.0, 0.0]]),
        ],
    };
    let after = SgdConfig::new().init().step_multi(1.0, before, grads);
    assert_eq!(values(&after.first.weight), [0.0, 2.0, 3.0, 4.0]);
    assert_eq!(values(&after.second.weight), [2.0, 2.0, 4.0, 5.0]);
}

/// Whether the only part of the states is `momentum` itself.
fn is_lion(optimizer: &ModuleOptimizer) -> bool {
    let record = format!("{:?}", optimizer.to_record());
    record.contains(".momentum\"") && !record.contains(".momentum.")
}

/// One of each, with all parts of its state.
fn optimizers() -> Vec<ModuleOptimizer> {
    let momentum = Some(MomentumConfig::new());
    vec![
        SgdConfig::new().with_momentum(momentum).init(),
        AdamConfig::new().with_amsgrad(true).init(),
        AdamWConfig::new().init(),
        AdaGradConfig::new().with_lr_decay(0.1).init(),
        RmsPropConfig::new().with_centered(true).init(),
        AdanConfig::new().init(),
        LionConfig::new().init(),
        LambConfig::new().init(),
        AdafactorConfig::new().init(),
        AdamConfig::new().init().with_group(
            ParamGroup::from_predicate("weight"),
            MuonConfig::new().build(),
            None,
        ),
    ]
}

#[test]
fn a_restored_optimizer_goes_on_as_if_never_stopped() {
    for fresh in optimizers() {
        let mut optimizer = fresh.clone();
        let net = step(&mut optimizer, net(&Device::flex().autodiff()));
        let net = step(&mut optimizer, net);
        let bytes = optimizer.into_bytes().expect("the record is small");
        let uninterrupted = step(&mut optimizer, net.clone());

        let mut restored = fresh
            .clone()
            .from_bytes(bytes)
            .expect("the record is intact");
        assert_eq!(all(&step(&mut restored, net.clone())), all(&uninterrupted));
        assert_eq!(restored.to_record().len(), optimizer.to_record().len());
        // Steps by sign do not depend on the state while the signs stay.
        let forgetful = all(&step(&mut fresh.clone(), net));
        assert!(forgetful != all(&uninterrupted) || is_lion(&optimizer));
    }
}

#[test]
fn a_module_that_moves_takes_the_state_along() {
    for mut optimizer in optimizers() {
        let net = step(&mut optimizer, net(&Device::flex().autodiff()));
        let mut stayed = optimizer.clone();
        let moved = net.clone().fork(&Device::flex().unfused());
        let moved = step(&mut optimizer, moved);
        assert_eq!(moved.devices(), [Device::flex().unfused().autodiff()]);
        assert_eq!(all(&moved), all(&step(&mut stayed, net)));
    }
}

#[derive(Module, Debug)]
struct Long {
    values: Param<Tensor<1>>,
}

#[test]
fn steps_of_large_parameters_give_the_bits_of_unfused_ones() {
    // Enough to be fused, and no multiple of what a kernel takes at once.
    const LEN: i64 = 20_011;
    let steps = |device: &Device, mut optimizer: ModuleOptimizer| {
        let wave = |shift: f64| {
            let at = Tensor::<1, Int>::arange(0..LEN, device).float();
            (at * 0.37 + shift).sin()
        };
        let mut module = Long {
            values: Param::from_tensor(wave(0.0)),
        };
        for step in 1..4 {
            let mut grads = GradientsParams::new();
            grads.register(module.values.id, wave(f64::from(step)) * 0.1);
            module = optimizer.step(0.01, module, grads);
        }
        values(&module.values)
    };
    for (fused, unfused) in optimizers().into_iter().zip(optimizers()) {
        let expected = steps(&Device::flex().unfused(), unfused);
        let found = steps(&Device::flex(), fused);
        assert!(found == expected, "the bits of a fused step differ");
    }
}

#[test]
fn a_parameter_in_two_groups_follows_the_one_added_last() {
    let all = ParamGroup::all;
    let still = || SgdConfig::new().build();
    let mut optimizer = SgdConfig::new()
        .init()
        .with_group(all(), still(), Some(GradientClipping::Value(0.0)))
        .with_group(all(), still(), None);
    let before = net(&Device::flex().autodiff());
    let after = step(&mut optimizer, before.clone());
    assert_ne!(values(&after.first.weight), values(&before.first.weight));
}

#[test]
fn a_group_has_a_learning_rate_of_its_own() {
    let device = Device::flex().autodiff();
    let mut schedule = ModuleLrScheduler::new(ConstantLr::new(0.5))
        .with_group(ParamGroup::from_predicate("first"), 0.0);
    let before = net(&device);
    let grads = grads(&before);
    let after = SgdConfig::new()
        .init()
        .step(schedule.step(), before.clone(), grads);
    assert_eq!(values(&after.first.weight), values(&before.first.weight));
    assert_ne!(values(&after.second.weight), values(&before.second.weight));
}

#[test]
#[should_panic(expected = "`Muon` improves parameters of 2 dimensions, not 1: [2]")]
fn muon_refuses_what_is_no_matrix_with_a_report() {
    step(
        &mut MuonConfig::new().init(),
        net(&Device::flex().autodiff()),
    );
}

/// A rule and a state as somebody else would write them.
#[derive(Clone)]
struct Slowing;

#[derive(Clone, RecordState)]
struct SlowingState<const D: usize> {
    steps: u32,
    last: Vec<Tensor<D>>,
    note: Option<f64>,
}

impl Optimizer for Slowing {
    type State<const D: usize> = SlowingState<D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<D>,
        grad: Tensor<D>,
        state: Option<SlowingState<D>>,
    ) -> (Tensor<D>, Option<SlowingState<D>>) {
        let state = state.unwrap_or(SlowingState {
            steps: 0,
            last: Vec::new(),
            note: None,
        });
        let steps = state.steps + 1;
        let tensor = tensor - grad.clone() * (lr / f64::from(steps));
        let state = SlowingState {
            steps,
            last: state.last.into_iter().chain([grad]).collect(),
            note: Some(lr),
        };
        (tensor, Some(state))
    }

    fn to_device<const D: usize>(state: SlowingState<D>, device: &Device) -> SlowingState<D> {
        let last = state.last.into_iter();
        SlowingState {
            last: last.map(|grad| grad.to_device(device)).collect(),
            ..state
        }
    }
}

#[test]
fn a_rule_of_somebody_else_is_restored() {
    let mut optimizer = ModuleOptimizer::from(Slowing);
    let net = step(&mut optimizer, net(&Device::flex().autodiff()));
    let net = step(&mut optimizer, net);
    let record = optimizer.to_record();
    // Four parameters, two gradients each.
    assert_eq!(record.len(), 8);
    let mut restored = ModuleOptimizer::from(Slowing).load_record(record);
    let expected = all(&step(&mut optimizer, net.clone()));
    assert_eq!(all(&step(&mut restored, net)), expected);
}

#[test]
fn a_record_survives_a_file() {
    let mut optimizer = AdamConfig::new().init();
    let net = step(&mut optimizer, net(&Device::flex().autodiff()));
    let folder = tempfile::tempdir().expect("the system has a place for temporary files");
    let file = folder.path().join("optimizer");
    optimizer.save(&file).expect("the folder is there");
    assert!(folder.path().join("optimizer.bpk").exists());
    let mut restored = AdamConfig::new()
        .init()
        .load(&file)
        .expect("it was just written");
    assert_eq!(
        all(&step(&mut restored, net.clone())),
        all(&step(&mut optimizer, net))
    );
    // Four parameters, two moments each.
    assert_eq!(OptimizerRecord::load(&file).expect("it is there").len(), 8);
}

#[test]
fn the_record_of_another_optimizer_is_an_error_that_names_the_parameter() {
    let mut sgd = SgdConfig::new()
        .with_momentum(Some(MomentumConfig::new()))
        .init();
    step(&mut sgd, net(&Device::flex().autodiff()));
    let bytes = sgd.into_bytes().expect("the record is small");
    let error = AdamConfig::new().init().from_bytes(bytes);
    match error.expect_err("Adam needs two moments") {
        RecordError::Validation(problem) => assert!(
            problem.contains(".weight`") || problem.contains(".bias`"),
            "{problem}"
        ),
        RecordError::Io(problem) => panic!("not a problem of the file system: {problem}"),
    }
}

#[test]
fn a_record_cut_anywhere_is_an_error() {
    let mut optimizer = AdamConfig::new().init();
    step(&mut optimizer, net(&Device::flex().autodiff()));
    let intact = optimizer
        .into_bytes()
        .expect("the record is small")
        .to_vec();
    // The last tensor has two elements; up to there something is always missing.
    for len in (0..intact.len() - 8).step_by(11) {
        let cut = Bytes::from_bytes_vec(intact[..len].to_vec());
        assert!(
            AdamConfig::new().init().from_bytes(cut).is_err(),
            "cut to {len}"
        );
    }
}

#[test]
fn a_layer_learns_a_line() {
    let device = Device::flex().autodiff();
    device.seed(3);
    let mut layer = LinearConfig::new(1, 1).init(&device);
    let mut optimizer = AdamConfig::new().init();
    let x = Tensor::<2>::from_data([[-1.0], [0.0], [1.0]], &device);
    let y = x.clone() * 2.0 + 1.0;
    for _ in 0..300 {
        let loss = (layer.forward(x.clone()) - y.clone()).square().mean();
        let grads = GradientsParams::from_grads(loss.backward(), &layer);
        layer = optimizer.step(0.05, layer, grads);
    }
    let bias = layer.bias.as_ref().expect("it has one by default");
    let found = [values(&layer.weight)[0], values(bias)[0]];
    assert!(
        (found[0] - 2.0).abs() < 1e-3 && (found[1] - 1.0).abs() < 1e-3,
        "{found:?}"
    );
}
