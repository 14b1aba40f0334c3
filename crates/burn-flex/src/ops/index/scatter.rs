//! Writing at positions that are data. Positions that repeat are updated in row-major order of the values, whatever the
//! number of threads: threads share the positions that cannot meet.

use super::{Indices, named};
use crate::FlexTensor;
use crate::block::Step;
use crate::exec;
use crate::parallel::{Shared, split};
use crate::source::Input;
use burn_ir::{Described, IndexOp, TensorMeta};
use burn_std::{DType, IndexingUpdateOp, Strides};

/// Columns of a block that a thread updates at a time: whole lines of memory, and enough to be worth a walk over all
/// indices.
const COLUMNS: usize = 64;

/// `input` with `values` written to the positions that `indices` name.
pub(crate) fn scatter(
    op: IndexOp,
    mode: IndexingUpdateOp,
    input: FlexTensor,
    indices: FlexTensor,
    values: FlexTensor,
) -> FlexTensor {
    let meta = input.meta().clone();
    let half = matches!(meta.dtype, DType::F16 | DType::BF16);
    if half && mode != IndexingUpdateOp::Assign {
        let wide = |tensor: FlexTensor| cast(tensor, DType::F32);
        let output = scatter(op, mode, wide(input), indices, wide(values));
        return cast(output, meta.dtype);
    }
    let indices = Indices::new(op, op.scatter_name(), &meta, indices);
    let values = values.into_contiguous();
    let update = kernel(mode, meta.dtype);
    let strides = Strides::contiguous(&meta.shape);
    if let IndexOp::Elements { dim } = op {
        // Positions that differ before `dim` cannot meet.
        let apart = indices.tensor.shape()[dim..].iter().product();
        return elements(apart, update, input, &indices, &values, &strides);
    }
    blocks(op, update, input, &indices, &values, &strides)
}

fn cast(tensor: FlexTensor, to: DType) -> FlexTensor {
    let output = TensorMeta::new(tensor.shape().clone(), to);
    let step = Step::Cast(tensor.dtype(), to);
    exec::one(step, [Input::Tensor(tensor)], &output)
}

fn elements(
    apart: usize,
    update: Update,
    input: FlexTensor,
    indices: &Indices<'_>,
    values: &FlexTensor,
    strides: &[isize],
) -> FlexTensor {
    let (meta, size) = (input.meta().clone(), input.dtype().size());
    let mut bytes = input.into_bytes();
    let to = Shared(bytes.as_mut_ptr());
    let from = Shared(values.first().cast_mut());
    // Parts that start at multiples of `apart` write to different places.
    indices.each(strides, 0, apart, 3 * size, &|start, first, places| {
        let to = to.get().wrapping_add(first.wrapping_mul(size));
        // SAFETY: the positions were checked, and parts do not meet; there is a value for each index.
        unsafe { update(to, places, from.get().add(start * size), 1, 1) }
    });
    FlexTensor::contiguous(meta, bytes)
}

fn blocks(
    op: IndexOp,
    update: Update,
    input: FlexTensor,
    indices: &Indices<'_>,
    values: &FlexTensor,
    strides: &[isize],
) -> FlexTensor {
    let (meta, size) = (input.meta().clone(), input.dtype().size());
    let places = indices.offsets(strides);
    let named = named(op, indices.turn);
    let outer: usize = meta.shape[..named.start].iter().product();
    let width: usize = meta.shape[named.end..].iter().product();
    if width == 0 || places.is_empty() {
        return input;
    }
    let area: usize = meta.shape[named].iter().product();
    let mut bytes = input.into_bytes();
    let (to, from) = (
        Shared(bytes.as_mut_ptr()),
        Shared(values.first().cast_mut()),
    );
    // A lane is a part of the columns of all blocks at one outer position: lanes do not meet.
    let parts = width.div_ceil(COLUMNS.max(width / 16));
    let columns = width.div_ceil(parts);
    let cost = places.len() * (3 * size * columns + super::COST);
    split(outer * parts, 1, cost, &|lanes| {
        for lane in lanes {
            let (outer, first) = (lane / parts, lane % parts * columns);
            let last = width.min(first + columns);
            let to = to.get().wrapping_add((outer * area * width + first) * size);
            let from = from
                .get()
                .wrapping_add((outer * places.len() * width + first) * size);
            // SAFETY: the positions were checked, and lanes do not meet; there is a block of values for each index.
            unsafe { update(to, &places, from, width, last - first) }
        }
    });
    FlexTensor::contiguous(meta, bytes)
}

