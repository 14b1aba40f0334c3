//! The backend: which instructions it runs, and where each family goes.

use crate::FlexTensor;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use burn_backend::Backend;
use burn_ir::{Checked, Described, Operation, Outputs};
use burn_std::{
    BoolDType, BoolStore, DType, DeviceSettings, DynFut, ExecutionError, FloatDType, IntDType,
    TensorData,
};

/// The CPU backend.
#[derive(Clone, Copy, Debug)]
pub struct Flex;

/// The CPU. There is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlexDevice;

impl Backend for Flex {
    type Device = FlexDevice;
    type Tensor = FlexTensor;

    fn name(_device: &FlexDevice) -> String {
        "flex".into()
    }

    fn settings(_device: &FlexDevice) -> DeviceSettings {
        DeviceSettings::with_dtypes(FloatDType::F32, IntDType::I32, BoolDType::Native)
    }

    fn supports_dtype(_device: &FlexDevice, dtype: DType) -> bool {
        !matches!(dtype, DType::Bool(BoolStore::U8 | BoolStore::U32))
    }

    fn supports<T: Described>(_device: &FlexDevice, _operation: &Operation<T>) -> bool {
        false
    }

    fn execute(_device: &FlexDevice, operation: Checked<FlexTensor>) -> Outputs<FlexTensor> {
        let (operation, _outputs) = operation.into_parts();
        panic!(
            "flex has no kernel for `{}`, as `supports` says",
            operation.name()
        )
    }

    fn upload(_device: &FlexDevice, data: TensorData) -> FlexTensor {
        let (bytes, shape, dtype) = data.into_parts();
        FlexTensor::contiguous(burn_ir::TensorMeta { shape, dtype }, bytes)
    }

    fn download(
        _device: &FlexDevice,
        tensors: Vec<FlexTensor>,
    ) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
        let data = tensors.into_iter().map(|tensor| {
            let meta = tensor.meta().clone();
            TensorData::from_bytes(tensor.into_bytes(), meta.shape, meta.dtype)
        });
        let data = data.collect();
        Box::pin(core::future::ready(Ok(data)))
    }

    fn sync(_device: &FlexDevice) -> Result<(), ExecutionError> {
        Ok(())
    }

    fn seed(_device: &FlexDevice, _seed: u64) {}
}
