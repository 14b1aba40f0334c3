//! Gates side by side, and what else the recurrent layers share.

use super::GateController;
use crate::Linear;
use crate::activation::Activation;
use alloc::vec::Vec;
use burn_core::module::Param;
use burn_core::tensor::{Tensor, module::linear};

/// The weights of several gates side by side, gathered once for each call of a layer.
pub(super) struct Packed {
    /// Maps the input to the gates: `[d_input, gates · d_hidden]`.
    input: Tensor<2>,
    /// Maps the hidden state to the gates: `[d_hidden, gates · d_hidden]`.
    hidden: Tensor<2>,
    /// What is added with the input: `[gates · d_hidden]`.
    bias: Option<Tensor<1>>,
}

impl Packed {
    /// Gates in the order given.
    pub fn new(gates: &[&GateController]) -> Self {
        Self::with_biases(gates, gates.iter().map(|gate| biases(gate)).collect())
    }

    /// [`Packed::new`] with these biases.
    pub fn with_biases(gates: &[&GateController], biases: Vec<Option<Tensor<1>>>) -> Self {
        let input = side_by_side(gates.iter().map(|gate| &gate.input_transform));
        let hidden = side_by_side(gates.iter().map(|gate| &gate.hidden_transform));
        let width = hidden.dims()[0];
        let bias = biases.iter().any(Option::is_some).then(|| {
            let zeros = || Tensor::zeros([width], (&input.device(), input.dtype()));
            let biases = biases.into_iter();
            Tensor::cat(biases.map(|bias| bias.unwrap_or_else(zeros)).collect(), 0)
        });
        Self {
            input,
            hidden,
            bias,
        }
    }

    /// What an input `[batch, length, d_input]` says to the gates, by position: `[batch, gates · d_hidden]`.
    pub fn inputs(&self, input: Tensor<3>) -> Vec<Tensor<2>> {
        let mut positions = Vec::with_capacity(input.dims()[1]);
        cut(
            linear(input, self.input.clone(), self.bias.clone()),
            1,
            &mut positions,
        );
        let positions = positions.into_iter();
        positions.map(|position| position.squeeze_dim(1)).collect()
    }

    /// The positions of a sequence `[batch, length, d_input]` in the order in which they are visited, each with what its
    /// input says to the gates. That is several times the input: it is there for some positions at a time.
    pub fn visits(
        &self,
        sequence: Tensor<3>,
        reverse: bool,
    ) -> impl Iterator<Item = (usize, Tensor<2>)> {
        /// Elements of it that are there at once: enough work for a product.
        const MOST: usize = 1 << 17;
        let [batch, length, _] = sequence.dims();
        let position = batch * self.hidden.dims()[1];
        let mut parts = Vec::new();
        cut(sequence, (MOST / position.max(1)).max(1), &mut parts);
        if reverse {
            parts.reverse();
        }
        let inputs = parts.into_iter().flat_map(move |part| {
            let mut inputs = self.inputs(part);
            if reverse {
                inputs.reverse();
            }
            inputs
        });
        inputs.enumerate().map(move |(at, input)| match reverse {
            true => (length - 1 - at, input),
            false => (at, input),
        })
    }

    /// What a hidden state says to the gates: `[batch, gates · d_hidden]`.
    pub fn hidden(&self, hidden: Tensor<2>) -> Tensor<2> {
        hidden.matmul(self.hidden.clone())
    }

    /// The weights of the hidden state for gates `start..start + count`.
    pub fn hidden_weight(&self, start: usize, count: usize) -> Tensor<2> {
        let width = self.hidden.dims()[0];
        self.hidden.clone().narrow(1, start * width, count * width)
    }

    /// Zeros for a hidden state, `[batch, d_hidden]`.
    pub fn initial(&self, batch: usize) -> Tensor<2> {
        let options = (&self.hidden.device(), self.hidden.dtype());
        Tensor::zeros([batch, self.hidden.dims()[0]], options)
    }
}

/// Parts of a sequence of at most as many positions, as halves of halves: the gradient of a part is as large as what it is
/// cut from, so that cutting each part from the whole would cost the square of the length.
fn cut(sequence: Tensor<3>, most: usize, parts: &mut Vec<Tensor<3>>) {
    match sequence.dims()[1] {
        0 => {}
        length if length <= most => parts.push(sequence),
        length => {
            let half = length / 2;
            cut(sequence.clone().narrow(1, 0, half), most, parts);
            cut(sequence.narrow(1, half, length - half), most, parts);
        }
    }
}

