//! Which waiting instructions run together for a value.

use crate::FusionTensor;
use crate::tensor::{Cell, Kind, Waiting};
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
    /// Another thread makes what is needed: plan again when it has.
    Wait,
}

/// A group with the tensors it is about.
pub(crate) struct Plan<B: FuseBackend> {
    pub(crate) group: Group,
    pub(crate) inputs: Vec<FusionTensor<B>>,
    pub(crate) outputs: Vec<Arc<Cell<B>>>,
    /// The instructions that nobody runs again: all but those whose values are held and not written.
    pub(crate) steps: Vec<Step<B>>,
}

/// The group that ends in `root`: the waiting elementwise instructions that lead to it and have its shape; of the
/// reductions and matrix products of that shape among what they read, the newest; and what leads to that one.
pub(crate) fn plan<B: FuseBackend>(root: &Arc<Cell<B>>) -> Next<B> {
    let tensor = FusionTensor(Kind::Lazy(root.clone()));
    let shape = tensor.meta().shape.clone();
    let mut epilogue = Part::new([tensor], Some(&shape));
    let anchor = epilogue.inputs.iter().rev().find_map(|(id, input)| {
        let step = input
            .step()
            .filter(|_| input.meta().shape == shape)
            .filter(|(_, waiting)| waiting.operation.class() != Class::Elementwise);
        step.map(|step| (*id, step))
    });
    let mut prologue = Part::new([], None);
    let anchor = anchor.map(|(id, step)| {
        epilogue.inputs.remove(&id);
        let mut operands = Vec::new();
        step.1.operation.each(&mut |it| operands.push(it.clone()));
        let shape = operands[0].meta().shape.clone();
        let fuses = step.1.operation.class() == Class::Reduction;
        prologue = Part::new(operands, fuses.then_some(&shape));
        step
    });
    let members = Members {
        prologue,
        anchor,
        epilogue,
    };
    members.next(root)
}

/// An instruction that waits, and the cell it waits in.
pub(crate) type Step<B> = (Arc<Cell<B>>, Arc<Waiting<B>>);

impl<B: FuseBackend> FusionTensor<B> {
    /// The instruction it waits for.
    fn step(&self) -> Option<Step<B>> {
        match &self.0 {
            Kind::Ready { .. } => None,
            Kind::Lazy(cell) => Some((cell.clone(), cell.waiting()?)),
        }
    }
}

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
            roots.into_iter().map(|root| (root.id(), root)).collect();
        let most = burn_std::config::fusion::max_graph_size();
        while let Some((id, tensor)) = open.pop_last() {
            let step = tensor.step().filter(|(_, waiting)| {
                part.steps.len() < most
                    && shape == Some(&tensor.meta().shape)
                    && waiting.operation.class() == Class::Elementwise
            });
            if let Some(step) = step {
                step.1.operation.each(&mut |operand| {
                    open.insert(operand.id(), operand.clone());
                });
                part.steps.insert(id, step);
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
    fn recomputes(&self, value: &Cell<B>) -> bool {
        let (mut read, mut steps) = (0, 0);
        let mut open = BTreeSet::from([value.id]);
        while let Some(id) = open.pop_last() {
            let Some((_, waiting)) = self.steps.get(&id) else {
                read += bytes(self.inputs[&id].meta());
                continue;
            };
            steps += 1;
            waiting.operation.each(&mut |operand| {
                open.insert(operand.id());
            });
        }
        read < 2 * bytes(&value.meta) && steps <= MOST_RECOMPUTED
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
    /// What to do for the last value of the group: first what it reads has to be there, and what it neither writes nor
    /// leaves to be computed again.
    fn next(self, root: &Cell<B>) -> Next<B> {
        let inputs = self.prologue.inputs.values();
        let inputs = inputs.chain(self.epilogue.inputs.values());
        let mut first = Vec::new();
        for input in inputs {
            match &input.0 {
                Kind::Lazy(cell) if cell.is_running() => return Next::Wait,
                Kind::Lazy(cell) if cell.waiting().is_some() => first.push(input.clone()),
                _ => {}
            }
        }
        if !first.is_empty() {
            return Next::First(first);
        }
        if self.steps().next().is_none() {
            return Next::Wait;
        }
        let uses = self.uses();
        // The newest: its group writes older ones too.
        let steps = self.prologue.steps.values().rev();
        let mut written =
            steps.filter(|(cell, _)| is_held(cell, &uses) && !self.prologue.recomputes(cell));
        match written.next() {
            Some((cell, _)) => Next::First(alloc::vec![FusionTensor(Kind::Lazy(cell.clone()))]),
            None => Next::Run(self.assemble(root, &uses)),
        }
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
                .each(&mut |operand| *uses.entry(operand.id()).or_default() += 1);
        }
        uses
    }

    fn assemble(self, root: &Cell<B>, uses: &BTreeMap<usize, usize>) -> Plan<B> {
        let mut inputs = self.prologue.inputs.clone();
        inputs.extend(self.epilogue.inputs.clone());
        let mut group = Group::new(inputs.values().map(|input| input.meta().clone()).collect());
        let mut slots: BTreeMap<usize, Slot> = inputs
            .keys()
            .enumerate()
            .map(|(at, id)| (*id, Slot(at)))
            .collect();
        for (cell, waiting) in self.steps() {
            let operation = waiting
                .operation
                .map_ref(&mut |operand| slots[&operand.id()]);
            slots.insert(cell.id, group.step(operation, cell.meta.clone()));
        }
        let again = self.prologue.steps.into_values();
        let mut steps: Vec<Step<B>> = again.filter(|(cell, _)| !is_held(cell, uses)).collect();
        let mut outputs = Vec::new();
        let rest = self.anchor.into_iter();
        for step in rest.chain(self.epilogue.steps.into_values()) {
            if step.0.id == root.id || is_held(&step.0, uses) {
                group.output(slots[&step.0.id]);
                outputs.push(step.0.clone());
            }
            steps.push(step);
        }
        Plan {
            group,
            inputs: inputs.into_values().collect(),
            outputs,
            steps,
        }
    }
}

/// Whether a value of the group is needed after it. One owner is the group's list, others are the instructions of the
/// group that read the value; more owners than that, and somebody else holds it.
fn is_held<B: FuseBackend>(cell: &Arc<Cell<B>>, uses: &BTreeMap<usize, usize>) -> bool {
    Arc::strong_count(cell) > 1 + uses.get(&cell.id).copied().unwrap_or(0)
}
