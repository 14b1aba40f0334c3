//! The tape: instructions that own what their rules need, linked by reference counts.

use crate::carry::Carried;
use crate::custom::Custom;
use crate::recipe::Recipe;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::{Device, Handle};
use burn_ir::{Operation, Outputs, TensorMeta};
use core::sync::atomic::{AtomicUsize, Ordering};

/// An instruction on the tape, or a leaf.
#[derive(Debug)]
pub(crate) struct Node {
    /// Grows in the order of execution, so that operands have smaller ids than what is made of them.
    pub(crate) id: usize,
    pub(crate) step: burn_std::sync::Mutex<Step>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "nearly every node is an instruction, and another allocation for each would be felt"
)]
#[derive(Debug)]
pub(crate) enum Step {
    /// A tensor the user wants gradients for.
    Leaf,
    /// An instruction that can be run backwards.
    Open(Entry),
    /// An instruction that was run backwards and kept nothing.
    Consumed {
        /// Its name.
        name: &'static str,
    },
}

/// What can be run backwards, with the values that are read then.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every node is an instruction, and another allocation for each would be felt"
)]
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// An instruction with the operands and outputs its rule asked for.
    Instruction {
        operation: Operation<Operand>,
        outputs: Outputs<Option<Saved>>,
    },
    /// An operation that brought its own gradient.
    Custom(Box<Custom>),
    /// A tensor from another device.
    Carried(Box<Carried>),
}

/// What the tape knows of an operand.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) meta: TensorMeta,
    /// Present if it was asked for.
    pub(crate) saved: Option<Saved>,
    pub(crate) source: Option<Source>,
}

/// A value that a rule will read.
#[derive(Clone, Debug)]
pub(crate) enum Saved {
    /// It is kept.
    Value(Handle),
    /// It is computed again.
    Recipe(Arc<Recipe>),
}

/// An output of a node.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) node: Arc<Node>,
    pub(crate) output: usize,
}

impl Saved {
    /// The value, on the device below the tape.
    pub(crate) fn value(self, below: Device) -> Handle {
        match self {
            Self::Value(value) => value,
            Self::Recipe(recipe) => Recipe::value(recipe, below),
        }
    }
}

impl Entry {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Instruction { operation, .. } => operation.name(),
            Self::Custom(custom) => custom.name,
            Self::Carried(_) => "to_device",
        }
    }

    /// Takes the entry apart and gives out what it was made of.
    fn into_sources(self, f: &mut dyn FnMut(Source)) {
        let mut give = |operand: Operand| operand.source.into_iter().for_each(&mut *f);
        match self {
            Self::Instruction { operation, .. } => {
                operation.map(&mut give);
            }
            Self::Custom(custom) => custom.operands.into_iter().for_each(give),
            Self::Carried(carried) => give(carried.operand),
        }
    }
}

impl Node {
    pub(crate) fn new(step: Step) -> Arc<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            step: burn_std::sync::Mutex::new(step),
        })
    }

    fn take(&mut self) -> Step {
        core::mem::replace(self.step.get_mut(), Step::Leaf)
    }
}

/// Frees a tape of any length in a loop: one stack frame for each node would overflow the stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut nodes = Vec::new();
        let mut step = self.take();
        loop {
            if let Step::Open(entry) = step {
                entry.into_sources(&mut |source| nodes.extend(Arc::into_inner(source.node)));
            }
            // The node is dropped without its entry.
            let Some(mut node) = nodes.pop() else { return };
            step = node.take();
        }
    }
}
