//! Captured tensors: nodes that own how they came to be.

use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_ir::{Described, Operation, Outputs, TensorId, TensorMeta};
use burn_std::TensorData;

/// A tensor that is known by how it came to be.
#[derive(Clone, Debug)]
pub struct CaptureTensor(pub(crate) Arc<Node>);

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: TensorId,
    pub(crate) meta: TensorMeta,
    pub(crate) source: Source,
}

/// How a tensor came to be.
#[derive(Debug)]
pub(crate) enum Source {
    /// Data from the user.
    Value(TensorData),
    /// An output of an instruction.
    Output(Arc<Instruction>),
    /// Nothing any more: the node is on its way out.
    Taken,
}

#[derive(Debug)]
pub(crate) struct Instruction {
    pub(crate) operation: Operation<CaptureTensor>,
    pub(crate) outputs: Outputs<TensorId>,
}

impl CaptureTensor {
    /// The tensor's name in captured programs.
    pub fn id(&self) -> TensorId {
        self.0.id
    }
}

impl Described for CaptureTensor {
    fn meta(&self) -> &TensorMeta {
        &self.0.meta
    }
}

/// Frees a chain of any length in a loop: one stack frame for each node would overflow the stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut sources = Vec::new();
        sources.push(core::mem::replace(&mut self.source, Source::Taken));
        while let Some(source) = sources.pop() {
            let Source::Output(instruction) = source else {
                continue;
            };
            let Some(instruction) = Arc::into_inner(instruction) else {
                continue;
            };
            instruction.operation.map(&mut |operand| {
                if let Some(mut node) = Arc::into_inner(operand.0) {
                    sources.push(core::mem::replace(&mut node.source, Source::Taken));
                }
            });
        }
    }
}
