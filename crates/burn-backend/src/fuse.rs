//! The fuse contract: what a backend does to run several instructions as one kernel. Grouping is burn-fusion's work.

use crate::Backend;
use alloc::vec::Vec;
use burn_ir::{Described, Operation, TensorMeta};

/// A backend that runs groups of elementwise instructions as one kernel.
pub trait FuseBackend: Backend {
    /// Whether the instruction may be a step of a group. Only elementwise instructions that the backend supports may.
    fn fuses<T: Described>(device: &Self::Device, operation: &Operation<T>) -> bool;

    /// Runs a group; gives its outputs in the order of [`Group::outputs`], each bit as the steps one by one would.
    fn execute_group(
        device: &Self::Device,
        group: &Group,
        inputs: Vec<Self::Tensor>,
    ) -> Vec<Self::Tensor>;
}

/// Elementwise instructions over numbered slots. Every step has the same output shape, which inputs broadcast to.
///
/// A group names no tensor, so equal groups over different tensors are equal, and a plan made for one serves all.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    slots: Vec<TensorMeta>,
    inputs: usize,
    steps: Vec<Operation<Slot>>,
    outputs: Vec<Slot>,
}

/// A value of a [`Group`]: first its inputs, then the output of each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub usize);

impl Group {
    /// A group without steps over these inputs.
    pub fn new(inputs: Vec<TensorMeta>) -> Self {
        Self {
            inputs: inputs.len(),
            slots: inputs,
            steps: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Appends a step whose output has this description.
    pub fn step(&mut self, operation: Operation<Slot>, output: TensorMeta) -> Slot {
        debug_assert!(
            self.steps.is_empty() || self.slots[self.inputs].shape == output.shape,
            "the steps of a group have one shape"
        );
        self.steps.push(operation);
        self.slots.push(output);
        Slot(self.slots.len() - 1)
    }

    /// Declares that a value is needed after the group.
    pub fn output(&mut self, slot: Slot) {
        self.outputs.push(slot);
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The instructions, in order; step `i` defines slot `inputs + i`.
    pub fn steps(&self) -> &[Operation<Slot>] {
        &self.steps
    }

    /// The values that are needed after the group.
    pub fn outputs(&self) -> &[Slot] {
        &self.outputs
    }

    /// The description of a value.
    pub fn meta(&self, slot: Slot) -> &TensorMeta {
        &self.slots[slot.0]
    }
}
