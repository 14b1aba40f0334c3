//! Movement: views wherever strides can say it, one copy elsewhere.
//!
//! Only padding and some reshapes move elements; how is in [`copy`].

mod copy;
#[cfg(test)]
mod tests;

pub(crate) use copy::copy_strided;

use crate::{FlexTensor, tensor::Layout};
use burn_ir::{MovementOp, PadRange, SliceRange, TensorMeta};
use burn_std::{BoolStore, Bytes, DType, Element, Scalar, SmallVec, Strides};

/// Arranges the elements of `input` as `op` says.
pub(crate) fn run(op: MovementOp, input: FlexTensor, output: &TensorMeta) -> FlexTensor {
    let from = input.layout();
    let layout = match op {
        MovementOp::Pad { padding, value } => return pad(&input, &padding, value, output),
        MovementOp::Reshape { .. } => return reshape(input, output),
        // No element, no stride to speak of.
        _ if output.shape.contains(&0) => Layout::contiguous(&output.shape),
        MovementOp::Permute { axes } => Layout {
            strides: axes.iter().map(|axis| from.strides[*axis]).collect(),
            offset: from.offset,
        },
        MovementOp::Expand { shape } => Layout {
            strides: (0..shape.len())
                .map(|dim| match input.shape()[dim] == shape[dim] {
                    true => from.strides[dim],
                    false => 0,
                })
                .collect(),
            offset: from.offset,
        },
        MovementOp::Slice { ranges } => slice(from, &ranges),
    };
    input.view(output.shape.clone(), layout)
}

/// At least one element is selected in each dim.
pub(crate) fn slice(input: &Layout, ranges: &[SliceRange]) -> Layout {
    let mut layout = input.clone();
    let mut offset = input.offset as isize;
    for (stride, range) in layout.strides.iter_mut().zip(ranges) {
        offset += range.start as isize * *stride;
        // The step to a second element that does not exist may be out of all proportion.
        if range.len > 1 {
            *stride *= range.step;
        }
    }
    layout.offset = usize::try_from(offset).expect("the check keeps slices inside the tensor");
    layout
}

fn reshape(input: FlexTensor, output: &TensorMeta) -> FlexTensor {
    let reshaped = reshaped(input.shape(), &input.layout().strides, &output.shape);
    match reshaped {
        Some(strides) => {
            let offset = input.layout().offset;
            input.view(output.shape.clone(), Layout { strides, offset })
        }
        None => {
            let layout = Layout::contiguous(&output.shape);
            input.into_contiguous().view(output.shape.clone(), layout)
        }
    }
}

/// The strides under which elements laid out as `from` and `strides` read as `to`, if there are any.
///
/// Both shapes are cut into the shortest runs of dims with equal counts; inside a run, the old dims must step evenly.
pub(crate) fn reshaped(from: &[usize], strides: &[isize], to: &[usize]) -> Option<Strides> {
    if to.contains(&0) {
        return Some(Strides::contiguous(&to.iter().copied().collect()));
    }
    let old: SmallVec<[(usize, isize); 4]> = from
        .iter()
        .copied()
        .zip(strides.iter().copied())
        .filter(|(size, _)| *size != 1)
        .collect();
    let mut result: Strides = to.iter().map(|_| 1).collect();
    let (mut at, mut dim) = (0, 0);
    while at < old.len() {
        let start = dim;
        let (mut have, mut want) = (old[at].0, 1);
        while have != want {
            if want < have {
                want *= to[dim];
                dim += 1;
            } else {
                let (size, stride) = old[at + 1];
                if old[at].1 != stride * size as isize {
                    return None;
                }
                at += 1;
                have *= size;
            }
        }
        let mut stride = old[at].1;
        for dim in (start..dim).rev() {
            result[dim] = stride;
            stride *= to[dim] as isize;
        }
        at += 1;
    }
    Some(result)
}

fn pad(input: &FlexTensor, padding: &[PadRange], value: Scalar, output: &TensorMeta) -> FlexTensor {
    let size = output.dtype.size();
    let mut bytes = filled(value, output.dtype, output.shape.num_elements());
    let mut strides = Strides::contiguous(&output.shape);
    let mut offset = 0;
    for (stride, pad) in strides.iter_mut().zip(padding) {
        offset += pad.before * stride.unsigned_abs();
        *stride *= (pad.between + 1) as isize;
    }
    if input.len() != 0 {
        // SAFETY: storage is aligned for its elements and holds all that the layout reaches; with the padding around
        // it, the input covers the output without repetition. The output is new and overlaps nothing.
        unsafe {
            copy_strided(
                size,
                input.shape(),
                input.bytes().as_ptr().add(input.layout().offset * size),
                &input.layout().strides,
                bytes.as_mut_ptr().add(offset * size),
                &strides,
            );
        }
    }
    FlexTensor::contiguous(output.clone(), bytes)
}

/// `count` elements of one value.
fn filled(value: Scalar, dtype: DType, count: usize) -> Bytes {
    fn of<E: Element>(value: Scalar, count: usize) -> Bytes {
        let value: E = value.elem();
        if bytemuck::bytes_of(&value).iter().all(|byte| *byte == 0) {
            return Bytes::zeroed(count * size_of::<E>());
        }
        Bytes::from_elems(alloc::vec![value; count])
    }
    match dtype {
        DType::F64 => of::<f64>(value, count),
        DType::F32 => of::<f32>(value, count),
        DType::F16 => of::<burn_std::f16>(value, count),
        DType::BF16 => of::<burn_std::bf16>(value, count),
        DType::I64 => of::<i64>(value, count),
        DType::I32 => of::<i32>(value, count),
        DType::I16 => of::<i16>(value, count),
        DType::I8 => of::<i8>(value, count),
        DType::U64 => of::<u64>(value, count),
        DType::U32 | DType::Bool(BoolStore::U32) => of::<u32>(value, count),
        DType::U16 => of::<u16>(value, count),
        DType::U8 | DType::Bool(BoolStore::U8) => of::<u8>(value, count),
        DType::Bool(BoolStore::Native) => of::<bool>(value, count),
        DType::Flex32 | DType::QFloat(_) => crate::unsupported(dtype),
    }
}
