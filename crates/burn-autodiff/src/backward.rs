//! The walk: from a tensor back to the leaves, newest instruction first.

use crate::rules::{self, Kept};
use crate::tape::{Entry, Node, Source, Step};
use crate::tensor::AdTensor;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::{Build, Device, Handle};
use burn_ir::{Described, Outputs};
use core::fmt;
use hashbrown::HashMap;

/// The gradients of one tensor with respect to the leaves it was made of.
#[derive(Debug, Default)]
pub struct Gradients(HashMap<usize, Handle>);

impl Gradients {
    /// The gradient for a leaf.
    pub fn get(&self, leaf: &Handle) -> Option<&Handle> {
        self.0.get(&id(leaf)?)
    }

    /// Takes the gradient for a leaf.
    pub fn remove(&mut self, leaf: &Handle) -> Option<Handle> {
        self.0.remove(&id(leaf)?)
    }

    /// Sets the gradient for a leaf; gives it back if the tensor is not on a tape.
    ///
    /// # Errors
    /// The gradient, if there is no leaf to set it for.
    pub fn insert(&mut self, leaf: &Handle, gradient: Handle) -> Result<(), Handle> {
        match id(leaf) {
            Some(id) => {
                self.0.insert(id, gradient);
                Ok(())
            }
            None => Err(gradient),
        }
    }
}

fn id(leaf: &Handle) -> Option<usize> {
    Some(leaf.get::<AdTensor>()?.source.as_ref()?.node.id)
}

/// Why there are no gradients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackwardError {
    /// The tensor is on no tape.
    Untracked,
    /// An instruction was run backwards before and kept nothing.
    Consumed {
        /// The name of its operation.
        operation: &'static str,
    },
}

impl core::error::Error for BackwardError {}

impl fmt::Display for BackwardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untracked => write!(
                f,
                "`backward`: the tensor is on no tape\n  legal: a tensor made from one with `require_grad` on an autodiff device"
            ),
            Self::Consumed { operation } => write!(
                f,
                "`backward`: the tape was consumed by an earlier backward pass, from the output of `{operation}` on\n  legal: one pass over each part of a tape; add what shares it before the pass, or compute it again"
            ),
        }
    }
}

/// The gradients of the sum of `root` with respect to the leaves it was made of.
///
/// Consumes the tape as it walks. With `create_graph` it leaves the tape and records itself: the gradients are on the
/// tape then, and can be differentiated again.
///
/// # Errors
/// If the tensor is on no tape, or part of the tape was consumed before.
pub fn backward(root: &Handle, create_graph: bool) -> Result<Gradients, BackwardError> {
    let root = root.get::<AdTensor>().ok_or(BackwardError::Untracked)?;
    let source = root.source.clone().ok_or(BackwardError::Untracked)?;
    let this = Device::new(root.engine);
    let below = root.inner.device();
    let mut walk = Walk {
        device: if create_graph { this } else { below },
        create_graph,
        open: BTreeMap::new(),
    };
    let seed = walk.device.full(root.meta(), 1.0);
    walk.flow(&source, seed);

    let mut gradients = Gradients::default();
    // Larger ids first: an instruction is met after everything that is made of its outputs, once.
    while let Some((id, Arrived { node, mut grads })) = walk.open.pop_last() {
        let Some(entry) = open(&node, create_graph)? else {
            if let Some(gradient) = grads.pop().flatten() {
                gradients.0.insert(id, gradient);
            }
            continue;
        };
        walk.step(&node, entry, grads, root);
    }
    Ok(gradients)
}

/// The instruction of a node; `None` for a leaf.
fn open(node: &Node, create_graph: bool) -> Result<Option<Arc<Entry>>, BackwardError> {
    let mut step = node.step.lock();
    match &*step {
        Step::Leaf => Ok(None),
        Step::Consumed { name } => Err(BackwardError::Consumed { operation: name }),
        Step::Open(entry) if create_graph => Ok(Some(entry.clone())),
        Step::Open(entry) => {
            let consumed = Step::Consumed {
                name: entry.operation.name(),
            };
            match core::mem::replace(&mut *step, consumed) {
                Step::Open(entry) => Ok(Some(entry)),
                Step::Leaf | Step::Consumed { .. } => {
                    unreachable!("the step was matched under this lock")
                }
            }
        }
    }
}

struct Walk {
    /// Where rules send their instructions.
    device: Device,
    create_graph: bool,
    open: BTreeMap<usize, Arrived>,
}

/// A node with the gradients that have arrived for its outputs.
struct Arrived {
    node: Arc<Node>,
    grads: Vec<Option<Handle>>,
}

impl Walk {
    /// Adds a gradient to what has arrived at an output.
    fn flow(&mut self, to: &Source, grad: Handle) {
        let arrived = self.open.entry(to.node.id).or_insert_with(|| Arrived {
            node: to.node.clone(),
            grads: Vec::new(),
        });
        if arrived.grads.len() <= to.output {
            arrived.grads.resize(to.output + 1, None);
        }
        let slot = &mut arrived.grads[to.output];
        *slot = Some(match slot.take() {
            Some(other) => self.device.add(other, grad),
            None => grad,
        });
    }

    /// Runs an instruction backwards.
    fn step(
        &mut self,
        node: &Arc<Node>,
        entry: Arc<Entry>,
        grads: Vec<Option<Handle>>,
        root: &AdTensor,
    ) {
        // The last owner hands its values over, so that rules can write in place.
        let entry = Arc::try_unwrap(entry).unwrap_or_else(|shared| Entry {
            operation: shared.operation.clone(),
            outputs: shared.outputs.clone(),
        });
        let recorded = |kept: Kept<Handle>, source: Option<Source>| match self.create_graph {
            false => kept,
            // The rule is recorded, so what it reads must have its place on the tape.
            true => Kept {
                value: kept.value.map(|inner| {
                    Handle::new(AdTensor {
                        inner,
                        source,
                        engine: root.engine,
                    })
                }),
                meta: kept.meta,
            },
        };
        let mut sources = Vec::new();
        let operation = entry.operation.map(&mut |operand| {
            sources.push(operand.source.clone());
            recorded(operand.kept, operand.source)
        });
        let mut output = 0;
        let outputs: Outputs<Kept<Handle>> = entry.outputs.map(|kept| {
            output += 1;
            recorded(
                kept,
                Some(Source {
                    node: node.clone(),
                    output: output - 1,
                }),
            )
        });
        let wanted = sources.iter().map(Option::is_some).collect();
        let mut grads = grads;
        grads.resize(outputs.as_slice().len(), None);
        let pulled = rules::pullback(&mut self.device, operation, outputs, grads, wanted);
        for (source, (grad, shape)) in sources.into_iter().zip(pulled) {
            if let (Some(source), Some(grad)) = (source, grad) {
                let grad = self.device.sum_to(grad, &shape);
                self.flow(&source, grad);
            }
        }
    }
}
