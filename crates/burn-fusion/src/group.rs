//! Which waiting instructions run together for a value.

use crate::FusionTensor;
use crate::tensor::Waiting;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::{FuseBackend, Group, Slot};
use burn_ir::{Class, Described, TensorMeta};
use burn_std::Shape;

/// At most this many instructions run again instead of reading what they made before.
const MOST_RECOMPUTED: usize = 8;

/// What to do for a value.
pub(crate) enum Next<B: FuseBackend> {
    /// Run this.
    Run(Plan<B>),
    /// Run groups of their own for these values, then plan again.
    First(Vec<FusionTensor<B>>),
}

/// A group with the tensors it is about.
pub(crate) struct Plan<B: FuseBackend> {
    pub(crate) group: Group,
    pub(crate) inputs: Vec<FusionTensor<B>>,
    pub(crate) outputs: Vec<FusionTensor<B>>,
}

/// The group that ends in `root`: the waiting elementwise instructions that lead to it and have its shape; of the
/// reductions and matrix products of that shape among what they read, the newest; and what leads to that one.
pub(crate) fn plan<B: FuseBackend>(root: &FusionTensor<B>) -> Next<B> {
    let shape = &root.meta().shape;
    let mut epilogue = Part::new([root.clone()], Some(shape));
    let anchor = epilogue.inputs.iter().rev().find_map(|(id, input)| {
        let waiting = input.waiting().filter(|_| input.meta().shape == *shape)?;
        (waiting.operation.class() != Class::Elementwise).then_some((*id, waiting))
    });
    let mut prologue = Part::new([], None);
    let anchor = anchor.map(|(id, waiting)| {
        let tensor = epilogue.inputs.remove(&id).expect("it was found there");
        let mut operands = Vec::new();
        waiting.operation.each(&mut |it| operands.push(it.clone()));
        let shape = operands[0].meta().shape.clone();
        let fuses = waiting.operation.class() == Class::Reduction;
        prologue = Part::new(operands, fuses.then_some(&shape));
        (tensor, waiting)
    });
    let members = Members {
        prologue,
        anchor,
        epilogue,
    };
    match members.first() {
        first if first.is_empty() => Next::Run(members.assemble(root)),
        first => Next::First(first),
    }
}

/// An instruction that waits, and the tensor it waits in.
type Step<B> = (FusionTensor<B>, Arc<Waiting<B>>);

/// Waiting elementwise instructions of one shape, in the order they were given, and what they read.
struct Part<B: FuseBackend> {
    steps: BTreeMap<usize, Step<B>>,
    inputs: BTreeMap<usize, FusionTensor<B>>,
}

impl<B: FuseBackend> Part<B> {
    /// What leads to `roots` through tensors of `shape`; without a shape, nothing but the roots.
    fn new(roots: impl IntoIterator<Item = FusionTensor<B>>, shape: Option<&Shape>) -> Self {
        let mut part = Self {
            steps: BTreeMap::new(),
            inputs: BTreeMap::new(),
        };
        // Larger ids first: a value is met after everything that is made of it, once.
        let mut open: BTreeMap<usize, FusionTensor<B>> =
            roots.into_iter().map(|root| (root.0.id, root)).collect();
        let most = burn_std::config::fusion::max_graph_size();
        while let Some((id, tensor)) = open.pop_last() {
            let waiting = tensor.waiting().filter(|waiting| {
                part.steps.len() < most
                    && shape == Some(&tensor.meta().shape)
                    && waiting.operation.class() == Class::Elementwise
            });
            if let Some(waiting) = waiting {
                waiting.operation.each(&mut |operand| {
                    open.insert(operand.0.id, operand.clone());
                });
                part.steps.insert(id, (tensor, waiting));
            } else {
                part.inputs.insert(id, tensor);
            }
        }
        part
    }

