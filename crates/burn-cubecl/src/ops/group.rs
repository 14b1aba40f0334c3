//! Instructions that run as a group, one or several of them. Groups with an anchor are in [`reduce`](super::reduce) and
//! [`matmul`](super::matmul).

use super::guard::{fingerprint, guarded};
use super::kernel::{Argument, elementwise};
use super::plan::{Places, Plan};
use super::{matmul, reduce};
use crate::device::{count, storage};
use crate::{CubeDevice, CubeTensor};
use burn_backend::{Group, Slot};
use burn_ir::{Described, Operation, TensorMeta};
use burn_std::{DType, Scalar, bf16, f16};
use cubecl::calculate_cube_count_elemwise;
use cubecl::ir::{ElemType, UIntKind};
use cubecl::prelude::*;

/// From this many units' work on, a unit of a GPU works a few times.
const LARGE: usize = 1 << 20;

/// How many times that is.
const REPEATS: usize = 4;

/// Runs one instruction: an elementwise one, a reduction or a matrix product.
pub(crate) fn single(
    device: &CubeDevice,
    operation: Operation<CubeTensor>,
    output: TensorMeta,
) -> CubeTensor {
    let mut inputs = Vec::new();
    let operation = operation.map(&mut |tensor| {
        inputs.push(tensor);
        Slot(inputs.len() - 1)
    });
    let mut group = Group::new(inputs.iter().map(|input| input.meta().clone()).collect());
    let slot = group.step(operation, output);
    group.output(slot);
    let mut outputs = run(device, &group, inputs);
    outputs.pop().expect("the group has one output")
}

/// Runs a group.
pub(crate) fn run(device: &CubeDevice, group: &Group, inputs: Vec<CubeTensor>) -> Vec<CubeTensor> {
    // One more holds sizes and scalars.
    let bindings = group.inputs() + group.outputs().len() + 1;
    if bindings > device.client().properties().hardware.max_bindings as usize {
        return one_by_one(device, group, inputs);
    }
    if let Some(anchor) = group.anchor() {
        return match &group.steps()[anchor] {
            Operation::Matmul { lhs, rhs } => matmul::run(device, group, [*lhs, *rhs], &inputs),
            _ => reduce::run(device, group, anchor, &inputs),
        };
    }
    let (plan, scalars) = Plan::new(group);
    let outputs = group.outputs().iter().map(|slot| group.meta(*slot).clone());
    launch(device, plan, &scalars, &inputs, outputs.collect())
}

/// Runs the steps of a group that has more operands than a kernel of this device takes.
fn one_by_one(device: &CubeDevice, group: &Group, mut values: Vec<CubeTensor>) -> Vec<CubeTensor> {
    for step in group.steps() {
        let output = group.meta(Slot(values.len())).clone();
        let operation = step.map_ref(&mut |slot| values[slot.0].clone());
        let value = single(device, operation, output);
        values.push(value);
    }
    let outputs = group.outputs().iter();
    outputs.map(|slot| values[slot.0].clone()).collect()
}

/// Runs a plan over the shape of its outputs.
pub(crate) fn launch(
    device: &CubeDevice,
    plan: Plan,
    scalars: &[Scalar],
    inputs: &[CubeTensor],
    outputs: Vec<TensorMeta>,
) -> Vec<CubeTensor> {
    let outputs: Vec<CubeTensor> = outputs
        .into_iter()
        .map(|meta| CubeTensor::empty(device, meta))
        .collect();
    launch_into(device, plan, scalars, inputs, &outputs);
    outputs
}

