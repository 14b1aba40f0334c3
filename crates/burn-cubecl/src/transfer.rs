//! Between host and device.

use crate::ops::movement;
use crate::{CubeDevice, CubeTensor};
use burn_ir::{Described, TensorMeta};
use burn_std::{DynFut, ExecutionError, TensorData};
use cubecl::server::{Handle, ServerError};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) fn upload(device: &CubeDevice, data: TensorData) -> CubeTensor {
    let (bytes, shape, dtype) = data.into_parts();
    let meta = TensorMeta { shape, dtype };
    match bytes.is_empty() {
        true => CubeTensor::empty(device, meta),
        false => CubeTensor::whole(meta, device.client().create_from_slice(&bytes)),
    }
}

pub(crate) fn download(
    device: &CubeDevice,
    tensors: Vec<CubeTensor>,
) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
    let tensors = tensors
        .into_iter()
        .map(|tensor| movement::plain(device, tensor));
    let (metas, handles): (Vec<TensorMeta>, Vec<Handle>) = tensors
        .map(|tensor| (tensor.meta().clone(), tensor.handle().clone()))
        .unzip();
    let client = device.client().clone();
    Box::pin(async move {
        // A panic on the device's thread is raised here again.
        let reading = caught(|| client.read_async(handles))?;
        let read = reading.await.map_err(failure)?;
        let data = metas.into_iter().zip(read).map(|(meta, bytes)| {
            // Buffers may be longer than what they hold.
            let len = meta.shape.num_elements() * meta.dtype.size();
            TensorData::from_bytes_vec(bytes[..len].to_vec(), meta.shape, meta.dtype)
        });
        Ok(data.collect())
    })
}

pub(crate) fn sync(device: &CubeDevice) -> Result<(), ExecutionError> {
    let waiting = caught(|| device.client().sync())?;
    burn_std::read_sync(waiting).map_err(failure)
}

pub(crate) fn flush(device: &CubeDevice) -> Result<(), ExecutionError> {
    caught(|| device.client().flush())?.map_err(failure)
}

/// Runs what waits for the device's thread. The process outlives a panic there.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, ExecutionError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into()));
        let text = text.unwrap_or_else(|| "without a word".into());
        ExecutionError::generic(format!("the runtime of the device panicked: {text}"))
    })
}

/// What went wrong first: CubeCL keeps with every buffer the failure that left it unwritten, and hands it on to what is
/// computed from it.
fn failure(error: ServerError) -> ExecutionError {
    match error {
        ServerError::Unwritten { root, .. } => failure(*root),
        ServerError::Several { mut errors, .. } if !errors.is_empty() => failure(errors.remove(0)),
        ServerError::DevicePoisoned(poison) => ExecutionError::device_poisoned(poison.reason),
        error => ExecutionError::with_context(error.to_string()),
    }
}