    /// Whether a value that is needed again later is computed again then, rather than written now.
    ///
    /// If `i` are the bytes of what it is made of here and `v` its own, writing it first moves `i + v` and then `v` for
    /// each of its readers, the reduction included; computing it again moves `i` for each. With one reader beside the
    /// reduction that is less below `3 v`, with two below `2 v`, and never more up to `v`. The bound is `2 v`, which
    /// admits one input of the value's size, or halves of it, beside small ones that broadcast.
    ///
    /// Only elementwise instructions wait in a part: they have no effect and give the same again.
    fn recomputes(&self, value: &FusionTensor<B>) -> bool {
        let (mut read, mut steps) = (0, 0);
        let mut open = BTreeSet::from([value.0.id]);
        while let Some(id) = open.pop_last() {
            let Some((_, waiting)) = self.steps.get(&id) else {
                read += bytes(self.inputs[&id].meta());
                continue;
            };
            steps += 1;
            waiting.operation.each(&mut |operand| {
                open.insert(operand.0.id);
            });
        }
        read < 2 * bytes(value.meta()) && steps <= MOST_RECOMPUTED
    }
}

fn bytes(meta: &TensorMeta) -> usize {
    meta.shape.num_elements() * meta.dtype.size()
}

/// The members of a group.
struct Members<B: FuseBackend> {
    prologue: Part<B>,
    anchor: Option<Step<B>>,
    epilogue: Part<B>,
}

impl<B: FuseBackend> Members<B> {
    /// What has to be there before the group can run: what it reads, and what it neither writes nor leaves to be
    /// computed again.
    fn first(&self) -> Vec<FusionTensor<B>> {
        let inputs = self.prologue.inputs.values();
        let inputs = inputs.chain(self.epilogue.inputs.values());
        let waiting = inputs.filter(|input| input.waiting().is_some());
        let first: Vec<FusionTensor<B>> = waiting.cloned().collect();
        if !first.is_empty() {
            return first;
        }
        let uses = self.uses();
        // The newest: its group writes older ones too.
        let steps = self.prologue.steps.values().rev();
        let mut written =
            steps.filter(|(tensor, _)| is_held(tensor, &uses) && !self.prologue.recomputes(tensor));
        written
            .next()
            .map(|(tensor, _)| tensor.clone())
            .into_iter()
            .collect()
    }

    /// The instructions in the order of the group.
    fn steps(&self) -> impl Iterator<Item = &Step<B>> {
        let prologue = self.prologue.steps.values();
        prologue
            .chain(&self.anchor)
            .chain(self.epilogue.steps.values())
    }

    /// How often the group reads each value.
    fn uses(&self) -> BTreeMap<usize, usize> {
        let mut uses = BTreeMap::new();
        for (_, waiting) in self.steps() {
            waiting
                .operation
                .each(&mut |operand| *uses.entry(operand.0.id).or_default() += 1);
        }
        uses
    }

    fn assemble(self, root: &FusionTensor<B>) -> Plan<B> {
        let uses = self.uses();
        let mut inputs = self.prologue.inputs.clone();
        inputs.extend(self.epilogue.inputs.clone());
        let mut group = Group::new(inputs.values().map(|input| input.meta().clone()).collect());
        let mut slots: BTreeMap<usize, Slot> = inputs
            .keys()
            .enumerate()
            .map(|(at, id)| (*id, Slot(at)))
            .collect();
        for (tensor, waiting) in self.steps() {
            let operation = waiting
                .operation
                .map_ref(&mut |operand| slots[&operand.0.id]);
            slots.insert(tensor.0.id, group.step(operation, tensor.meta().clone()));
        }
        let steps = self
            .anchor
            .into_iter()
            .chain(self.epilogue.steps.into_values());
        let mut outputs = Vec::new();
        for (tensor, _) in steps {
            if tensor.0.id == root.0.id || is_held(&tensor, &uses) {
                group.output(slots[&tensor.0.id]);
                outputs.push(tensor);
            }
        }
        Plan {
            group,
            inputs: inputs.into_values().collect(),
            outputs,
        }
    }
}

/// Whether a value of the group is needed after it. One owner is the group's list, others are the instructions of the
/// group that read the value; more owners than that, and somebody else holds it.
fn is_held<B: FuseBackend>(tensor: &FusionTensor<B>, uses: &BTreeMap<usize, usize>) -> bool {
    Arc::strong_count(&tensor.0) > 1 + uses.get(&tensor.0.id).copied().unwrap_or(0)
}