/// The sum of the biases of a gate, if it has any.
pub(super) fn biases(gate: &GateController) -> Option<Tensor<1>> {
    let parts = [&gate.input_transform, &gate.hidden_transform].map(bias);
    parts.into_iter().flatten().reduce(Tensor::add)
}

/// The bias of a map, if it has one.
pub(super) fn bias(linear: &Linear) -> Option<Tensor<1>> {
    linear.bias.as_ref().map(Param::val)
}

fn side_by_side<'a>(linears: impl Iterator<Item = &'a Linear>) -> Tensor<2> {
    Tensor::cat(linears.map(|linear| linear.weight.val()).collect(), 1)
}

/// The gates that lie side by side in `gates`, each of `width` columns, after their activation.
pub(super) fn activate<const N: usize>(
    activation: &Activation,
    gates: Tensor<2>,
    width: usize,
) -> [Tensor<2>; N] {
    let at = |gates: &Tensor<2>, at: usize| gates.clone().narrow(1, at * width, width);
    match activation.is_elementwise() {
        true => {
            let gates = activation.forward(gates);
            core::array::from_fn(|gate| at(&gates, gate))
        }
        false => core::array::from_fn(|gate| activation.forward(at(&gates, gate))),
    }
}

/// A value in `[-clip, clip]`, if there is a clip.
pub(super) fn clipped(value: Tensor<2>, clip: Option<f64>) -> Tensor<2> {
    match clip {
        Some(clip) => value.clamp(-clip, clip),
        None => value,
    }
}

/// Swaps the first two dimensions unless the batch is the first.
pub(super) fn batch_first(tensor: Tensor<3>, is_first: bool) -> Tensor<3> {
    match is_first {
        true => tensor,
        false => tensor.swap_dims(0, 1),
    }
}

/// The hidden states of a sequence by position: `[batch, length, d_hidden]`, zeros where there is none.
pub(super) struct States {
    states: Vec<Option<Tensor<2>>>,
    initial: Tensor<2>,
}

impl States {
    /// None yet.
    pub fn new(length: usize, initial: &Tensor<2>) -> Self {
        Self {
            states: alloc::vec![None; length],
            initial: initial.clone(),
        }
    }

    /// Sets the state at a position.
    ///
    /// # Panics
    /// If the sequence has no such position.
    #[track_caller]
    pub fn set(&mut self, layer: &str, at: usize, state: Tensor<2>) {
        let length = self.states.len();
        assert!(
            at < length,
            "`{layer}`: there is no position {at} in a sequence of length {length}\n  legal: 0 to the length, exclusive"
        );
        self.states[at] = Some(state);
    }

    /// The sequence.
    pub fn into_tensor(self) -> Tensor<3> {
        let zeros = || self.initial.zeros_like();
        if self.states.is_empty() {
            return zeros().unsqueeze_dim::<3>(1).narrow(1, 0, 0);
        }
        let states = self.states.into_iter();
        let states = states.map(|state| state.unwrap_or_else(zeros));
        Tensor::stack(states.collect(), 1)
    }
}

/// Checks that an input has as many features as the layer takes, and that its state fits.
#[track_caller]
pub(super) fn check(
    layer: &str,
    gate: &GateController,
    input: &Tensor<3>,
    d_hidden: usize,
    state: Option<&Tensor<2>>,
) {
    let [batch, length, features] = input.dims();
    let d_input = gate.d_input();
    assert!(
        features == d_input,
        "`{layer}`: the input has the sizes {:?} of batch, length and features, where `d_input` is {d_input}\n  legal: [batch, length, {d_input}]",
        [batch, length, features]
    );
    if let Some(state) = state {
        assert!(
            state.dims() == [batch, d_hidden],
            "`{layer}`: the state has the shape {:?}\n  legal: [{batch}, {d_hidden}]",
            state.dims()
        );
    }
}

/// The two states of a layer for both directions, from one tensor `[2, batch, d_hidden]`.
#[track_caller]
pub(super) fn directions(layer: &str, state: Option<Tensor<3>>) -> [Option<Tensor<2>>; 2] {
    let Some(state) = state else {
        return [None, None];
    };
    assert!(
        state.dims()[0] == 2,
        "`{layer}`: the state has the shape {:?}\n  legal: [2, batch, d_hidden], a state for each direction",
        state.dims()
    );
    [0, 1].map(|direction| Some(state.clone().narrow(0, direction, 1).squeeze_dim(0)))
}
