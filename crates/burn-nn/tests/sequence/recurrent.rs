//! Recurrent layers, in both directions and in every layout. Those that PyTorch has not are unrolled by the script.

use crate::harness::Case;
use burn_core::module::Module;
use burn_core::tensor::{Device, Tensor};
use burn_nn::activation::{ActivationConfig, EluConfig, HardSigmoidConfig};
use burn_nn::{
    BiGru, BiGruConfig, BiLstm, BiLstmConfig, BiRnn, BiRnnConfig, Gru, GruConfig, Lstm, LstmConfig,
    LstmState, Rnn, RnnConfig, RnnState,
};

const FIXTURE: &str = include_str!("../fixtures/sequence/recurrent.json");

/// How a case departs from the plain one.
#[derive(Clone, Copy, Default)]
struct Layout {
    position_first: bool,
    state: bool,
}

const PLAIN: Layout = Layout {
    position_first: false,
    state: false,
};
const WITH_STATE: Layout = Layout {
    state: true,
    ..PLAIN
};
const POSITION_FIRST: Layout = Layout {
    position_first: true,
    ..PLAIN
};
const OTHER: Layout = Layout {
    position_first: true,
    state: true,
};

/// The case with its input `[2, 4, 3]` and as many states of shape `shape`, which may be there or not.
fn start<const D: usize>(
    name: &str,
    layout: Layout,
    parts: &[&str],
    shape: [usize; D],
) -> (Case, Tensor<3>, Vec<Tensor<D>>) {
    let mut case = Case::new(FIXTURE, name);
    let dims = match layout.position_first {
        true => [4, 2, 3],
        false => [2, 4, 3],
    };
    let input = case.input("input", dims);
    let parts = parts.iter().filter(|_| layout.state);
    let states = parts.map(|part| case.input(part, shape)).collect();
    (case, input, states)
}

#[track_caller]
fn rnn(name: &str, layout: Layout, config: RnnConfig) {
    let (mut case, input, mut states) = start(name, layout, &["hidden"], [2, 2]);
    let layer: Rnn = config.init(case.device());
    let layer = case.layer(layer);
    let (output, state) = layer.forward(input, states.pop().map(RnnState::new));
    case.output("output", output);
    if name != "rnn with a clip" {
        case.output("hidden", state.hidden);
    }
    case.finish();
}

#[track_caller]
fn lstm(name: &str, layout: Layout, config: LstmConfig, last: &[&str]) {
    let (mut case, input, states) = start(name, layout, &["hidden", "cell"], [2, 2]);
    let layer: Lstm = config.init(case.device());
    let layer = case.layer(layer);
    let (output, state) = layer.forward(input, lstm_state(states));
    case.output("output", output);
    for part in last {
        let tensor = match *part {
            "cell" => &state.cell,
            _ => &state.hidden,
        };
        case.output(part, tensor.clone());
    }
    case.finish();
}

fn lstm_state<const D: usize>(states: Vec<Tensor<D>>) -> Option<LstmState<D>> {
    let [hidden, cell] = states.try_into().ok()?;
    Some(LstmState::new(cell, hidden))
}

#[track_caller]
fn gru(name: &str, layout: Layout, config: GruConfig) {
    let (mut case, input, mut states) = start(name, layout, &["hidden"], [2, 2]);
    let layer: Gru = config.init(case.device());
    let layer = case.layer(layer);
    case.output("output", layer.forward(input, states.pop()));
    case.finish();
}

const BOTH: [&str; 2] = ["hidden", "cell"];

#[test]
fn an_rnn_agrees_with_pytorch() {
    let config = || RnnConfig::new(3, 2, true);
    rnn("rnn from zeros", PLAIN, config());
    let without = RnnConfig::new(3, 2, false);
    rnn("rnn without bias, with a state", WITH_STATE, without);
    rnn("rnn in reverse", WITH_STATE, config().with_reverse(true));
    let turned = config().with_reverse(true).with_batch_first(false);
    rnn("rnn in reverse, position first", POSITION_FIRST, turned);
    let relu = config().with_hidden_activation(ActivationConfig::Relu);
    rnn("rnn with relu", WITH_STATE, relu);
    let clip = config().with_clip(Some(0.4));
    rnn("rnn with a clip", WITH_STATE, clip);
}

#[test]
fn an_lstm_agrees_with_pytorch() {
    let config = || LstmConfig::new(3, 2, true);
    lstm("lstm from zeros", PLAIN, config(), &BOTH);
    let without = LstmConfig::new(3, 2, false);
    let name = "lstm without bias, with a state";
    lstm(name, WITH_STATE, without, &BOTH);
    let reverse = config().with_reverse(true);
    lstm("lstm in reverse", WITH_STATE, reverse, &BOTH);
    let turned = config().with_reverse(true).with_batch_first(false);
    let name = "lstm in reverse, position first";
    lstm(name, POSITION_FIRST, turned, &BOTH);
    let coupled = config().with_input_forget(true);
    lstm("lstm with coupled gates", WITH_STATE, coupled, &["cell"]);
    let other = config()
        .with_gate_activation(hard_sigmoid())
        .with_cell_activation(ActivationConfig::Softsign)
        .with_hidden_activation(EluConfig::new().into())
        .with_clip(Some(0.25));
    let name = "lstm with other activations and a clip";
    lstm(name, WITH_STATE, other, &["cell"]);
}