#[cfg(any(feature = "cpu", feature = "cuda", feature = "vulkan"))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cube;
    use crate::ops::guard::{fingerprint, guarded};
    use burn_backend::Backend;
    use burn_ir::{BinaryOp, Operand, Operation, TensorMeta};
    use burn_std::Scalar;
    use cubecl::prelude::*;

    fn device() -> CubeDevice {
        let opened = if cfg!(feature = "cuda") {
            crate::cuda(0)
        } else if cfg!(feature = "vulkan") {
            crate::vulkan(Default::default())
        } else {
            crate::cpu()
        };
        CubeDevice::of(opened.unwrap()).unwrap().clone()
    }

    fn read(device: &CubeDevice, tensor: CubeTensor) -> Result<TensorData, ExecutionError> {
        burn_std::read_sync(Cube::download(device, vec![tensor])).map(|mut data| data.remove(0))
    }

    fn plus_one(device: &CubeDevice, lhs: CubeTensor) -> CubeTensor {
        let (op, rhs) = (BinaryOp::Add, Operand::Scalar(Scalar::Float(1.0)));
        let operation = Operation::Binary { op, lhs, rhs };
        Cube::execute(device, operation.check().unwrap()).one()
    }

    #[cube(launch_unchecked)]
    fn broken(output: &mut [f32], #[comptime] fails: bool) {
        if comptime!(fails) {
            comptime!(refuse());
        }
        if ABSOLUTE_POS < output.len() {
            output[ABSOLUTE_POS] = 1.0;
        }
    }

    fn refuse() {
        panic!("this kernel cannot be built");
    }

    /// A tensor that `launch` writes with cubes of so many units.
    fn written(
        device: &CubeDevice,
        units: u32,
        launch: impl FnOnce(&Client, CubeCount, CubeDim, BufferArg),
    ) -> CubeTensor {
        let meta = TensorMeta::new([4], burn_std::DType::F32);
        let tensor = CubeTensor::empty(device, meta);
        // SAFETY: the tensor has four elements.
        let output = unsafe { BufferArg::from_raw_parts(tensor.handle().clone(), 4) };
        let (count, cube_dim) = (CubeCount::Static(4, 1, 1), CubeDim::new_1d(units));
        let kernel = fingerprint(std::any::type_name_of_val(&launch));
        guarded(
            device,
            kernel,
            cube_dim,
            std::slice::from_ref(&tensor),
            || launch(device.client(), count, cube_dim, output),
        );
        tensor
    }

    /// A tensor that a kernel writes, unless it cannot be built.
    fn launched(device: &CubeDevice, fails: bool) -> CubeTensor {
        written(device, 1, |client, count, cube_dim, output| {
            // SAFETY: the kernel writes no further than the buffer is long.
            unsafe { broken::launch_unchecked(client, count, cube_dim, output, fails) }
        })
    }

    #[track_caller]
    fn fails_and_nothing_else_does(device: &CubeDevice, poisoned: CubeTensor, reason: &str) {
        let sound = Cube::upload(device, TensorData::from([1.0f32, 2.0]));
        let derived = plus_one(device, poisoned.clone());
        for tensor in [poisoned, derived] {
            let error = read(device, tensor).unwrap_err();
            assert!(error.reason().contains(reason), "{error}");
            assert!(!error.is_device_poisoned());
        }
        let beside = plus_one(device, sound);
        let expected = TensorData::from([2.0f32, 3.0]);
        assert_eq!(read(device, beside).unwrap(), expected);
        Cube::sync(device).unwrap();
    }

    #[test]
    fn a_kernel_that_cannot_be_built_poisons_what_it_writes_and_nothing_else() {
        let device = device();
        let poisoned = launched(&device, true);
        fails_and_nothing_else_does(&device, poisoned, "this kernel cannot be built");
    }

    /// CubeCL's compiler for CPUs panics on this.
    #[cfg(feature = "cpu")]
    #[cube(launch_unchecked)]
    fn unsupported(output: &mut [f32]) {
        sync_storage();
        output[ABSOLUTE_POS] = 1.0;
    }

    #[cfg(feature = "cpu")]
    #[test]
    fn a_kernel_whose_compiler_panics_poisons_what_it_writes_and_nothing_else() {
        let device = CubeDevice::of(crate::cpu().unwrap()).unwrap().clone();
        // The second time it is no new kernel.
        for _ in 0..2 {
            let poisoned = written(&device, 1, |client, count, cube_dim, output| {
                // SAFETY: each of four cubes writes one element.
                unsafe { unsupported::launch_unchecked(client, count, cube_dim, output) }
            });
            fails_and_nothing_else_does(&device, poisoned, "the compiler of the device panicked");
        }
    }

    #[test]
    fn cubes_of_more_units_than_the_device_has_are_an_error() {
        let device = device();
        let poisoned = written(&device, 1 << 30, |client, count, cube_dim, output| {
            // SAFETY: the kernel writes no further than the buffer is long.
            unsafe { broken::launch_unchecked(client, count, cube_dim, output, false) }
        });
        fails_and_nothing_else_does(&device, poisoned, "cubes of [1073741824, 1, 1] units");
    }

    #[test]
    fn a_kernel_that_can_be_built_writes() {
        let device = device();
        let written = launched(&device, false);
        assert_eq!(
            read(&device, written).unwrap(),
            TensorData::from([1.0f32; 4])
        );
    }

    #[test]
    fn too_much_memory_is_an_error_at_the_read_and_of_what_depends_on_it() {
        let device = device();
        // A petabyte.
        let meta = TensorMeta::new([1usize << 48], burn_std::DType::F32);
        let huge = CubeTensor::empty(&device, meta);
        let row = huge.slice(
            &[burn_ir::SliceRange {
                start: 0,
                step: 1,
                len: 4,
            }],
            TensorMeta::new([4], burn_std::DType::F32),
        );
        let derived = plus_one(&device, row);
        let error = read(&device, derived).unwrap_err();
        assert!(!error.is_device_poisoned(), "{error}");
        a_kernel_that_can_be_built_writes();
    }
}