/// Runs a plan for outputs of one shape.
pub(crate) fn launch_into(
    device: &CubeDevice,
    mut plan: Plan,
    scalars: &[Scalar],
    inputs: &[CubeTensor],
    outputs: &[CubeTensor],
) {
    let client = device.client();
    let Some(first) = outputs.first().map(|output| output.meta()) else {
        return;
    };
    if count(first) == 0 {
        return;
    }
    let shape = &first.shape;
    let widths = |size: usize| client.io_optimized_vector_sizes(size).collect();
    let Places { len, arguments } = plan.place(shape, inputs, widths);
    let wide = is_wide(inputs, outputs);
    let is_gpu = client.properties().hardware.num_cpu_cores.is_none();
    if is_gpu && len >= LARGE {
        plan.repeats = REPEATS;
    }
    let units = len.div_ceil(plan.repeats);
    let reads = inputs
        .iter()
        .zip(&plan.reads)
        .map(|(input, read)| Argument::read(input, read.access, plan.lanes))
        .collect();
    let writes = outputs
        .iter()
        .map(|output| Argument::write(output, plan.lanes))
        .collect();
    let values = scalars.iter().zip(&plan.scalars);
    let values = values
        .map(|(value, dtype)| scalar(*value, *dtype))
        .collect();
    let cube_dim = CubeDim::new(client, units);
    let kernel = fingerprint(("elementwise", &plan, wide));
    // SAFETY: the kernel reads where the layouts of the operands say, all of which lie in their buffers, and writes
    // below `len`, which is the size of the outputs and where its loop ends.
    guarded(device, kernel, cube_dim, outputs, || unsafe {
        elementwise::launch_unchecked(
            client,
            calculate_cube_count_elemwise(client, units, cube_dim),
            cube_dim,
            address_type(wide),
            reads,
            writes,
            values,
            arguments.into_iter().map(|it| index(it, wide)).collect(),
            len,
            plan,
            index_type(wide),
        );
    });
}

/// Whether places in some buffer do not fit into 32 bits.
pub(crate) fn is_wide(inputs: &[CubeTensor], outputs: &[CubeTensor]) -> bool {
    let bytes = inputs.iter().chain(outputs).map(|it| it.handle().size());
    bytes.max().unwrap_or(0) > u64::from(u32::MAX)
}

pub(crate) fn address_type(wide: bool) -> AddressType {
    match wide {
        true => AddressType::U64,
        false => AddressType::U32,
    }
}

/// The type in which kernels compute places.
pub(crate) fn index_type(wide: bool) -> ElemType {
    ElemType::UInt(match wide {
        true => UIntKind::U64,
        false => UIntKind::U32,
    })
}

/// A size, offset or stride as an argument. Negative ones wrap, and so do the sums that use them.
pub(crate) fn index(value: isize, wide: bool) -> InputScalar {
    match wide {
        true => InputScalar::new(value as u64, index_type(true)),
        false => InputScalar::new(value as u32, index_type(false)),
    }
}

/// A scalar as an argument; bools are integers there.
pub(crate) fn scalar(value: Scalar, dtype: DType) -> InputScalar {
    let storage = storage(dtype);
    match dtype {
        DType::F64 => InputScalar::new(value.elem::<f64>(), storage),
        DType::F32 => InputScalar::new(value.elem::<f32>(), storage),
        DType::F16 => InputScalar::new(value.elem::<f16>(), storage),
        DType::BF16 => InputScalar::new(value.elem::<bf16>(), storage),
        DType::I64 => InputScalar::new(value.elem::<i64>(), storage),
        DType::I32 => InputScalar::new(value.elem::<i32>(), storage),
        DType::I16 => InputScalar::new(value.elem::<i16>(), storage),
        DType::I8 => InputScalar::new(value.elem::<i8>(), storage),
        DType::U64 => InputScalar::new(value.elem::<u64>(), storage),
        DType::U32 => InputScalar::new(value.elem::<u32>(), storage),
        DType::U16 => InputScalar::new(value.elem::<u16>(), storage),
        DType::U8 => InputScalar::new(value.elem::<u8>(), storage),
        DType::Bool(_) => InputScalar::new(u8::from(value.elem::<bool>()), storage),
        DType::Flex32 | DType::QFloat(_) => unreachable!("`storage` knows no {dtype:?}"),
    }
}
