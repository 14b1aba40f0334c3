//! Tensors from nothing. Random numbers are in [`random`](super::random).

use super::binary::wrapping;
use super::group::{address_type, index_type, is_wide, launch};
use super::guard::{fingerprint, guarded};
use super::plan::Plan;
use super::random;
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_ir::{BinaryOp, CreateOp, TensorMeta};
use burn_std::{DType, Scalar};
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

/// Runs a creation.
pub(crate) fn run(device: &CubeDevice, op: CreateOp, output: TensorMeta) -> CubeTensor {
    match op {
        CreateOp::Full { value, .. } => full(device, value, output),
        CreateOp::Arange { start, step, .. } => arange(device, start, step, output),
        CreateOp::Random { distribution, .. } => random::run(device, distribution, output),
    }
}

/// A tensor of one value.
pub(crate) fn full(device: &CubeDevice, value: Scalar, output: TensorMeta) -> CubeTensor {
    let mut outputs = launch(
        device,
        Plan::fill(output.dtype),
        &[value],
        &[],
        vec![output],
    );
    outputs.pop().expect("a fill has one output")
}

fn arange(device: &CubeDevice, start: i64, step: i64, output: TensorMeta) -> CubeTensor {
    let client = device.client();
    let (len, dtype) = (count(&output), output.dtype);
    let tensor = CubeTensor::empty(device, output);
    if len == 0 {
        return tensor;
    }
    let wide = is_wide(&[], core::slice::from_ref(&tensor));
    let cube_dim = CubeDim::new(client, len);
    let kernel = fingerprint(("count up", dtype, wide));
    let written = core::slice::from_ref(&tensor);
    // SAFETY: the kernel writes below `len`, which is the number of elements of the buffer, and has no loop.
    guarded(device, kernel, cube_dim, written, || unsafe {
        count_up::launch_unchecked(
            client,
            calculate_cube_count_elemwise(client, len, cube_dim),
            cube_dim,
            address_type(wide),
            BufferArg::from_raw_parts(tensor.handle().clone(), len),
            wrapped(start, dtype),
            wrapped(step, dtype),
            len,
            storage(dtype),
            index_type(wide),
        );
    });
    tensor
}

/// An int modulo `2^bits` of its type.
fn wrapped(value: i64, dtype: DType) -> InputScalar {
    let storage = storage(dtype);
    match dtype {
        DType::I32 => InputScalar::new(value as i32, storage),
        DType::I16 => InputScalar::new(value as i16, storage),
        DType::I8 => InputScalar::new(value as i8, storage),
        DType::U64 => InputScalar::new(value as u64, storage),
        DType::U32 => InputScalar::new(value as u32, storage),
        DType::U16 => InputScalar::new(value as u16, storage),
        DType::U8 => InputScalar::new(value as u8, storage),
        DType::I64 | DType::F64 | DType::F32 | DType::F16 | DType::BF16 | DType::Bool(_) => {
            InputScalar::new(value, storage)
        }
        DType::Flex32 | DType::QFloat(_) => unreachable!("`storage` knows no {dtype:?}"),
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn count_up<T: Int, I: Int>(
    output: &mut [T],
    start: InputScalar,
    step: InputScalar,
    len: usize,
    #[define(T)] _elem: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < len {
        // Modulo 2^bits the order of wrapping does not matter.
        let at = Vector::<T, Const<1>>::cast_from(I::cast_from(ABSOLUTE_POS));
        let step = Vector::<T, Const<1>>::new(step.get::<T>());
        let start = Vector::<T, Const<1>>::new(start.get::<T>());
        let distance = wrapping::<T, Const<1>>(at, step, BinaryOp::Mul);
        let value = wrapping::<T, Const<1>>(start, distance, BinaryOp::Add);
        output[ABSOLUTE_POS] = T::cast_from(value);
    }
}
