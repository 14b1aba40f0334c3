//! Reading tensors back. Not instructions: a read waits, and can fail.

use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_dispatch::{Device, Handle};
use burn_ir::Described;
use burn_std::{DType, DynFut, Element, ExecutionError, TensorData, TensorReadError};
use core::future::Future;

/// Brings a tensor back.
pub(crate) fn download(
    tensor: Handle,
) -> impl Future<Output = Result<TensorData, ExecutionError>> + Send + use<> {
    let reading = tensor.device().download(alloc::vec![tensor]);
    async move {
        let mut data = reading.await?;
        data.pop()
            .ok_or_else(|| ExecutionError::generic("a device returned no data for a tensor"))
    }
}

/// Brings a tensor back, waiting for it.
pub(crate) fn try_read(tensor: Handle) -> Result<TensorData, ExecutionError> {
    burn_std::read_sync(download(tensor))
}

/// Brings a tensor back with elements of `dtype`, waiting for it.
pub(crate) fn try_read_as(tensor: Handle, dtype: DType) -> Result<TensorData, TensorReadError> {
    Ok(try_read(tensor)?.try_cast(dtype)?)
}

/// The only element of a tensor.
///
/// A tensor of another size is refused before anything is read.
pub(crate) fn single(tensor: &Handle) -> Result<(), TensorReadError> {
    match tensor.meta().shape.num_elements() {
        1 => Ok(()),
        actual => Err(TensorReadError::InvalidShape {
            expected: 1,
            actual,
        }),
    }
}

pub(crate) fn element<E: Element>(data: TensorData) -> Result<E, TensorReadError> {
    let actual = data.num_elements();
    data.iter().next().ok_or(TensorReadError::InvalidShape {
        expected: 1,
        actual,
    })
}

/// The value, or a stop with the reason.
#[track_caller]
pub(crate) fn expect<T, E: core::fmt::Display>(method: &str, value: Result<T, E>) -> T {
    match value {
        Ok(value) => value,
        Err(error) => panic!("`{method}`: {error}\n  to handle this: `try_{method}`"),
    }
}

/// Brings tensors of any devices back, in order, with one read for each device.
pub(crate) fn download_all(
    tensors: Vec<Handle>,
) -> DynFut<Result<Vec<TensorData>, ExecutionError>> {
    let count = tensors.len();
    let mut groups: Vec<(Device, Vec<usize>, Vec<Handle>)> = Vec::new();
    for (at, tensor) in tensors.into_iter().enumerate() {
        let device = tensor.device();
        match groups.iter_mut().find(|(other, ..)| *other == device) {
            Some((_, places, group)) => {
                places.push(at);
                group.push(tensor);
            }
            None => groups.push((device, alloc::vec![at], alloc::vec![tensor])),
        }
    }
    let reads: Vec<_> = groups
        .into_iter()
        .map(|(device, places, group)| (places, device.download(group)))
        .collect();
    Box::pin(async move {
        let mut ordered = Vec::new();
        ordered.resize(count, None);
        for (places, read) in reads {
            for (place, data) in places.into_iter().zip(read.await?) {
                ordered[place] = Some(data);
            }
        }
        let data: Option<Vec<_>> = ordered.into_iter().collect();
        data.ok_or_else(|| ExecutionError::generic("a device returned no data for a tensor"))
    })
}
