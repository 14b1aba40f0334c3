//! The fuse contract: what a backend does to run several instructions as one kernel. Grouping is burn-fusion's work.

use crate::Backend;
use alloc::vec::Vec;
use burn_ir::{Class, Described, Operation, TensorMeta};

/// A backend that runs groups of instructions as one kernel.
pub trait FuseBackend: Backend {
    /// Whether the instruction may be part of a group, in the part that its class has there: an elementwise
    /// instruction as a step, a reduction or a matrix product as the anchor.
    ///
    /// Only instructions that the backend supports may. One that says yes to elementwise instructions alone never sees
    /// an anchor.
    fn fuses<T: Described>(device: &Self::Device, operation: &Operation<T>) -> bool;

    /// Runs a group; gives its outputs in the order of [`Group::outputs`], each bit as the steps one by one would.
    fn execute_group(
        device: &Self::Device,
        group: &Group,
        inputs: Vec<Self::Tensor>,
    ) -> Vec<Self::Tensor>;

    /// Whether a group that runs on this thread now may overwrite inputs that nobody else holds. Threads that want a
    /// value of the group then wait until it is there. No, on a thread that takes up other work while a kernel runs: that
    /// work may want the value.
    fn reuses(_device: &Self::Device) -> bool {
        false
    }

    /// Lets other threads go on, while this one waits for a value that one of them makes.
    fn pause() {
        core::hint::spin_loop();
    }
}

/// Instructions over numbered slots: elementwise ones, with or without one anchor among them, a reduction or a matrix
/// product.
///
/// - Steps before the anchor, its prologue, have the shape of the reduction's operand and make nothing but that operand.
///   Matrix products have none.
/// - Steps after the anchor, its epilogue, have the shape of its output. They read the anchor, each other and inputs.
/// - Without an anchor all steps have one shape.
/// - Inputs broadcast to the steps that read them.
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
        match operation.class() {
            Class::Elementwise => debug_assert!(
                self.steps.is_empty()
                    || self.meta(Slot(self.slots.len() - 1)).shape == output.shape,
                "the steps on one side of an anchor have one shape"
            ),
            _ => debug_assert!(self.anchor().is_none(), "a group has one anchor at most"),
        }
        self.steps.push(operation);
        self.slots.push(output);
        Slot(self.slots.len() - 1)
    }

    /// Declares that a value is needed after the group: an input, or a step that is not of a prologue.
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

    /// The step that is no elementwise instruction, if there is one.
    pub fn anchor(&self) -> Option<usize> {
        let elementwise = |step: &Operation<Slot>| step.class() == Class::Elementwise;
        self.steps.iter().position(|step| !elementwise(step))
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
