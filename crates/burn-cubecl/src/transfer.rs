//! Between host and device.

use crate::ops::movement;
use crate::{CubeDevice, CubeTensor};
use burn_ir::{Described, TensorMeta};
use burn_std::{DynFut, ExecutionError, TensorData};
use cubecl::server::{Handle, ServerError};

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
        let read = client.read_async(handles).await.map_err(failure)?;
        let data = metas.into_iter().zip(read).map(|(meta, bytes)| {
            // Buffers may be longer than what they hold.
            let len = meta.shape.num_elements() * meta.dtype.size();
            TensorData::from_bytes_vec(bytes[..len].to_vec(), meta.shape, meta.dtype)
        });
        Ok(data.collect())
    })
}

pub(crate) fn sync(device: &CubeDevice) -> Result<(), ExecutionError> {
    burn_std::read_sync(device.client().sync()).map_err(failure)
}

pub(crate) fn flush(device: &CubeDevice) -> Result<(), ExecutionError> {
    device.client().flush().map_err(failure)
}

fn failure(error: ServerError) -> ExecutionError {
    ExecutionError::generic(error.to_string())
}