fn hard_sigmoid() -> ActivationConfig {
    HardSigmoidConfig::new().with_alpha(1.0 / 6.0).into()
}

#[test]
fn a_gru_agrees_with_pytorch() {
    let config = || GruConfig::new(3, 2, true);
    gru("gru from zeros", PLAIN, config());
    let without = GruConfig::new(3, 2, false);
    gru("gru without bias, with a state", WITH_STATE, without);
    let before = config().with_reset_after(false);
    gru("gru with reset before", WITH_STATE, before);
    let other = config()
        .with_gate_activation(hard_sigmoid())
        .with_hidden_activation(ActivationConfig::Softsign)
        .with_clip(Some(0.3));
    let name = "gru with other activations and a clip";
    gru(name, WITH_STATE, other);
}

#[test]
fn layers_of_both_directions_agree_with_pytorch() {
    let name = |kind: &str, layout: Layout| match layout.state {
        true => format!("{kind} of both directions, with a state, position first"),
        false => format!("{kind} of both directions"),
    };
    for layout in [PLAIN, OTHER] {
        let first = !layout.position_first;
        let (mut case, input, mut states) =
            start(&name("rnn", layout), layout, &["hidden"], [2, 2, 2]);
        let config = BiRnnConfig::new(3, 2, true).with_batch_first(first);
        let layer: BiRnn = config.init(case.device());
        let layer = case.layer(layer);
        let (output, state) = layer.forward(input, states.pop().map(RnnState::new));
        case.output("output", output);
        case.output("hidden", state.hidden);
        case.finish();

        let (mut case, input, states) = start(&name("lstm", layout), layout, &BOTH, [2, 2, 2]);
        let config = BiLstmConfig::new(3, 2, true).with_batch_first(first);
        let layer: BiLstm = config.init(case.device());
        let layer = case.layer(layer);
        let (output, state) = layer.forward(input, lstm_state(states));
        case.output("output", output);
        case.output("hidden", state.hidden);
        case.output("cell", state.cell);
        case.finish();

        let (mut case, input, mut states) =
            start(&name("gru", layout), layout, &["hidden"], [2, 2, 2]);
        let config = BiGruConfig::new(3, 2, true).with_batch_first(first);
        let layer: BiGru = config.init(case.device());
        let layer = case.layer(layer);
        let (output, state) = layer.forward(input, states.pop());
        case.output("output", output);
        case.output("hidden", state);
        case.finish();
    }
}

#[test]
fn a_gate_is_the_sum_of_two_maps() {
    let device = Device::flex();
    let ones = burn_nn::Initializer::Ones;
    let gate = burn_nn::GateController::new(2, 3, true, ones, &device);
    let sum = gate.gate_product(Tensor::ones([1, 2], &device), Tensor::ones([1, 3], &device));
    // 2 + 1 of the input, 3 + 1 of the state.
    assert_eq!(crate::harness::values(sum), [7.0; 3]);
}

#[test]
fn an_lstm_position_by_position_is_the_whole() {
    let device = Device::flex();
    let layer = LstmConfig::new(3, 2, true).init(&device);
    let input = Tensor::random([2, 4, 3], burn_core::tensor::Distribution::Default, &device);
    let (whole, end) = layer.forward(input.clone(), None);
    let position = |at: usize| (at, input.clone().narrow(1, at, 1));
    let (output, state) = layer.forward_iter((0..4).map(position), None, 2, 4, &device);
    output
        .into_data()
        .assert_approx_eq::<f32>(&whole.clone().into_data(), tolerance());
    state
        .cell
        .into_data()
        .assert_approx_eq::<f32>(&end.cell.into_data(), tolerance());
    // Half of the positions: the others are zeros.
    let (output, _) = layer.forward_iter((0..2).map(position), None, 2, 4, &device);
    let half = output.clone().narrow(1, 0, 2).into_data();
    half.assert_approx_eq::<f32>(&whole.narrow(1, 0, 2).into_data(), tolerance());
    assert_eq!(output.narrow(1, 2, 2).abs().sum().into_scalar::<f32>(), 0.0);
}

