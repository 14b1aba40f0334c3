//! The tape: instructions that own what their rules need, linked by reference counts.

use crate::rules::Kept;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::Handle;
use burn_ir::{Operation, Outputs};
use core::sync::atomic::{AtomicUsize, Ordering};

/// An instruction on the tape, or a leaf.
#[derive(Debug)]
pub(crate) struct Node {
    /// Grows in the order of execution, so that operands have smaller ids than what is made of them.
    pub(crate) id: usize,
    pub(crate) step: burn_std::sync::Mutex<Step>,
}

#[derive(Debug)]
pub(crate) enum Step {
    /// A tensor the user wants gradients for.
    Leaf,
    /// An instruction that can be run backwards.
    Open(Arc<Entry>),
    /// An instruction that was run backwards and kept nothing.
    Consumed {
        /// Its name.
        name: &'static str,
    },
}

/// An instruction with the operands and outputs its rule asked for.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) operation: Operation<Operand>,
    pub(crate) outputs: Outputs<Kept<Handle>>,
}

/// What the tape knows of an operand.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) kept: Kept<Handle>,
    pub(crate) source: Option<Source>,
}

/// An output of a node.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) node: Arc<Node>,
    pub(crate) output: usize,
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
        let mut steps = Vec::new();
        steps.push(self.take());
        while let Some(step) = steps.pop() {
            let Step::Open(entry) = step else { continue };
            let Some(entry) = Arc::into_inner(entry) else {
                continue;
            };
            entry.operation.map(&mut |operand| {
                if let Some(mut node) = operand
                    .source
                    .and_then(|source| Arc::into_inner(source.node))
                {
                    steps.push(node.take());
                }
            });
        }
    }
}
