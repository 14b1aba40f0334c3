//! The gated recurrent unit (Cho and others 2014). With `z` the update gate, `r` the reset gate and `n` the new one:
//!
//! ```text
//! z = σ(x · Wz + bz + h · Uz + cz)
//! r = σ(x · Wr + br + h · Ur + cr)
//! n = tanh(x · Wn + bn + r ∘ (h · Un + cn))    reset after the product (CuDNN), or
//! n = tanh(x · Wn + bn + (r ∘ h) · Un + cn)    reset before it (the paper, version 1)
//! h = z ∘ h + (1 - z) ∘ n
//! ```

use super::GateController;
use super::packed::{self, Packed, States};
use crate::Initializer;
use crate::activation::{Activation, ActivationConfig};
use crate::modules::inline;
use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Device, Tensor};

/// Describes a [`Gru`].
#[derive(Config, Debug)]
pub struct GruConfig {
    /// Size of the features of the input.
    pub d_input: usize,
    /// Size of the hidden state.
    pub d_hidden: usize,
    /// Whether the gates have biases.
    pub bias: bool,
    /// Whether the reset gate is applied after the product with the hidden state, as CuDNN and PyTorch do; otherwise
    /// before it.
    #[config(default = true)]
    pub reset_after: bool,
    /// Draws the weights and biases.
    #[config(default = "Initializer::XavierNormal { gain: 1.0 }")]
    pub initializer: Initializer,
    /// Keeps the hidden state in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// The activation of the update and the reset gate.
    #[config(default = "ActivationConfig::Sigmoid")]
    pub gate_activation: ActivationConfig,
    /// The activation of the new gate.
    #[config(default = "ActivationConfig::Tanh")]
    pub hidden_activation: ActivationConfig,
}

/// A recurrent layer with two gates over its hidden state (Cho and others 2014).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Gru {
    /// How much of the old state stays.
    pub update_gate: GateController,
    /// How much of the old state the new one sees.
    pub reset_gate: GateController,
    /// The new state.
    pub new_gate: GateController,
    /// Size of the hidden state.
    pub d_hidden: usize,
    /// Whether the reset gate is applied after the product with the hidden state.
    pub reset_after: bool,
    /// Keeps the hidden state in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// The activation of the update and the reset gate.
    pub gate_activation: Activation,
    /// The activation of the new gate.
    pub hidden_activation: Activation,
}

impl GruConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> Gru {
        let gate = || {
            let initializer = self.initializer.clone();
            GateController::new(self.d_input, self.d_hidden, self.bias, initializer, device)
        };
        Gru {
            update_gate: gate(),
            reset_gate: gate(),
            new_gate: gate(),
            d_hidden: self.d_hidden,
            reset_after: self.reset_after,
            clip: self.clip,
            gate_activation: self.gate_activation.init(device),
            hidden_activation: self.hidden_activation.init(device),
        }
    }
}

impl Gru {
    /// The hidden states of all positions. Without a state it starts from zeros.
    ///
    /// # Shapes
    /// - `batched_input`: `[batch, length, d_input]`
    /// - `state`: `[batch, d_hidden]`
    /// - output: `[batch, length, d_hidden]`
    ///
    /// # Panics
    /// If the input or the state has other sizes.
    #[track_caller]
    pub fn forward(&self, batched_input: Tensor<3>, state: Option<Tensor<2>>) -> Tensor<3> {
        self.run(batched_input, state, false).0
    }

    /// The hidden states of all positions, and the last one visited.
    #[track_caller]
    fn run(
        &self,
        input: Tensor<3>,
        state: Option<Tensor<2>>,
        reverse: bool,
    ) -> (Tensor<3>, Tensor<2>) {
        packed::check("Gru", &self.new_gate, &input, self.d_hidden, state.as_ref());
        let [batch, length, _] = input.dims();
        let gates = self.gates();
        let mut hidden = state.unwrap_or_else(|| gates.packed.initial(batch));
        let mut states = States::new(length, &hidden);
        for (at, input) in gates.packed.visits(input, reverse) {
            let (update, fresh) = match &gates.split {
                None => self.reset_after(&gates, input, hidden.clone()),
                Some(split) => self.reset_before(split, input, hidden.clone()),
            };
            let fresh = self.hidden_activation.forward(fresh);
            // n + z · (h - n)
            let next = hidden.sub(fresh.clone()).mul(update).add(fresh);
            hidden = packed::clipped(next, self.clip);
            states.set("Gru", at, hidden.clone());
        }
        (states.into_tensor(), hidden)
    }

    fn gates(&self) -> Gates {
        let new = &self.new_gate;
        let gates = [&self.update_gate, &self.reset_gate, new];
        let mut biases = gates.map(packed::biases);
        let mut bias = None;
        if self.reset_after {
            // The reset gate applies to this bias, so it cannot be added with the input.
            bias = packed::bias(&new.hidden_transform).map(|bias| bias.unsqueeze());
            biases[2] = packed::bias(&new.input_transform);
        }
        let packed = Packed::with_biases(&gates, biases.to_vec());
        let split = (!self.reset_after)
            .then(|| [(0, 2), (2, 1)].map(|(start, count)| packed.hidden_weight(start, count)));
        Gates {
            packed,
            bias,
            split,
        }
    }