#[test]
fn a_sequence_that_is_taken_in_parts_is_the_whole_in_both_directions() {
    let device = Device::flex();
    // 128 · 4 · 64 elements for a position, of which at most 2^17 are there at once: halves of halves, of 2 and 3 positions.
    let (batch, length, d_hidden) = (128, 11, 64);
    for reverse in [false, true] {
        let config = LstmConfig::new(3, d_hidden, true).with_reverse(reverse);
        let layer = config.init(&device);
        let distribution = burn_core::tensor::Distribution::Default;
        let input = Tensor::random([batch, length, 3], distribution, &device);
        let (whole, _) = layer.forward(input.clone(), None);
        let order = (0..length).map(|at| if reverse { length - 1 - at } else { at });
        let positions = order.map(|at| (at, input.clone().narrow(1, at, 1)));
        let (output, _) = layer.forward_iter(positions, None, batch, length, &device);
        let whole = whole.into_data();
        output
            .into_data()
            .assert_approx_eq::<f32>(&whole, tolerance());
    }
}

fn tolerance() -> burn_core::tensor::Tolerance<f32> {
    burn_core::tensor::Tolerance::absolute(1e-6)
}

#[test]
fn activations_that_mix_columns_see_one_gate_at_a_time() {
    let device = Device::flex();
    let swiglu = burn_nn::SwiGluConfig::new(2, 2);
    let config = LstmConfig::new(3, 2, true).with_gate_activation(swiglu.into());
    let layer = config.init(&device);
    let input: Tensor<3> = Tensor::ones([1, 1, 3], &device);
    let (output, _) = layer.forward(input.clone(), None);
    let zeros = || Tensor::<2>::zeros([1, 2], &device);
    let sum =
        |gate: &burn_nn::GateController| gate.gate_product(input.clone().squeeze_dim(1), zeros());
    let [i, o] = [&layer.input_gate, &layer.output_gate]
        .map(|gate| layer.gate_activation.forward(sum(gate)));
    let cell = i.mul(sum(&layer.cell_gate).tanh());
    let expected = o.mul(cell.tanh()).into_data();
    output
        .squeeze_dim::<2>(1)
        .into_data()
        .assert_approx_eq::<f32>(&expected, tolerance());
}

#[test]
fn layers_show_their_sizes() {
    let device = Device::flex();
    let shown = [
        format!("{}", RnnConfig::new(2, 3, true).init(&device)),
        format!("{}", BiRnnConfig::new(2, 3, true).init(&device)),
        format!("{}", LstmConfig::new(2, 3, true).init(&device)),
        format!("{}", BiLstmConfig::new(2, 3, true).init(&device)),
        format!("{}", GruConfig::new(2, 3, true).init(&device)),
        format!("{}", BiGruConfig::new(2, 3, false).init(&device)),
    ];
    assert_eq!(
        shown,
        [
            "Rnn {d_input: 2, d_hidden: 3, bias: true, params: 21}",
            "BiRnn {d_input: 2, d_hidden: 3, bias: true, params: 42}",
            "Lstm {d_input: 2, d_hidden: 3, bias: true, params: 84}",
            "BiLstm {d_input: 2, d_hidden: 3, bias: true, params: 168}",
            "Gru {d_input: 2, d_hidden: 3, bias: true, reset_after: true, params: 63}",
            "BiGru {d_input: 2, d_hidden: 3, bias: false, params: 90}",
        ]
    );
    let coupled = LstmConfig::new(2, 3, true).with_input_forget(true);
    assert_eq!(coupled.init(&device).num_params(), 63);
}

#[test]
fn a_sequence_without_positions_gives_none_and_keeps_the_state() {
    let device = Device::flex();
    let state = LstmState::new(Tensor::ones([2, 3], &device), Tensor::ones([2, 3], &device));
    let layer = LstmConfig::new(2, 3, true).init(&device);
    let (output, state) = layer.forward(Tensor::ones([2, 0, 2], &device), Some(state));
    assert_eq!(output.dims(), [2, 0, 3]);
    assert_eq!(state.cell.sum().into_scalar::<f32>(), 6.0);
}

#[test]
#[should_panic(expected = "`Lstm`: the input has the sizes [1, 2, 4]")]
fn an_input_of_other_features_is_refused() {
    let device = Device::flex();
    let layer = LstmConfig::new(3, 2, true).init(&device);
    layer.forward(Tensor::ones([1, 2, 4], &device), None);
}

#[test]
#[should_panic(expected = "`Gru`: the state has the shape [1, 3]\n  legal: [1, 2]")]
fn a_state_of_another_size_is_refused() {
    let device = Device::flex();
    let layer = GruConfig::new(3, 2, true).init(&device);
    let state = Tensor::ones([1, 3], &device);
    layer.forward(Tensor::ones([1, 2, 3], &device), Some(state));
}

#[test]
#[should_panic(expected = "`BiRnn`: the state has the shape [1, 1, 2]")]
fn a_state_of_one_direction_is_refused_for_two() {
    let device = Device::flex();
    let layer = BiRnnConfig::new(3, 2, true).init(&device);
    let state = RnnState::new(Tensor::ones([1, 1, 2], &device));
    layer.forward(Tensor::ones([1, 2, 3], &device), Some(state));
}
