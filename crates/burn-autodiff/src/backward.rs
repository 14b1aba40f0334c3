//! The walk: from a tensor back to the leaves, newest instruction first.

use crate::anomaly;
use crate::engine::Autodiff;
use crate::mode::Mode;
use crate::rules::{self, Kept, Output};
use crate::tape::{Entry, Node, Saved, Source, Step};
use crate::tensor::{AdTensor, Place};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::{Build, Device, Engine, Handle};
use burn_ir::{Described, Outputs};
use burn_std::Shape;
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
    Some(leaf.get::<AdTensor>()?.place.source()?.node.id)
}

/// Why there are no gradients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackwardError {
    /// The tensor is on no tape.
    Untracked {
        /// The operation that no gradient flows through, if the tensor was made of its output.
        cut: Option<&'static str>,
    },
    /// An instruction was run backwards before and kept nothing.
    Consumed {
        /// The name of its operation.
        operation: &'static str,
    },
    /// A gradient is not finite, on a device that watches for that.
    Anomaly {
        /// Where and what.
        report: String,
    },
}

impl core::error::Error for BackwardError {}

impl fmt::Display for BackwardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untracked { cut: None } => write!(
                f,
                "`backward`: the tensor is on no tape\n  legal: a tensor made from one with `require_grad` on an autodiff device"
            ),
            Self::Untracked { cut: Some(cut) } => write!(
                f,
                "`backward`: the tensor is on no tape, because no gradient flows through `{cut}`, which it was made with\n  legal: a tensor to which differentiable operations lead from one with `require_grad`"
            ),
            Self::Consumed { operation } => write!(
                f,
                "`backward`: the tape was consumed by an earlier backward pass, from the output of `{operation}` on\n  legal: one pass over each part of a tape; add what shares it before the pass, or compute it again"
            ),
            Self::Anomaly { report } => write!(f, "`backward`: {report}"),
        }
    }
}

/// The gradients of the sum of `root` with respect to the leaves it was made of.
///
/// Consumes the tape as it walks. With `create_graph` it leaves the tape and records itself: the gradients are on the
/// tape then, and can be differentiated again.
///
/// # Errors
/// If the tensor is on no tape, or part of the tape was consumed before; on a device that watches for it, if a gradient
/// is not finite.
pub fn backward(root: &Handle, create_graph: bool) -> Result<Gradients, BackwardError> {
    let untracked = |cut| Err(BackwardError::Untracked { cut });
    let Some(root) = root.get::<AdTensor>() else {
        return untracked(None);
    };
    let source = match &root.place {
        Place::Constant => return untracked(None),
        Place::Cut(name) => return untracked(Some(name)),
        Place::On(source) => source,
    };
    let mut walk = Walk::new(root.engine, create_graph);
    let seed = walk.device.full(root.meta(), 1.0);
    walk.flow(source, seed);

    let mut gradients = Gradients::default();
    // Larger ids first: an instruction is met after everything that is made of its outputs, once.
    while let Some((id, Arrived { node, mut grads })) = walk.open.pop_last() {
        match open(&node, create_graph)? {
            Some(entry) => walk.step(&node, entry, grads)?,
            None => {
                if let Some(gradient) = grads.pop().flatten() {
                    gradients.0.insert(id, walk.leave(gradient));
                }
            }
        }
    }
    Ok(gradients)
}

/// The instruction of a node; `None` for a leaf.
fn open(node: &Node, create_graph: bool) -> Result<Option<Entry>, BackwardError> {
    let mut step = node.step.lock();
    match &*step {
        Step::Leaf => Ok(None),
        Step::Consumed { name } => Err(BackwardError::Consumed { operation: name }),
        Step::Open(entry) if create_graph => Ok(Some(entry.clone())),
        Step::Open(entry) => {
            let name = entry.name();
            match core::mem::replace(&mut *step, Step::Consumed { name }) {
                Step::Open(entry) => Ok(Some(entry)),
                Step::Leaf | Step::Consumed { .. } => {
                    unreachable!("the step was matched under this lock")
                }
            }
        }
    }
}

