//! The backend that remembers instead of running.

use crate::CaptureTensor;
use crate::tensor::{Instruction, Node, Source};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use burn_backend::Backend;
use burn_ir::{Checked, Described, Operation, Outputs, TensorId, TensorMeta};
use burn_std::{
    BoolStore, DType, DeviceSettings, DynFut, ExecutionError, FloatDType, IntDType, TensorData,
};
use core::sync::atomic::{AtomicUsize, Ordering};
use hashbrown::HashMap;

/// The backend that remembers instead of running.
#[derive(Clone, Copy, Debug)]
pub struct Capture;

/// Knows the captured tensors that are alive.
#[derive(Clone, Debug, Default)]
pub struct CaptureDevice(Arc<State>);

#[derive(Debug, Default)]
struct State {
    next: AtomicUsize,
    alive: burn_std::sync::Mutex<HashMap<TensorId, Weak<Node>>>,
}

impl CaptureDevice {
    /// The tensor of this name, if it is alive.
    pub(crate) fn tensor(&self, id: TensorId) -> Option<CaptureTensor> {
        self.0.alive.lock().get(&id)?.upgrade().map(CaptureTensor)
    }

    fn fresh(&self) -> TensorId {
        TensorId::new(self.0.next.fetch_add(1, Ordering::Relaxed) as u64)
    }

    fn add(&self, id: TensorId, meta: TensorMeta, source: Source) -> CaptureTensor {
        let node = Arc::new(Node { id, meta, source });
        let mut alive = self.0.alive.lock();
        // Names of dead tensors go whenever the table would grow, which keeps it within twice its useful size.
        if alive.len() == alive.capacity() {
            alive.retain(|_, node| node.strong_count() > 0);
        }
        alive.insert(id, Arc::downgrade(&node));
        CaptureTensor(node)
    }
}

impl Backend for Capture {
    type Device = CaptureDevice;
    type Tensor = CaptureTensor;

    fn name(_device: &CaptureDevice) -> String {
        "capture".into()
    }

    fn settings(_device: &CaptureDevice) -> DeviceSettings {
        DeviceSettings::with_dtypes(FloatDType::F32, IntDType::I64, BoolStore::Native)
    }

    fn supports_dtype(_device: &CaptureDevice, _dtype: DType) -> bool {
        true
    }

    fn supports<T: Described>(_device: &CaptureDevice, _operation: &Operation<T>) -> bool {
        true
    }

    fn execute(
        device: &CaptureDevice,
        operation: Checked<CaptureTensor>,
    ) -> Outputs<CaptureTensor> {
        let (operation, metas) = operation.into_parts();
        let described = metas.map(|meta| (device.fresh(), meta));
        let outputs = described.map_ref(|(id, _)| *id);
        let instruction = Arc::new(Instruction { operation, outputs });
        described.map(|(id, meta)| device.add(id, meta, Source::Output(instruction.clone())))
    }

    fn upload(device: &CaptureDevice, data: TensorData) -> CaptureTensor {
        let meta = TensorMeta::new(data.shape().clone(), data.dtype());
        device.add(device.fresh(), meta, Source::Value(data))
    }

    fn download(
        _device: &CaptureDevice,
        tensors: Vec<CaptureTensor>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
        // What came from the user can be given back; the rest was never computed.
        let read = |tensor: CaptureTensor| match &tensor.0.source {
            Source::Value(data) => Ok(data.clone()),
            Source::Output(_) | Source::Taken => Err(ExecutionError::generic(
                "a captured tensor has no value: complete the scope and replay its graph on a device that executes",
            )),
        };
        let data = tensors.into_iter().map(read).collect();
        Box::pin(core::future::ready(data))
    }

    fn sync(_device: &CaptureDevice) -> Result<(), ExecutionError> {
        Ok(())
    }

    /// A program draws from the generator of the device that replays it, so there is nothing to restart here.
    fn seed(_device: &CaptureDevice, _seed: u64) {}
}
