//! Long short-term memory (Hochreiter and Schmidhuber 1997; with a forget gate by Gers and others 2000):
//!
//! ```text
//! i = σ(x · Wi + bi + h · Ui + ci)       input gate
//! f = σ(x · Wf + bf + h · Uf + cf)       forget gate, or 1 - i
//! o = σ(x · Wo + bo + h · Uo + co)       output gate
//! g = tanh(x · Wg + bg + h · Ug + cg)    what is new
//! c = f ∘ c + i ∘ g
//! h = o ∘ tanh(c)
//! ```

use super::GateController;
use super::packed::{self, Packed, States};
use crate::Initializer;
use crate::activation::{Activation, ActivationConfig};
use crate::modules::inline;
use alloc::vec::Vec;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Device, Tensor};

pub use super::state::{LstmState, OptionalInitialLstmState};

/// Describes an [`Lstm`].
#[derive(Config, Debug)]
pub struct LstmConfig {
    /// Size of the features of the input.
    pub d_input: usize,
    /// Size of the hidden state.
    pub d_hidden: usize,
    /// Whether the gates have biases.
    pub bias: bool,
    /// Draws the weights and biases.
    #[config(default = "Initializer::XavierNormal { gain: 1.0 }")]
    pub initializer: Initializer,
    /// Whether the first dimension of the input is the batch; otherwise it is the position.
    #[config(default = true)]
    pub batch_first: bool,
    /// Whether positions are visited from the last to the first.
    #[config(default = false)]
    pub reverse: bool,
    /// Keeps the cell in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// Whether the cell forgets as much as it takes in: `f = 1 - i`, without a forget gate of its own.
    #[config(default = false)]
    pub input_forget: bool,
    /// The activation of the input, the forget and the output gate.
    #[config(default = "ActivationConfig::Sigmoid")]
    pub gate_activation: ActivationConfig,
    /// The activation of what is new.
    #[config(default = "ActivationConfig::Tanh")]
    pub cell_activation: ActivationConfig,
    /// The activation of the cell on its way to the hidden state.
    #[config(default = "ActivationConfig::Tanh")]
    pub hidden_activation: ActivationConfig,
}

/// A recurrent layer with a cell that gates guard (Hochreiter and Schmidhuber 1997).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Lstm {
    /// How much of what is new comes in.
    pub input_gate: GateController,
    /// How much of the cell stays; `None` where that is what does not come in.
    pub forget_gate: Option<GateController>,
    /// How much of the cell is put out.
    pub output_gate: GateController,
    /// What is new.
    pub cell_gate: GateController,
    /// Size of the hidden state.
    pub d_hidden: usize,
    /// Whether the first dimension of the input is the batch; otherwise it is the position.
    pub batch_first: bool,
    /// Whether positions are visited from the last to the first.
    pub reverse: bool,
    /// Keeps the cell in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// Whether the cell forgets as much as it takes in.
    pub input_forget: bool,
    /// The activation of the input, the forget and the output gate.
    pub gate_activation: Activation,
    /// The activation of what is new.
    pub cell_activation: Activation,
    /// The activation of the cell on its way to the hidden state.
    pub hidden_activation: Activation,
}

impl LstmConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> Lstm {
        let gate = || {
            let initializer = self.initializer.clone();
            GateController::new(self.d_input, self.d_hidden, self.bias, initializer, device)
        };
        Lstm {
            input_gate: gate(),
            forget_gate: (!self.input_forget).then(gate),
            output_gate: gate(),
            cell_gate: gate(),
            d_hidden: self.d_hidden,
            batch_first: self.batch_first,
            reverse: self.reverse,
            clip: self.clip,
            input_forget: self.input_forget,
            gate_activation: self.gate_activation.init(device),
            cell_activation: self.cell_activation.init(device),
            hidden_activation: self.hidden_activation.init(device),
        }
    }
}

