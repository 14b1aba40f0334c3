//! Programs from running code, and back: recording on [`Device::capture`], replay on any device.

use crate::kind::Basic;
use crate::{Device, DynTensor, Tensor};
use alloc::vec::Vec;
pub use burn_dispatch::InterpretError as ReplayError;
pub use burn_dispatch::capture::{
    CaptureError, CaptureScope, CapturedGraph, CompletedCaptureScope, TensorId,
};
use burn_dispatch::{interpret, registry};

impl Device {
    /// Runs `record` and gives the program between the inputs and outputs that it declares by
    /// [`Tensor::capture_id`].
    ///
    /// # Errors
    /// If this is not the capture device, or a declared tensor is none of its tensors.
    pub fn capture_scope(
        &self,
        record: impl FnOnce(CaptureScope) -> CompletedCaptureScope,
    ) -> Result<CapturedGraph, CaptureError> {
        match registry::as_capture(self.0.base()) {
            Some(device) => device.scope(record),
            None => Err(CaptureError::InvalidDevice),
        }
    }

    /// Runs a captured program on this device: the declared inputs in, the declared outputs out, in order.
    ///
    /// # Errors
    /// If the inputs are not what the program was recorded with, or an instruction does not run here.
    pub fn replay(
        &self,
        program: &CapturedGraph,
        inputs: Vec<DynTensor>,
    ) -> Result<Vec<DynTensor>, ReplayError> {
        let (graph, values) = (&program.graph, &program.values);
        let declared = graph.inputs().iter().filter(|id| !values.contains_key(id));
        let expected = declared.count();
        if inputs.len() != expected {
            return Err(ReplayError::InputCount {
                found: inputs.len(),
                expected,
            });
        }
        let mut inputs = inputs.into_iter();
        // What a file declares is believed in no order but its own.
        let inputs = graph.inputs().iter().filter_map(|id| match values.get(id) {
            Some(data) => Some(self.0.upload(data.clone())),
            None => inputs.next().map(|input| input.0),
        });
        let inputs = inputs.collect();
        let outputs = interpret(graph, self.0, inputs)?;
        Ok(outputs.into_iter().map(DynTensor).collect())
    }
}

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// The tensor's name in captured programs, if it lives on the capture device.
    pub fn capture_id(&self) -> Option<TensorId> {
        registry::capture_id(&self.handle)
    }
}
