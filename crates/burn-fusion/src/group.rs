//! Which waiting instructions run together for a value.

use crate::FusionTensor;
use crate::tensor::Waiting;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_backend::{FuseBackend, Group, Slot};
use burn_ir::Described;

/// A group with the tensors it is about.
pub(crate) struct Plan<B: FuseBackend> {
    pub(crate) group: Group,
    pub(crate) inputs: Vec<FusionTensor<B>>,
    pub(crate) outputs: Vec<FusionTensor<B>>,
}

/// The waiting instructions that lead to `root` and have its shape, in the order they were given.
pub(crate) fn plan<B: FuseBackend>(root: &FusionTensor<B>, waiting: Arc<Waiting<B>>) -> Plan<B> {
    let mut steps = BTreeMap::from([(root.0.id, (root.clone(), waiting))]);
    let mut inputs = BTreeMap::new();
    // Larger ids first: a value is met after everything that is made of it, once.
    let mut open = BTreeSet::from([root.0.id]);
    while let Some(id) = open.pop_last() {
        let (_, waiting) = &steps[&id];
        let waiting = waiting.clone();
        waiting.operation.each(&mut |operand| {
            let id = operand.0.id;
            if steps.contains_key(&id) || inputs.contains_key(&id) {
                return;
            }
            match operand
                .waiting()
                .filter(|_| operand.meta().shape == root.meta().shape)
            {
                Some(waiting) => {
                    steps.insert(id, (operand.clone(), waiting));
                    open.insert(id);
                }
                None => {
                    inputs.insert(id, operand.clone());
                }
            }
        });
    }
    assemble(root, steps, inputs)
}

fn assemble<B: FuseBackend>(
    root: &FusionTensor<B>,
    steps: BTreeMap<usize, (FusionTensor<B>, Arc<Waiting<B>>)>,
    inputs: BTreeMap<usize, FusionTensor<B>>,
) -> Plan<B> {
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    let mut group = Group::new(inputs.values().map(|input| input.meta().clone()).collect());
    let mut slots: BTreeMap<usize, Slot> = inputs
        .keys()
        .enumerate()
        .map(|(at, id)| (*id, Slot(at)))
        .collect();
    for (id, (tensor, waiting)) in &steps {
        let operation = waiting.operation.map_ref(&mut |operand| {
            *uses.entry(operand.0.id).or_default() += 1;
            slots[&operand.0.id]
        });
        slots.insert(*id, group.step(operation, tensor.meta().clone()));
    }
    let mut outputs = Vec::new();
    for (id, (tensor, _)) in steps {
        // One owner is this plan, the others of the group are the instructions that use the value. More owners than
        // that, and the value is needed later.
        let inside = 1 + uses.get(&id).copied().unwrap_or(0);
        if id == root.0.id || Arc::strong_count(&tensor.0) > inside {
            group.output(slots[&id]);
            outputs.push(tensor);
        }
    }
    Plan {
        group,
        inputs: inputs.into_values().collect(),
        outputs,
    }
}
