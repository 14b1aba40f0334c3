//! Where a program begins and ends.

use crate::tensor::{Instruction, Source};
use crate::{CaptureDevice, CaptureTensor, TensorId};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use burn_ir::{Described, Graph};
use burn_std::TensorData;
use core::fmt;
use serde::{Deserialize, Serialize};

/// The right to declare the boundary of a program.
#[derive(Debug)]
pub struct CaptureScope(CaptureDevice);

/// A declared boundary. Holds its tensors, which may be local to the code that was recorded.
#[derive(Debug)]
pub struct CompletedCaptureScope(Result<[Vec<CaptureTensor>; 2], CaptureError>);

/// A program with the data it was given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CapturedGraph {
    /// The program. Its inputs are the declared ones, in order, then one for each entry of `values`.
    pub graph: Graph,
    /// The data of tensors that came from the user and were not declared as inputs, such as weights.
    pub values: BTreeMap<TensorId, TensorData>,
}

impl CaptureScope {
    /// Declares what the program takes and yields, while its tensors are alive.
    pub fn complete(
        self,
        inputs: impl IntoIterator<Item = TensorId>,
        outputs: impl IntoIterator<Item = TensorId>,
    ) -> CompletedCaptureScope {
        let inputs = self.0.boundary("input", inputs.into_iter().collect());
        let outputs = self.0.boundary("output", outputs.into_iter().collect());
        let boundary = inputs.and_then(|inputs| Ok([inputs, outputs?]));
        CompletedCaptureScope(boundary)
    }
}

impl CaptureDevice {
    /// Runs `record` and gives the program between the inputs and outputs that it declares.
    ///
    /// # Errors
    /// If a declared tensor is not alive on this device, or is declared twice on one side.
    pub fn scope(
        &self,
        record: impl FnOnce(CaptureScope) -> CompletedCaptureScope,
    ) -> Result<CapturedGraph, CaptureError> {
        let CompletedCaptureScope(boundary) = record(CaptureScope(self.clone()));
        let [inputs, outputs] = boundary?;
        Ok(program(&inputs, &outputs))
    }

    fn boundary(
        &self,
        boundary: &'static str,
        ids: Vec<TensorId>,
    ) -> Result<Vec<CaptureTensor>, CaptureError> {
        let mut seen = BTreeSet::new();
        let known = |tensor: TensorId| {
            if !seen.insert(tensor) {
                return Err(CaptureError::DuplicateBoundary { boundary, tensor });
            }
            self.tensor(tensor)
                .ok_or(CaptureError::UnknownBoundary { boundary, tensor })
        };
        ids.into_iter().map(known).collect()
    }
}

/// The instructions between inputs and outputs, in the order they were given, and the data they start from.
fn program(inputs: &[CaptureTensor], outputs: &[CaptureTensor]) -> CapturedGraph {
    const FORMED: &str =
        "instructions own their operands, so a walk back from the outputs finds all of them";
    let mut graph = Graph::default();
    let mut seen: BTreeSet<TensorId> = inputs.iter().map(CaptureTensor::id).collect();
    for input in inputs {
        graph.input(input.id(), input.meta().clone()).expect(FORMED);
    }
    let mut values = BTreeMap::new();
    let mut instructions: BTreeMap<TensorId, &Arc<Instruction>> = BTreeMap::new();
    let mut open: Vec<&CaptureTensor> = outputs.iter().collect();
    while let Some(tensor) = open.pop() {
        if !seen.insert(tensor.id()) {
            continue;
        }
        match &tensor.0.source {
            Source::Value(data) => {
                graph
                    .input(tensor.id(), tensor.meta().clone())
                    .expect(FORMED);
                values.insert(tensor.id(), data.clone());
            }
            Source::Output(instruction) => {
                instructions.insert(instruction.outputs.as_slice()[0], instruction);
                instruction
                    .operation
                    .each(&mut |operand| open.push(operand));
            }
            Source::Taken => unreachable!("a node that is alive has its source"),
        }
    }
    // Names grow in the order of execution.
    for instruction in instructions.values() {
        let operation = instruction.operation.map_ref(&mut |operand| operand.id());
        graph
            .push(operation, instruction.outputs.clone())
            .expect(FORMED);
    }
    graph
        .yields(outputs.iter().map(CaptureTensor::id).collect())
        .expect(FORMED);
    CapturedGraph { graph, values }
}

/// Why there is no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaptureError {
    /// The device executes instead of capturing.
    InvalidDevice,
    /// A declared tensor is not alive on this device.
    UnknownBoundary {
        /// `input` or `output`.
        boundary: &'static str,
        /// The tensor.
        tensor: TensorId,
    },
    /// A tensor is declared twice on one side.
    DuplicateBoundary {
        /// `input` or `output`.
        boundary: &'static str,
        /// The tensor.
        tensor: TensorId,
    },
}

impl core::error::Error for CaptureError {}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidDevice => write!(f, "the device executes; capture on `Device::capture()`"),
            Self::UnknownBoundary { boundary, tensor } => {
                write!(
                    f,
                    "{tensor} is declared as an {boundary} and is no tensor of the capture device"
                )
            }
            Self::DuplicateBoundary { boundary, tensor } => {
                write!(f, "{tensor} is declared twice as an {boundary}")
            }
        }
    }
}
