//! The backend: which instructions it runs, and where each family goes.

use crate::block::Step;
use crate::exec;
use crate::source::Input;
use crate::{FlexTensor, ops};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use burn_backend::Backend;
use burn_ir::{ActivationOp, Checked, CreateOp, Described, Operation, Outputs, TensorMeta};
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
        !matches!(
            dtype,
            DType::Bool(BoolStore::U8 | BoolStore::U32) | DType::Flex32
        )
    }

    fn supports<T: Described>(device: &FlexDevice, operation: &Operation<T>) -> bool {
        let mut supported = match operation {
            Operation::Create { op } => match op {
                CreateOp::Full { dtype, .. }
                | CreateOp::Arange { dtype, .. }
                | CreateOp::Random { dtype, .. } => Self::supports_dtype(device, *dtype),
            },
            Operation::Cast { dtype, .. } => Self::supports_dtype(device, *dtype),
            Operation::Compare { store, .. } => Self::supports_dtype(device, (*store).into()),
            Operation::Unary { .. }
            | Operation::Binary { .. }
            | Operation::Where { .. }
            | Operation::Reduce { .. }
            | Operation::Movement { .. }
            | Operation::Matmul { .. }
            | Operation::Activation { .. }
            | Operation::Module(_)
            | Operation::Cat { .. }
            | Operation::SliceAssign { .. }
            | Operation::Gather { .. }
            | Operation::Scatter { .. }
            | Operation::Scan { .. }
            | Operation::Sort { .. }
            | Operation::Argwhere { .. } => true,
        };
        operation.each(&mut |tensor| {
            supported &= Self::supports_dtype(device, tensor.meta().dtype);
        });
        supported
    }

    fn execute(_device: &FlexDevice, operation: Checked<FlexTensor>) -> Outputs<FlexTensor> {
        let (operation, outputs) = operation.into_parts();
        let output = &outputs.one();
        let dtype = output.dtype;
        Outputs::One(match operation {
            Operation::Create { op } => ops::create::run(op, output),
            Operation::Cast { input, .. } if input.dtype() == dtype => input,
            Operation::Cast { input, .. } => {
                let step = Step::Cast(input.dtype(), dtype);
                exec::one(step, [Input::Tensor(input)], output)
            }
            Operation::Unary { op, input } => {
                exec::one(Step::Unary(op, dtype), [Input::Tensor(input)], output)
            }
            Operation::Binary { op, lhs, rhs } => {
                let inputs = [Input::Tensor(lhs), Input::new(rhs, dtype)];
                exec::one(Step::Binary(op, dtype), inputs, output)
            }
            Operation::Compare { op, lhs, rhs, .. } => {
                let step = Step::Compare(op, lhs.dtype());
                let rhs = Input::new(rhs, lhs.dtype());
                exec::one(step, [Input::Tensor(lhs), rhs], output)
            }
            Operation::Where {
                mask,
                on_true,
                on_false,
            } => {
                let (on_true, on_false) = (Input::new(on_true, dtype), Input::new(on_false, dtype));
                let inputs = [Input::Tensor(mask), on_true, on_false];
                exec::one(Step::Where(dtype.size()), inputs, output)
            }
            Operation::Activation { op, input } => match op {
                ActivationOp::Relu | ActivationOp::Gelu | ActivationOp::Sigmoid => {
                    exec::one(Step::Activation(op, dtype), [Input::Tensor(input)], output)
                }
                ActivationOp::Softmax { .. } | ActivationOp::LogSoftmax { .. } => {
                    ops::softmax::run(op, input, output)
                }
            },
            Operation::Reduce { op, input, dims } => ops::reduce::run(op, input, dims, output),
            Operation::Movement { op, input } if input.dtype().is_quantized() => {
                ops::quant::movement(op, input, output)
            }
            Operation::Movement { op, input } => ops::movement::run(op, input, output),
            Operation::Matmul { lhs, rhs } => ops::matmul::run(lhs, rhs, output),
            Operation::Cat { dim, inputs } => ops::cat::run(dim, inputs, output),
            Operation::SliceAssign {
                ranges,
                input,
                values,
            } => ops::cat::assign(&ranges, input, values),
            Operation::Gather { op, input, indices } => {
                ops::index::gather(op, input, indices, output)
            }
            Operation::Scatter {
                op,
                mode,
                input,
                indices,
                values,
            } => ops::index::scatter(op, mode, input, indices, values),
            Operation::Scan { op, dim, input } => ops::scan::run(op, dim, input, output),
            Operation::Sort {
                op,
                dim,
                descending,
                input,
                ..
            } => ops::sort::run(op, dim, descending, input, output),
            Operation::Argwhere { mask, .. } => ops::index::argwhere(mask, output),
            Operation::Module(op) => ops::module::run(*op, output),
        })
    }

    fn upload(_device: &FlexDevice, data: TensorData) -> FlexTensor {
        let (bytes, shape, dtype) = data.into_parts();
        FlexTensor::contiguous(TensorMeta { shape, dtype }, bytes)
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

    fn can_mut(tensor: &FlexTensor) -> bool {
        tensor.is_unique()
    }

    fn memory_cleanup(_device: &FlexDevice) {
        burn_std::bytes::release_kept();
    }

    fn seed(_device: &FlexDevice, seed: u64) {
        ops::random::seed(seed);
    }
}