impl Lstm {
    /// The hidden states of all positions, and the last state. Without a state it starts from zeros.
    ///
    /// # Shapes
    /// - `batched_input`: `[batch, length, d_input]`, or `[length, batch, d_input]` without `batch_first`
    /// - `state`: `[batch, d_hidden]`
    /// - output: as the input, with `d_hidden` for `d_input`
    ///
    /// # Panics
    /// If the input or the state has other sizes.
    #[track_caller]
    pub fn forward(
        &self,
        batched_input: Tensor<3>,
        state: Option<LstmState<2>>,
    ) -> (Tensor<3>, LstmState<2>) {
        let input = packed::batch_first(batched_input, self.batch_first);
        self.check(&input, state.as_ref());
        let [batch, length, _] = input.dims();
        let gates = Packed::new(&self.gates());
        let mut state = state.unwrap_or_else(|| {
            let zeros = gates.initial(batch);
            LstmState::new(zeros.clone(), zeros)
        });
        let mut states = States::new(length, &state.hidden);
        for (at, input) in gates.visits(input, self.reverse) {
            state = self.step(&gates, input, state);
            states.set("Lstm", at, state.hidden.clone());
        }
        let output = packed::batch_first(states.into_tensor(), self.batch_first);
        (output, state)
    }

    /// [`Lstm::forward`] over positions in the order in which they come, whatever `reverse` says, for a sequence that is
    /// not there as a whole. Hidden states of positions that do not come are zeros.
    ///
    /// # Shapes
    /// - `input_timestep_iter`: a position below `seq_length`, with `[batch_size, 1, d_input]`
    /// - `state`: `[batch_size, d_hidden]`
    /// - output: `[batch_size, seq_length, d_hidden]`
    ///
    /// # Panics
    /// If an input or the state has other sizes, or there is no such position.
    #[track_caller]
    pub fn forward_iter<I: Iterator<Item = (usize, Tensor<3>)>>(
        &self,
        input_timestep_iter: I,
        state: Option<LstmState<2>>,
        batch_size: usize,
        seq_length: usize,
        device: &Device,
    ) -> (Tensor<3>, LstmState<2>) {
        let mut state = state.unwrap_or_initial([batch_size, self.d_hidden], device);
        let mut states = States::new(seq_length, &state.hidden);
        let gates = Packed::new(&self.gates());
        for (at, input) in input_timestep_iter {
            self.check(&input, Some(&state));
            let [input]: [_; 1] =
                gates
                    .inputs(input)
                    .try_into()
                    .unwrap_or_else(|inputs: Vec<_>| {
                        panic!(
                            "`Lstm`: an input of the iterator has {} positions\n  legal: 1",
                            inputs.len()
                        )
                    });
            state = self.step(&gates, input, state);
            states.set("Lstm", at, state.hidden.clone());
        }
        (states.into_tensor(), state)
    }

    #[track_caller]
    fn check(&self, input: &Tensor<3>, state: Option<&LstmState<2>>) {
        let hidden = state.map(|state| &state.hidden);
        packed::check("Lstm", &self.input_gate, input, self.d_hidden, hidden);
    }

    /// In the order in which [`Lstm::step`] takes them: what shares an activation lies side by side.
    fn gates(&self) -> Vec<&GateController> {
        let outer = [&self.output_gate, &self.input_gate];
        let gates = outer.into_iter().chain(&self.forget_gate);
        gates.chain([&self.cell_gate]).collect()
    }

    fn step(&self, gates: &Packed, input: Tensor<2>, state: LstmState<2>) -> LstmState<2> {
        let width = self.d_hidden;
        let sums = gates.hidden(state.hidden).add(input);
        let inner = sums.dims()[1] - width;
        let fresh = sums.clone().narrow(1, inner, width);
        let fresh = self.cell_activation.forward(fresh);
        let sums = sums.narrow(1, 0, inner);
        let (output, input, forget) = match self.forget_gate {
            Some(_) => {
                let [output, input, forget] = packed::activate(&self.gate_activation, sums, width);
                (output, input, forget)
            }
            None => {
                let [output, input] = packed::activate(&self.gate_activation, sums, width);
                let forget = input.clone().neg().add_scalar(1.0);
                (output, input, forget)
            }
        };
        let cell = state.cell.mul(forget).add(fresh.mul(input));
        let cell = packed::clipped(cell, self.clip);
        let hidden = self.hidden_activation.forward(cell.clone()).mul(output);
        LstmState { cell, hidden }
    }
}

