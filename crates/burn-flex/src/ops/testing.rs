//! Tensors in every kind of layout, and their elements read in the plainest way.

use super::movement;
use crate::FlexTensor;
use alloc::vec::Vec;
use burn_ir::{Described, MovementOp, SliceRange, TensorMeta};
use burn_std::{BoolStore, Bytes, DType, Element, Shape, bf16, f16};

/// The elements in row-major order as f64, found by the definition of strides.
pub(crate) fn values(tensor: &FlexTensor) -> Vec<f64> {
    let (shape, layout) = (tensor.shape(), tensor.layout());
    (0..tensor.len())
        .map(|mut index| {
            let mut position = layout.offset as isize;
            for dim in (0..shape.len()).rev() {
                position += (index % shape[dim]) as isize * layout.strides[dim];
                index /= shape[dim];
            }
            element(tensor, position as usize)
        })
        .collect()
}

fn element(tensor: &FlexTensor, at: usize) -> f64 {
    fn of<E: Element>(bytes: &Bytes, at: usize) -> f64 {
        let bytes = &bytes[at * size_of::<E>()..][..size_of::<E>()];
        bytemuck::checked::pod_read_unaligned::<E>(bytes).to_f64()
    }
    let bytes = tensor.bytes();
    match tensor.dtype() {
        DType::F64 => of::<f64>(bytes, at),
        DType::F32 => of::<f32>(bytes, at),
        DType::F16 => of::<f16>(bytes, at),
        DType::BF16 => of::<bf16>(bytes, at),
        DType::I64 => of::<i64>(bytes, at),
        DType::I32 => of::<i32>(bytes, at),
        DType::I16 => of::<i16>(bytes, at),
        DType::I8 => of::<i8>(bytes, at),
        DType::U64 => of::<u64>(bytes, at),
        DType::U32 | DType::Bool(BoolStore::U32) => of::<u32>(bytes, at),
        DType::U16 => of::<u16>(bytes, at),
        DType::U8 | DType::Bool(BoolStore::U8) => of::<u8>(bytes, at),
        DType::Bool(BoolStore::Native) => of::<bool>(bytes, at),
        DType::Flex32 | DType::QFloat(_) => crate::unsupported(tensor.dtype()),
    }
}

/// A contiguous tensor of these elements.
pub(crate) fn tensor(shape: &[usize], dtype: DType, elems: &[f64]) -> FlexTensor {
    fn of<E: Element>(elems: &[f64]) -> Bytes {
        Bytes::from_elems(
            elems
                .iter()
                .map(|elem| E::from_elem(*elem))
                .collect::<Vec<E>>(),
        )
    }
    let bytes = match dtype {
        DType::F64 => of::<f64>(elems),
        DType::F32 => of::<f32>(elems),
        DType::F16 => of::<f16>(elems),
        DType::BF16 => of::<bf16>(elems),
        DType::I64 => of::<i64>(elems),
        DType::I32 => of::<i32>(elems),
        DType::I16 => of::<i16>(elems),
        DType::I8 => of::<i8>(elems),
        DType::U64 => of::<u64>(elems),
        DType::U32 | DType::Bool(BoolStore::U32) => of::<u32>(elems),
        DType::U16 => of::<u16>(elems),
        DType::U8 | DType::Bool(BoolStore::U8) => of::<u8>(elems),
        DType::Bool(BoolStore::Native) => of::<bool>(elems),
        DType::Flex32 | DType::QFloat(_) => crate::unsupported(dtype),
    };
    let shape: Shape = shape.iter().copied().collect();
    FlexTensor::contiguous(TensorMeta::new(shape, dtype), bytes)
}

/// A contiguous tensor of small whole numbers, 0 and 1 for truth values, none negative for unsigned types.
pub(crate) fn sample(shape: &[usize], dtype: DType) -> FlexTensor {
    let count: usize = shape.iter().product();
    let elem = |i: usize| {
        let (low, count) = match dtype {
            DType::Bool(_) => (0.0, 2),
            _ if dtype.is_uint() => (0.0, 7),
            _ => (-3.0, 7),
        };
        // The multiplier is a prime far from the sizes of tests, so that rows differ.
        (i * 7919 / 3 % count) as f64 + low
    };
    tensor(shape, dtype, &(0..count).map(elem).collect::<Vec<_>>())
}

/// Runs a movement.
pub(crate) fn moved(op: MovementOp, input: FlexTensor) -> FlexTensor {
    let operation = burn_ir::Operation::Movement {
        op: op.clone(),
        input: input.meta().clone(),
    };
    let output = operation.infer().expect("a test moves legally").one();
    movement::run(op, input, &output)
}

/// Tensors of one shape: contiguous, transposed, with gaps, backwards, and with dims of even index repeated.
pub(crate) fn layouts(shape: &[usize], dtype: DType) -> Vec<(&'static str, FlexTensor)> {
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    let wide: Vec<usize> = shape.iter().map(|size| 2 * size + 1).collect();
    let slim: Vec<usize> = (0..shape.len())
        .map(|dim| if dim % 2 == 0 { 1 } else { shape[dim] })
        .collect();
    let every_other = shape.iter().map(|size| SliceRange {
        start: 1,
        step: 2,
        len: *size,
    });
    let backwards = shape.iter().map(|size| SliceRange {
        start: size.saturating_sub(1),
        step: -1,
        len: *size,
    });
    alloc::vec![
        ("contiguous", sample(shape, dtype)),
        (
            "transposed",
            moved(
                MovementOp::Permute {
                    axes: (0..shape.len()).rev().collect()
                },
                sample(&reversed, dtype),
            ),
        ),
        (
            "with gaps",
            moved(
                MovementOp::Slice {
                    ranges: every_other.collect()
                },
                sample(&wide, dtype)
            ),
        ),
        (
            "backwards",
            moved(
                MovementOp::Slice {
                    ranges: backwards.collect()
                },
                sample(shape, dtype)
            ),
        ),
        (
            "repeated",
            moved(
                MovementOp::Expand {
                    shape: shape.iter().copied().collect()
                },
                sample(&slim, dtype),
            ),
        ),
    ]
}

/// Every dtype that stores numbers.
pub(crate) const NUMBERS: [DType; 12] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
];

/// Every dtype that stores truth values.
pub(crate) const TRUTHS: [DType; 3] = [
    DType::Bool(BoolStore::Native),
    DType::Bool(BoolStore::U8),
    DType::Bool(BoolStore::U32),
];

/// Runs `work` on one thread and on three, and expects the same bytes.
#[cfg(feature = "rayon")]
#[track_caller]
pub(crate) fn same_on_any_number_of_threads(work: impl Fn() -> FlexTensor + Sync) {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| work().into_bytes())
    };
    assert!(
        run(1) == run(3),
        "results differ between one thread and three"
    );
}
