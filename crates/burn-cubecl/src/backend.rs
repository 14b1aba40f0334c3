//! The backend: which instructions it runs, and where each family goes.

use crate::ops::{create, group, movement, softmax};
use crate::{CubeDevice, CubeTensor, memory, transfer};
use burn_backend::{Backend, MemoryPoolUsage, SlicedPoolReport};
use burn_ir::{ActivationOp, Checked, Class, Described, Operation, Outputs};
use burn_std::{
    BoolDType, BoolStore, DType, DeviceSettings, DynFut, ExecutionError, FloatDType, IntDType,
    TensorData,
};

/// The backend for all of CubeCL's runtimes; the device says which.
#[derive(Clone, Copy, Debug)]
pub struct Cube;

/// Whether the instruction is of a family that has no kernels here yet.
fn is_pending<T>(operation: &Operation<T>) -> bool {
    matches!(
        operation,
        Operation::Cat { .. }
            | Operation::SliceAssign { .. }
            | Operation::Gather { .. }
            | Operation::Scatter { .. }
            | Operation::Scan { .. }
            | Operation::Sort { .. }
            | Operation::Argwhere { .. }
            | Operation::Module(_)
    )
}

impl Backend for Cube {
    type Device = CubeDevice;
    type Tensor = CubeTensor;

    fn name(device: &CubeDevice) -> String {
        device.name()
    }

    fn settings(device: &CubeDevice) -> DeviceSettings {
        let store = match device.computes(DType::U8) {
            true => BoolStore::Native,
            false => BoolStore::U32,
        };
        DeviceSettings::with_dtypes(FloatDType::F32, IntDType::I32, BoolDType::from(store))
    }

    fn supports_dtype(device: &CubeDevice, dtype: DType) -> bool {
        device.computes(dtype)
    }

    fn supports<T: Described>(device: &CubeDevice, operation: &Operation<T>) -> bool {
        let mut computes = !is_pending(operation);
        operation.each(&mut |tensor| computes &= device.computes(tensor.meta().dtype));
        // An instruction that describes nothing is no instruction of this backend either.
        let outputs = operation.infer();
        computes && outputs.is_ok_and(|it| device.computes(it.one().dtype))
    }

    fn execute(device: &CubeDevice, operation: Checked<CubeTensor>) -> Outputs<CubeTensor> {
        let (operation, outputs) = operation.into_parts();
        let output = outputs.one();
        Outputs::One(match operation {
            Operation::Create { op } => create::run(device, op, output),
            Operation::Movement { op, input } => movement::run(device, op, input, output),
            Operation::Activation {
                op: op @ (ActivationOp::Softmax { dim } | ActivationOp::LogSoftmax { dim }),
                input,
            } => {
                let logarithm = matches!(op, ActivationOp::LogSoftmax { .. });
                softmax::run(device, logarithm, dim, input, output)
            }
            other if is_pending(&other) => {
                unreachable!("`{}` is not supported", other.name())
            }
            other => {
                debug_assert!(matches!(
                    other.class(),
                    Class::Elementwise | Class::Reduction | Class::Anchor
                ));
                group::single(device, other, output)
            }
        })
    }

    fn upload(device: &CubeDevice, data: TensorData) -> CubeTensor {
        transfer::upload(device, data)
    }

    fn download(
        device: &CubeDevice,
        tensors: Vec<CubeTensor>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
        transfer::download(device, tensors)
    }

    fn sync(device: &CubeDevice) -> Result<(), ExecutionError> {
        transfer::sync(device)
    }

    fn flush(device: &CubeDevice) -> Result<(), ExecutionError> {
        transfer::flush(device)
    }

    fn seed(device: &CubeDevice, seed: u64) {
        device.seed(seed);
    }

    fn memory_usage(device: &CubeDevice) -> Option<MemoryPoolUsage> {
        Some(memory::usage(device))
    }

    fn memory_report(device: &CubeDevice) -> Option<Vec<SlicedPoolReport>> {
        Some(memory::report(device))
    }

    fn memory_cleanup(device: &CubeDevice) {
        memory::cleanup(device);
    }
}
