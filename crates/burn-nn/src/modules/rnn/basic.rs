//! The plain recurrent layer (Elman 1990): `h[t] = tanh(x[t] · W + b + h[t-1] · U + c)`.

use super::GateController;
use super::packed::{self, Packed, States};
use crate::Initializer;
use crate::activation::{Activation, ActivationConfig};
use crate::modules::inline;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Device, Tensor};

/// What an [`Rnn`] hands on from one position to the next.
#[derive(Clone, Debug)]
pub struct RnnState<const D: usize> {
    /// The hidden state, `[batch, d_hidden]`; with both directions `[2, batch, d_hidden]`.
    pub hidden: Tensor<D>,
}

impl<const D: usize> RnnState<D> {
    /// A state from its part.
    pub fn new(hidden: Tensor<D>) -> Self {
        Self { hidden }
    }
}

/// Describes an [`Rnn`].
#[derive(Config, Debug)]
pub struct RnnConfig {
    /// Size of the features of the input.
    pub d_input: usize,
    /// Size of the hidden state.
    pub d_hidden: usize,
    /// Whether the gate has biases.
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
    /// Keeps the hidden state in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// The activation of the gate.
    #[config(default = "ActivationConfig::Tanh")]
    pub hidden_activation: ActivationConfig,
}

/// A layer that reads a sequence position by position and remembers in a hidden state (Elman 1990).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Rnn {
    /// The only gate.
    pub gate: GateController,
    /// Size of the hidden state.
    pub d_hidden: usize,
    /// Whether the first dimension of the input is the batch; otherwise it is the position.
    pub batch_first: bool,
    /// Whether positions are visited from the last to the first.
    pub reverse: bool,
    /// Keeps the hidden state in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// The activation of the gate.
    pub hidden_activation: Activation,
}

impl RnnConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> Rnn {
        let initializer = self.initializer.clone();
        Rnn {
            gate: GateController::new(self.d_input, self.d_hidden, self.bias, initializer, device),
            d_hidden: self.d_hidden,
            batch_first: self.batch_first,
            reverse: self.reverse,
            clip: self.clip,
            hidden_activation: self.hidden_activation.init(device),
        }
    }
}

impl Rnn {
    /// The hidden states of all positions, and the last one visited. Without a state it starts from zeros.
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
        state: Option<RnnState<2>>,
    ) -> (Tensor<3>, RnnState<2>) {
        let input = packed::batch_first(batched_input, self.batch_first);
        let state = state.map(|state| state.hidden);
        packed::check("Rnn", &self.gate, &input, self.d_hidden, state.as_ref());
        let [batch, length, _] = input.dims();
        let gate = Packed::new(&[&self.gate]);
        let mut hidden = state.unwrap_or_else(|| gate.initial(batch));
        let mut states = States::new(length, &hidden);
        for (at, input) in gate.visits(input, self.reverse) {
            let sum = gate.hidden(hidden).add(input);
            hidden = packed::clipped(self.hidden_activation.forward(sum), self.clip);
            states.set("Rnn", at, hidden.clone());
        }
        let output = packed::batch_first(states.into_tensor(), self.batch_first);
        (output, RnnState::new(hidden))
    }
}

impl ModuleDisplay for Rnn {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        sizes(content, &self.gate, self.d_hidden).optional()
    }
}

/// What every recurrent layer shows of itself.
pub(super) fn sizes(content: Content, gate: &GateController, d_hidden: usize) -> Content {
    content
        .add("d_input", &gate.d_input())
        .add("d_hidden", &d_hidden)
        .add("bias", &gate.input_transform.bias.is_some())
}

/// Describes a [`BiRnn`].
#[derive(Config, Debug)]
pub struct BiRnnConfig {
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
    /// Keeps the hidden states in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// The activation of the gates.
    #[config(default = "ActivationConfig::Tanh")]
    pub hidden_activation: ActivationConfig,
}

/// Two [`Rnn`]s over the same sequence, one from each end (Schuster and Paliwal 1997).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct BiRnn {
    /// From the first position to the last.
    pub forward: Rnn,
    /// From the last position to the first.
    pub reverse: Rnn,
    /// Size of the hidden state of a direction.
    pub d_hidden: usize,
    /// Whether the first dimension of the input is the batch; otherwise it is the position.
    pub batch_first: bool,
}

impl BiRnnConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> BiRnn {
        let config = RnnConfig::new(self.d_input, self.d_hidden, self.bias)
            .with_initializer(self.initializer.clone())
            .with_clip(self.clip)
            .with_hidden_activation(self.hidden_activation.clone());
        BiRnn {
            forward: config.init(device),
            reverse: config.with_reverse(true).init(device),
            d_hidden: self.d_hidden,
            batch_first: self.batch_first,
        }
    }
}

impl BiRnn {
    /// The hidden states of both directions side by side, and the last one of each.
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
        state: Option<RnnState<3>>,
    ) -> (Tensor<3>, RnnState<3>) {
        let input = packed::batch_first(batched_input, self.batch_first);
        let [first, second] = packed::directions("BiRnn", state.map(|state| state.hidden));
        let (left, one) = self
            .forward
            .forward(input.clone(), first.map(RnnState::new));
        let (right, other) = self.reverse.forward(input, second.map(RnnState::new));
        let output = Tensor::cat(alloc::vec![left, right], 2);
        let hidden = Tensor::stack(alloc::vec![one.hidden, other.hidden], 0);
        (
            packed::batch_first(output, self.batch_first),
            RnnState::new(hidden),
        )
    }
}

impl ModuleDisplay for BiRnn {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        sizes(content, &self.forward.gate, self.d_hidden).optional()
    }
}