/// Updates `width` elements at each place with values `step` elements apart.
///
/// # Safety
/// The places and the elements behind them are inside the memory at the first argument, and the values at the third.
type Update = unsafe fn(*mut u8, &[usize], *const u8, usize, usize);

/// # Safety
/// As [`Update`], for elements of type `E`.
#[inline(always)]
unsafe fn each<E: Copy>(
    f: impl Fn(E, E) -> E,
    to: *mut u8,
    places: &[usize],
    values: *const u8,
    step: usize,
    width: usize,
) {
    let (to, values) = (to.cast::<E>(), values.cast::<E>());
    // SAFETY: the caller's promise.
    unsafe {
        if width == 1 {
            for (at, place) in places.iter().enumerate() {
                let to = to.add(*place);
                *to = f(*to, *values.add(at * step));
            }
            return;
        }
        for (at, place) in places.iter().enumerate() {
            let to = core::slice::from_raw_parts_mut(to.add(*place), width);
            let values = core::slice::from_raw_parts(values.add(at * step), width);
            for (to, value) in to.iter_mut().zip(values) {
                *to = f(*to, *value);
            }
        }
    }
}

/// The loop that makes a new element of two, as a function of its own.
macro_rules! update {
    ($ty:ty, $f:expr) => {{
        /// # Safety
        /// As [`Update`].
        unsafe fn run(to: *mut u8, places: &[usize], values: *const u8, step: usize, width: usize) {
            // SAFETY: the caller's promise.
            unsafe { each::<$ty>($f, to, places, values, step, width) }
        }
        run as Update
    }};
}

/// The loops of a type: for sums, products, the smaller and the larger.
macro_rules! modes {
    ($mode:expr, $ty:ty, $add:expr, $mul:expr, $min:expr, $max:expr) => {
        match $mode {
            IndexingUpdateOp::Assign => update!($ty, |_, new| new),
            IndexingUpdateOp::Add => update!($ty, $add),
            IndexingUpdateOp::Mul => update!($ty, $mul),
            IndexingUpdateOp::Min => update!($ty, $min),
            IndexingUpdateOp::Max => update!($ty, $max),
        }
    };
}

/// NaN stays, and comes.
macro_rules! float {
    ($mode:expr, $ty:ty) => {
        modes!(
            $mode,
            $ty,
            |old, new| old + new,
            |old, new| old * new,
            |old, new| if new < old || new.is_nan() { new } else { old },
            |old, new| if new > old || new.is_nan() { new } else { old }
        )
    };
}

macro_rules! int {
    ($mode:expr, $ty:ty) => {
        modes!(
            $mode,
            $ty,
            <$ty>::wrapping_add,
            <$ty>::wrapping_mul,
            <$ty>::min,
            <$ty>::max
        )
    };
}

/// The loop for one mode and type of element.
fn kernel(mode: IndexingUpdateOp, dtype: DType) -> Update {
    match dtype {
        DType::F64 => float!(mode, f64),
        DType::F32 => float!(mode, f32),
        // Other modes are computed in f32.
        DType::F16 | DType::BF16 => update!(u16, |_, new| new),
        DType::I64 => int!(mode, i64),
        DType::I32 => int!(mode, i32),
        DType::I16 => int!(mode, i16),
        DType::I8 => int!(mode, i8),
        DType::U64 => int!(mode, u64),
        DType::U32 => int!(mode, u32),
        DType::U16 => int!(mode, u16),
        DType::U8 => int!(mode, u8),
        // Truth values are 0 and 1: "or" is the larger, "and" the smaller.
        DType::Bool(_) => modes!(mode, u8, u8::max, u8::min, u8::min, u8::max),
        DType::Flex32 | DType::QFloat(_) => crate::unsupported(dtype),
    }
}
