//! Runs programs on any device.

use crate::{RunError, try_run};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_backend::{Device, Handle};
use burn_ir::{Described, Graph, TensorId, TensorMeta};
use core::fmt;
use hashbrown::HashMap;

/// Runs a program: `inputs` in the order of [`Graph::inputs`], outputs in the order of [`Graph::outputs`].
///
/// A tensor is handed over at its last use, so that engines can write in place.
///
/// # Errors
/// If the inputs are not what the program was recorded with, or an instruction does not run on `device`.
pub fn interpret(
    graph: &Graph,
    device: Device,
    inputs: Vec<Handle>,
) -> Result<Vec<Handle>, InterpretError> {
    let mut tensors = Tensors {
        uses: uses(graph),
        values: HashMap::new(),
    };
    if inputs.len() != graph.inputs().len() {
        return Err(InterpretError::InputCount {
            found: inputs.len(),
            expected: graph.inputs().len(),
        });
    }
    for (id, value) in graph.inputs().iter().zip(inputs) {
        // A program may come from a device with other element types.
        if !device.supports_dtype(value.meta().dtype) {
            return Err(InterpretError::Run(RunError::DType {
                operation: "input",
                device,
                output: value.meta().clone(),
            }));
        }
        match graph.meta(*id) {
            Some(meta) if meta == value.meta() => tensors.define(*id, value),
            meta => {
                let (found, expected) = (value.meta().clone(), meta.cloned().map(Box::new));
                return Err(InterpretError::Input {
                    tensor: *id,
                    found,
                    expected,
                });
            }
        }
    }
    for node in graph.nodes() {
        let operation = node.operation.map_ref(&mut |id| tensors.take(*id));
        let outputs = try_run(device, operation).map_err(InterpretError::Run)?;
        for (id, value) in node.outputs.as_slice().iter().zip(outputs.into_vec()) {
            tensors.define(*id, value);
        }
    }
    Ok(graph.outputs().iter().map(|id| tensors.take(*id)).collect())
}

/// How often each tensor is used.
fn uses(graph: &Graph) -> HashMap<TensorId, usize> {
    let mut uses = HashMap::new();
    let mut count = |id: &TensorId| *uses.entry(*id).or_default() += 1;
    graph
        .nodes()
        .iter()
        .for_each(|node| node.operation.each(&mut count));
    graph.outputs().iter().for_each(count);
    uses
}

/// The tensors that are still needed.
struct Tensors {
    uses: HashMap<TensorId, usize>,
    values: HashMap<TensorId, Handle>,
}

impl Tensors {
    fn define(&mut self, id: TensorId, value: Handle) {
        if self.uses.contains_key(&id) {
            self.values.insert(id, value);
        }
    }

    fn take(&mut self, id: TensorId) -> Handle {
        let uses = self.uses.get_mut(&id).expect("every use was counted");
        *uses -= 1;
        let value = match uses {
            0 => self.values.remove(&id),
            _ => self.values.get(&id).cloned(),
        };
        value.expect("a program defines tensors before their uses")
    }
}

/// Why a program did not run.
#[derive(Clone, Debug)]
pub enum InterpretError {
    /// The number of inputs is wrong.
    InputCount {
        /// The number given.
        found: usize,
        /// The number that the program takes.
        expected: usize,
    },
    /// An input is not what the program was recorded with.
    Input {
        /// The input.
        tensor: TensorId,
        /// The tensor given.
        found: TensorMeta,
        /// The tensor that the program takes.
        expected: Option<Box<TensorMeta>>,
    },
    /// An instruction did not run.
    Run(RunError),
}

impl core::error::Error for InterpretError {}

impl fmt::Display for InterpretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InputCount { found, expected } => {
                write!(f, "the program takes {expected} inputs, not {found}")
            }
            Self::Input {
                tensor,
                found,
                expected: Some(expected),
            } => {
                write!(
                    f,
                    "the program takes {expected} for its input {tensor}, not {found}"
                )
            }
            Self::Input { tensor, .. } => {
                write!(f, "the program does not describe its input {tensor}")
            }
            Self::Run(error) => error.fmt(f),
        }
    }
}
