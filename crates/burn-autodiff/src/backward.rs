//! The walk: from a tensor back to the leaves, newest instruction first.

use crate::anomaly;
use crate::engine::Autodiff;
use crate::mode::Mode;
use crate::rules::{self, Kept, Output};
use crate::tape::{Entry, Node, Saved, Source, Step};
use crate::tensor::{AdTensor, Place};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
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
    /// A gradient did not reach another device.
    Transfer {
        /// What went wrong there.
        report: String,
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
            Self::Transfer { report } => write!(
                f,
                "`backward`: a gradient did not get back to the device it came from with `to_device`: {report}"
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
    let mut walk = Walk {
        create_graph,
        open: BTreeMap::new(),
    };
    let mut spot = Spot::of(root.engine, create_graph);
    let seed = spot.device.full(root.meta(), 1.0);
    walk.flow(source, seed, spot);

    let mut gradients = Gradients::default();
    // Larger ids first: an instruction is met after everything that is made of its outputs, once.
    while let Some((id, mut arrived)) = walk.open.pop_last() {
        match open(&arrived.node, create_graph)? {
            Some(entry) => walk.step(entry, arrived)?,
            None => {
                if let Some(gradient) = arrived.grads.pop().flatten() {
                    let gradient = walk.leave(gradient, arrived.spot);
                    gradients.0.insert(id, gradient);
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

/// The gradient for the only output.
fn only(mut grads: Vec<Option<Handle>>) -> Handle {
    let grad = grads.pop().flatten();
    grad.expect("the walk meets nodes that a gradient arrived at")
}

struct Walk {
    create_graph: bool,
    open: BTreeMap<usize, Arrived>,
}

/// Where a part of the walk is: a tensor that came from another device leads there.
#[derive(Clone, Copy)]
struct Spot {
    /// The layer of the tape, without watching: gradients are watched for whole rules, which have names that the user
    /// knows.
    engine: &'static Autodiff,
    watched: bool,
    /// Where rules send their instructions.
    device: Device,
}

impl Spot {
    fn of(engine: &'static Autodiff, create_graph: bool) -> Self {
        let mode = engine.mode();
        let quiet = engine.with_mode(Mode {
            anomalies: false,
            ..mode
        });
        Self {
            engine: quiet,
            watched: mode.anomalies,
            device: match create_graph {
                true => Device::new(quiet),
                false => engine.below(),
            },
        }
    }
}

/// A node with the gradients that have arrived for its outputs.
struct Arrived {
    node: Arc<Node>,
    grads: Vec<Option<Handle>>,
    spot: Spot,
}

/// An operand with the gradient for it.
type Pulled = (Option<Source>, Option<Handle>, Shape);

impl Walk {
    /// A gradient as it leaves the walk.
    fn leave(&self, gradient: Handle, spot: Spot) -> Handle {
        match self.create_graph && spot.watched {
            true => {
                let mode = Mode {
                    anomalies: true,
                    ..spot.engine.mode()
                };
                spot.engine.with_mode(mode).lift(gradient)
            }
            false => gradient,
        }
    }

    /// Adds a gradient to what has arrived at an output.
    fn flow(&mut self, to: &Source, grad: Handle, spot: Spot) {
        let arrived = self.open.entry(to.node.id).or_insert_with(|| Arrived {
            node: to.node.clone(),
            grads: Vec::new(),
            spot,
        });
        if arrived.grads.len() <= to.output {
            arrived.grads.resize(to.output + 1, None);
        }
        let slot = &mut arrived.grads[to.output];
        let mut device = spot.device;
        *slot = Some(match slot.take() {
            Some(other) => device.add(other, grad),
            None => grad,
        });
    }

    /// Runs an instruction backwards.
    fn step(
        &mut self,
        entry: Entry,
        Arrived { node, grads, spot }: Arrived,
    ) -> Result<(), BackwardError> {
        if let Entry::Carried(carried) = entry {
            let grad = only(grads);
            let back = Spot::of(carried.from, self.create_graph);
            let grad = carried
                .back(&grad)
                .map_err(|error| BackwardError::Transfer {
                    report: error.to_string(),
                })?;
            if let Some(source) = carried.operand.source {
                self.flow(&source, grad, back);
            }
            return Ok(());
        }
        let (name, arrived) = (entry.name(), spot.watched.then(|| grads.clone()));
        let pulled = self.pull(&node, entry, grads, spot);
        if let Some(arrived) = arrived {
            let values: Vec<Option<Handle>> = pulled.iter().map(|it| it.1.clone()).collect();
            if let Some(report) = anomaly::pulled(name, &arrived, &values) {
                return Err(BackwardError::Anomaly { report });
            }
        }
        let mut device = spot.device;
        for (source, grad, shape) in pulled {
            if let (Some(source), Some(grad)) = (source, grad) {
                let grad = device.sum_to(grad, &shape);
                self.flow(&source, grad, spot);
            }
        }
        Ok(())
    }

    /// A value where the rules send their instructions. If those are recorded, what they read has its place on the tape.
    fn place(&self, value: Handle, source: Option<&Source>, spot: Spot) -> Handle {
        match self.create_graph {
            false => value,
            true => Handle::new(AdTensor {
                place: source.map_or(Place::Constant, |it| Place::On(it.clone())),
                ..AdTensor::constant(value, spot.engine)
            }),
        }
    }

    fn pull(
        &self,
        node: &Arc<Node>,
        entry: Entry,
        mut grads: Vec<Option<Handle>>,
        mut spot: Spot,
    ) -> Vec<Pulled> {
        let place = move |value, source: Option<&Source>| self.place(value, source, spot);
        let (operation, outputs) = match entry {
            Entry::Instruction { operation, outputs } => (operation, outputs),
            Entry::Custom(custom) => {
                let grads = custom.pull(&place, node, only(grads));
                let operands = custom.operands.into_iter().zip(grads);
                return operands
                    .map(|(operand, grad)| (operand.source, grad, operand.meta.shape))
                    .collect();
            }
            Entry::Carried(_) => unreachable!("the step has carried it back"),
        };
        let below = spot.engine.below();
        let read = |saved: Saved, source: Option<&Source>| place(saved.value(below), source);
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
        let pulled = rules::pullback(&mut spot.device, operation, outputs, grads, wanted);
        let pulled = sources.into_iter().zip(pulled);
        pulled
            .map(|(source, (grad, shape))| (source, grad, shape))
            .collect()
    }
}