    /// The update gate, and the new one before its activation.
    fn reset_after(
        &self,
        gates: &Gates,
        input: Tensor<2>,
        hidden: Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let product = gates.packed.hidden(hidden);
        let (outer, fresh) = self.halves(input);
        let (seen_outer, seen) = self.halves(product);
        let [update, reset] = self.outer(seen_outer.add(outer));
        let seen = match &gates.bias {
            Some(bias) => seen.add(bias.clone()),
            None => seen,
        };
        (update, reset.mul(seen).add(fresh))
    }

    /// The update gate, and the new one before its activation.
    fn reset_before(
        &self,
        [outer, inner]: &[Tensor<2>; 2],
        input: Tensor<2>,
        hidden: Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let (sum, fresh) = self.halves(input);
        let [update, reset] = self.outer(hidden.clone().matmul(outer.clone()).add(sum));
        (update, reset.mul(hidden).matmul(inner.clone()).add(fresh))
    }

    /// The columns of the update and the reset gate, and those of the new one.
    fn halves(&self, gates: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let width = self.d_hidden;
        let outer = gates.clone().narrow(1, 0, 2 * width);
        (outer, gates.narrow(1, 2 * width, width))
    }

    fn outer(&self, sums: Tensor<2>) -> [Tensor<2>; 2] {
        packed::activate(&self.gate_activation, sums, self.d_hidden)
    }
}

/// The weights for one call.
struct Gates {
    packed: Packed,
    /// Added to what the new gate sees of the hidden state, before the reset gate.
    bias: Option<Tensor<2>>,
    /// The weights of the hidden state for the update and the reset gate, and for the new one, where the latter has to wait
    /// for the reset gate.
    split: Option<[Tensor<2>; 2]>,
}

impl ModuleDisplay for Gru {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        super::basic::sizes(content, &self.new_gate, self.d_hidden)
            .add("reset_after", &self.reset_after)
            .optional()
    }
}

/// Describes a [`BiGru`].
#[derive(Config, Debug)]
pub struct BiGruConfig {
    /// Size of the features of the input.
    pub d_input: usize,
    /// Size of the hidden state of a direction.
    pub d_hidden: usize,
    /// Whether the gates have biases.
    pub bias: bool,
    /// Whether the reset gate is applied after the product with the hidden state.
    #[config(default = true)]
    pub reset_after: bool,
    /// Draws the weights and biases.
    #[config(default = "Initializer::XavierNormal { gain: 1.0 }")]
    pub initializer: Initializer,
    /// Whether the first dimension of the input is the batch; otherwise it is the position.
    #[config(default = true)]
    pub batch_first: bool,
    /// Keeps the hidden states in `[-clip, clip]`.
    pub clip: Option<f64>,
    /// The activation of the update and the reset gates.
    #[config(default = "ActivationConfig::Sigmoid")]
    pub gate_activation: ActivationConfig,
    /// The activation of the new gates.
    #[config(default = "ActivationConfig::Tanh")]
    pub hidden_activation: ActivationConfig,
}

/// Two [`Gru`]s over the same sequence, one from each end.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct BiGru {
    /// From the first position to the last.
    pub forward: Gru,
    /// From the last position to the first.
    pub reverse: Gru,
    /// Size of the hidden state of a direction.
    pub d_hidden: usize,
    /// Whether the first dimension of the input is the batch; otherwise it is the position.
    pub batch_first: bool,
}

impl BiGruConfig {
    /// The layer on `device`.
    pub fn init(&self, device: &Device) -> BiGru {
        let config = GruConfig::new(self.d_input, self.d_hidden, self.bias)
            .with_reset_after(self.reset_after)
            .with_initializer(self.initializer.clone())
            .with_clip(self.clip)
            .with_gate_activation(self.gate_activation.clone())
            .with_hidden_activation(self.hidden_activation.clone());
        BiGru {
            forward: config.init(device),
            reverse: config.init(device),
            d_hidden: self.d_hidden,
            batch_first: self.batch_first,
        }
    }
}

impl BiGru {
    /// The hidden states of both directions side by side, and the last one of each.
    ///
    /// # Shapes
    /// - `batched_input`: `[batch, length, d_input]`, or `[length, batch, d_input]` without `batch_first`
    /// - `state`, and the one that is returned: `[2, batch, d_hidden]`
    /// - output: as the input, with `2 · d_hidden` for `d_input`
    ///
    /// # Panics
    /// If the input or the state has other sizes.
    #[track_caller]
    pub fn forward(
        &self,
        batched_input: Tensor<3>,
        state: Option<Tensor<3>>,
    ) -> (Tensor<3>, Tensor<3>) {
        let input = packed::batch_first(batched_input, self.batch_first);
        let [first, second] = packed::directions("BiGru", state);
        let (left, one) = self.forward.run(input.clone(), first, false);
        let (right, other) = self.reverse.run(input, second, true);
        let output = Tensor::cat(alloc::vec![left, right], 2);
        let hidden = Tensor::stack(alloc::vec![one, other], 0);
        (packed::batch_first(output, self.batch_first), hidden)
    }
}

impl ModuleDisplay for BiGru {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        inline()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        super::basic::sizes(content, &self.forward.new_gate, self.d_hidden).optional()
    }
}