struct Walk {
    engine: &'static Autodiff,
    /// The same without watching: gradients are watched for whole rules, which have names that the user knows.
    quiet: &'static Autodiff,
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

/// An operand with the gradient for it.
type Pulled = (Option<Source>, Option<Handle>, Shape);

impl Walk {
    fn new(engine: &'static Autodiff, create_graph: bool) -> Self {
        let quiet = engine.with_mode(Mode {
            anomalies: false,
            ..engine.mode()
        });
        Self {
            engine,
            quiet,
            device: match create_graph {
                true => Device::new(quiet),
                false => engine.below(),
            },
            create_graph,
            open: BTreeMap::new(),
        }
    }

    /// A gradient as it leaves the walk.
    fn leave(&self, gradient: Handle) -> Handle {
        match self.create_graph && self.engine.mode().anomalies {
            true => self.engine.lift(gradient),
            false => gradient,
        }
    }

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
        entry: Entry,
        grads: Vec<Option<Handle>>,
    ) -> Result<(), BackwardError> {
        let watched = self.engine.mode().anomalies;
        let (name, arrived) = (entry.name(), watched.then(|| grads.clone()));
        let pulled = self.pull(node, entry, grads);
        if let Some(arrived) = arrived {
            let values: Vec<Option<Handle>> = pulled.iter().map(|it| it.1.clone()).collect();
            if let Some(report) = anomaly::pulled(name, &arrived, &values) {
                return Err(BackwardError::Anomaly { report });
            }
        }
        for (source, grad, shape) in pulled {
            if let (Some(source), Some(grad)) = (source, grad) {
                let grad = self.device.sum_to(grad, &shape);
                self.flow(&source, grad);
            }
        }
        Ok(())
    }

    /// A value where the rules send their instructions. If those are recorded, what they read has its place on the tape.
    fn place(&self, value: Handle, source: Option<&Source>) -> Handle {
        match self.create_graph {
            false => value,
            true => Handle::new(AdTensor {
                place: source.map_or(Place::Constant, |it| Place::On(it.clone())),
                ..AdTensor::constant(value, self.quiet)
            }),
        }
    }

    fn pull(
        &mut self,
        node: &Arc<Node>,
        entry: Entry,
        mut grads: Vec<Option<Handle>>,
    ) -> Vec<Pulled> {
        let (operation, outputs) = match entry {
            Entry::Instruction { operation, outputs } => (operation, outputs),
            Entry::Custom(custom) => {
                let grad = grads.pop().flatten();
                let grad = grad.expect("the walk meets nodes that a gradient arrived at");
                let grads = custom.pull(&|value, source| self.place(value, source), node, grad);
                let operands = custom.operands.into_iter().zip(grads);
                return operands
                    .map(|(operand, grad)| (operand.source, grad, operand.meta.shape))
                    .collect();
            }
        };
        let below = self.engine.below();
        let read = |saved: Saved, source: Option<&Source>| self.place(saved.value(below), source);
        let mut sources = Vec::new();
        let operation = operation.map(&mut |operand| {
            let value = operand.saved.map(|it| read(it, operand.source.as_ref()));
            sources.push(operand.source);
            Kept {
                meta: operand.meta,
                value,
            }
        });
        let mut output = 0;
        let outputs: Outputs<Output<Handle>> = outputs.map(|saved| {
            output += 1;
            let source = Source {
                node: node.clone(),
                output: output - 1,
            };
            Output(saved.map(|it| read(it, Some(&source))))
        });
        let wanted = sources.iter().map(Option::is_some).collect();
        grads.resize(outputs.as_slice().len(), None);
        let pulled = rules::pullback(&mut self.device, operation, outputs, grads, wanted);
        let pulled = sources.into_iter().zip(pulled);
        pulled
            .map(|(source, (grad, shape))| (source, grad, shape))
            .collect()
    }
}