impl ModuleDisplay for Lstm {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        super::basic::sizes(content, &self.input_gate, self.d_hidden).optional()
    }
}

/// Describes a [`BiLstm`].
#[derive(Config, Debug)]
pub struct BiLstmConfig {
    /// Size of the features of the input.
    pub d_input: usize,
    /// Size of the hidden state of a direction.
    pub d_hidden: usize,
    /// Whether the gates have biases.
    pub bias: bool,
    /// Draws the weights and biases.
    #[config(default = "Initializer::XavierNormal { gain: 1.0 }")]
    pub initializer: Initializer,
    /// Whether the first dimension of the input is the batch; otherwise it is the position.
    #[config(default = true)]
    pub batch_first: bool,
    /// Keeps the cells in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// Whether the cells forget as much as they take in.
    #[config(default = false)]
    pub input_forget: bool,
    /// The activation of the input, the forget and the output gates.
    #[config(default = "ActivationConfig::Sigmoid")]
    pub gate_activation: ActivationConfig,
    /// The activation of what is new.
    #[config(default = "ActivationConfig::Tanh")]
    pub cell_activation: ActivationConfig,
    /// The activation of the cells on their way to the hidden states.
    #[config(default = "ActivationConfig::Tanh")]
    pub hidden_activation: ActivationConfig,
}

/// Two [`Lstm`]s over the same sequence, one from each end (Graves and Schmidhuber 2005).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct BiLstm {
    /// From the first position to the last.
    pub forward: Lstm,
    /// From the last position to the first.
    pub reverse: Lstm,
    /// Size of the hidden state of a direction.
    pub d_hidden: usize,
    /// Whether the first dimension of the input is the batch; otherwise it is the position.
    pub batch_first: bool,
}

impl BiLstmConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> BiLstm {
        let config = LstmConfig::new(self.d_input, self.d_hidden, self.bias)
            .with_initializer(self.initializer.clone())
            .with_clip(self.clip)
            .with_input_forget(self.input_forget)
            .with_gate_activation(self.gate_activation.clone())
            .with_cell_activation(self.cell_activation.clone())
            .with_hidden_activation(self.hidden_activation.clone());
        BiLstm {
            forward: config.init(device),
            reverse: config.with_reverse(true).init(device),
            d_hidden: self.d_hidden,
            batch_first: self.batch_first,
        }
    }
}

impl BiLstm {
    /// The hidden states of both directions side by side, and the last state of each.
    ///
    /// # Shapes
    /// - `batched_input`: `[batch, length, d_input]`, or `[length, batch, d_input]` without `batch_first`
    /// - `state`: `[2, batch, d_hidden]`
    /// - output: as the input, with `2 · d_hidden` for `d_input`
    ///
    /// # Panics
    /// If the input or the state has other sizes.
    #[track_caller]
    pub fn forward(
        &self,
        batched_input: Tensor<3>,
        state: Option<LstmState<3>>,
    ) -> (Tensor<3>, LstmState<3>) {
        let input = packed::batch_first(batched_input, self.batch_first);
        let (cell, hidden) = state.map(LstmState::unpack).unzip();
        let cells = packed::directions("BiLstm", cell);
        let hidden = packed::directions("BiLstm", hidden);
        let pairs = cells.into_iter().zip(hidden);
        let mut states = pairs.map(|(cell, hidden)| Some(LstmState::new(cell?, hidden?)));
        let mut next = || states.next().flatten();
        let (left, one) = self.forward.forward(input.clone(), next());
        let (right, other) = self.reverse.forward(input, next());
        let output = Tensor::cat(alloc::vec![left, right], 2);
        (
            packed::batch_first(output, self.batch_first),
            LstmState::stack(alloc::vec![one, other], 0),
        )
    }
}

impl ModuleDisplay for BiLstm {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        super::basic::sizes(content, &self.forward.input_gate, self.d_hidden).optional()
    }
}
