//! Convolution and its adjoints as products of weights and columns of windows, a tile of columns at a time: the columns
//! of a whole image are never there. [`depthwise`] has those of one channel a group, [`winograd`] those of windows of
//! 3×3, [`columns`] makes columns.
//!
//! f32 and f64 only; the caller widens halves. Results do not depend on the number of threads.

mod columns;
mod depthwise;
mod geometry;
#[cfg(test)]
mod tests;
mod winograd;

use super::matmul::Float;
use crate::FlexTensor;
use crate::parallel::{Shared, split};
use crate::tensor::allocate;
use alloc::vec::Vec;
use burn_ir::{TensorMeta, Window};
use burn_std::DType;
use columns::Scratch;
pub(super) use columns::{add, load};
use gemm::Parallelism;
pub(super) use geometry::Geometry;
use num_traits::{One, Zero};

/// A matrix in memory, with strides in elements.
#[derive(Clone, Copy)]
pub(super) struct Matrix<T> {
    pub at: *mut T,
    pub row: isize,
    pub col: isize,
}

impl<T> Matrix<T> {
    /// A matrix of rows one after the other.
    pub(super) fn rows(at: *const T, width: usize) -> Self {
        Self {
            at: at.cast_mut(),
            row: width as isize,
            col: 1,
        }
    }

    pub(super) fn transposed(self) -> Self {
        Self {
            row: self.col,
            col: self.row,
            ..self
        }
    }
}

/// `to = lhs · rhs` for `[m, k]` and `[k, n]`, or `to += lhs · rhs`, on this thread.
///
/// # Safety
/// All elements that the matrices reach are readable, those of `to` writable, and nothing overlaps.
pub(super) unsafe fn product<T: Float>(
    [m, n, k]: [usize; 3],
    to: Matrix<T>,
    accumulate: bool,
    lhs: Matrix<T>,
    rhs: Matrix<T>,
) {
    let alpha = if accumulate {
        <T as One>::one()
    } else {
        <T as Zero>::zero()
    };
    // SAFETY: the caller's promise.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            to.at,
            to.col,
            to.row,
            accumulate,
            lhs.at.cast_const(),
            lhs.col,
            lhs.row,
            rhs.at.cast_const(),
            rhs.col,
            rhs.row,
            alpha,
            <T as One>::one(),
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// The elements of a tensor in row-major order.
pub(super) fn elements<T>(tensor: &FlexTensor) -> *const T {
    debug_assert!(tensor.is_contiguous() && tensor.dtype().size() == size_of::<T>());
    let first: *const T = tensor.bytes().as_ptr().cast();
    first.wrapping_add(tensor.layout().offset)
}

/// Calls `$function` with the float type of `$dtype`.
macro_rules! by_float {
    ($dtype:expr, $function:ident($($arg:expr),* $(,)?)) => {
        match $dtype {
            DType::F32 => $function::<f32>($($arg),*),
            DType::F64 => $function::<f64>($($arg),*),
            other => panic!("{} is widened first", other.name()),
        }
    };
}
pub(super) use by_float;

/// The output of a convolution: `weight` slides over `input`.
pub(super) fn conv(
    input: FlexTensor,
    weight: FlexTensor,
    bias: Option<FlexTensor>,
    (windows, groups): (&[Window], usize),
    output: &TensorMeta,
) -> FlexTensor {
    let geometry = Geometry::new(input.shape(), &output.shape, windows, groups);
    let (input, weight) = (input.into_contiguous(), weight.into_contiguous());
    let bias = bias.map(FlexTensor::into_contiguous);
    by_float!(
        output.dtype,
        forward(&geometry, &input, &weight, bias.as_ref(), output)
    )
}

fn forward<T: winograd::Real>(
    g: &Geometry,
    input: &FlexTensor,
    weight: &FlexTensor,
    bias: Option<&FlexTensor>,
    output: &TensorMeta,
) -> FlexTensor {
    // SAFETY: every output element belongs to one tile, or one plane, which writes it.
    let mut bytes = unsafe { allocate(output.shape.num_elements() * size_of::<T>(), output.dtype) };
    let to = Shared(bytes.as_mut_ptr().cast::<T>());
    let (input, weight) = (
        Shared(elements::<T>(input).cast_mut()),
        elements::<T>(weight),
    );
    let bias = bias.map(|bias| Shared(elements::<T>(bias).cast_mut()));
    let weight = Shared(weight.cast_mut());
    if g.channels == 1 {
        // SAFETY: pointers are to whole tensors of the geometry.
        unsafe { depthwise::forward(g, input, weight, bias, to) };
        return FlexTensor::contiguous(output.clone(), bytes);
    }
    // SAFETY: as above.
    if winograd::applies(g) && unsafe { winograd::forward(g, input, weight, bias, to) } {
        return FlexTensor::contiguous(output.clone(), bytes);
    }
    let tiles = g.tiles(g.rows());
    let items = g.groups * tiles.len();
    split(items, 1, g.out * g.rows() * tiles.width, &|range| {
        let mut scratch = Scratch::new();
        for item in range {
            let (group, tile) = (item / tiles.len(), tiles.get(item % tiles.len()));
            // SAFETY: tiles of groups are disjoint parts of the output; pointers are to whole tensors.
            unsafe {
                let weight = weight.get().add(group * g.out * g.rows());
                let bias = bias.map(|bias| bias.get().add(group * g.out).cast_const());
                forward_tile(
                    g,
                    group,
                    &tile,
                    input.get(),
                    weight,
                    bias,
                    to.get(),
                    &mut scratch,
                );
            }
        }
    });
    FlexTensor::contiguous(output.clone(), bytes)
}

/// # Safety
/// `input` and `to` are whole tensors of the geometry, `weight` and `bias` those of the group.
#[expect(
    clippy::too_many_arguments,
    reason = "a tile is read and written under all of them"
)]
unsafe fn forward_tile<T: Float>(
    g: &Geometry,
    group: usize,
    tile: &geometry::Tile,
    input: *const T,
    weight: *const T,
    bias: Option<*const T>,
    to: *mut T,
    scratch: &mut Scratch<T>,
) {
    let (positions, width) = (g.positions(), tile.width());
    // SAFETY: the caller's promise; positions of tiles are inside.
    unsafe {
        let columns = scratch.columns(g, group, 0..g.channels, tile, input);
        let image =
            |n: usize| to.add((n * g.groups + group) * g.out * positions + tile.positions.start);
        let weight = Matrix::rows(weight, g.rows());
        let dims = [g.out, width, g.rows()];
        if tile.images.len() == 1 {
            let image = image(tile.images.start);
            if let Some(bias) = bias {
                for row in 0..g.out {
                    let line = core::slice::from_raw_parts_mut(image.add(row * positions), width);
                    line.fill(*bias.add(row));
                }
            }
            product(
                dims,
                Matrix::rows(image, positions),
                bias.is_some(),
                weight,
                columns,
            );
            return;
        }
        // The positions of several images are columns of one product, whose rows are cut afterwards.
        let mut joint = alloc::vec![<T as Zero>::zero(); g.out * width];
        product(
            dims,
            Matrix::rows(joint.as_mut_ptr(), width),
            false,
            weight,
            columns,
        );
        for (row, line) in joint.chunks_exact_mut(width).enumerate() {
            if let Some(bias) = bias {
                line.iter_mut().for_each(|x| *x = *x + *bias.add(row));
            }
            for (n, part) in tile.images.clone().zip(line.chunks_exact(positions)) {
                image(n)
                    .add(row * positions)
                    .copy_from_nonoverlapping(part.as_ptr(), positions);
            }
        }
    }
}

/// The adjoint in the input: `output` has the input's sizes.
pub(super) fn conv_transpose(
    input: FlexTensor,
    weight: FlexTensor,
    bias: Option<FlexTensor>,
    (windows, groups): (&[Window], usize),
    output: &TensorMeta,
) -> FlexTensor {
    let weight = weight.into_contiguous();
    if let Some(windows) = flipped(windows) {
        let weight = by_float!(output.dtype, flip(&weight, &windows, groups));
        return conv(input, weight, bias, (&windows, groups), output);
    }
    // The output is what a convolution would take.
    let geometry = Geometry::new(&output.shape, input.shape(), windows, groups);
    let input = input.into_contiguous();
    let bias = bias.map(FlexTensor::into_contiguous);
    by_float!(
        output.dtype,
        backward(&geometry, &input, &weight, bias.as_ref(), output)
    )
}

/// The windows under which flipped weights convolve to the same: where strides are 1 and padding is not longer than the
/// window.
fn flipped(windows: &[Window]) -> Option<Vec<Window>> {
    let flip = |window: &Window| {
        let reach = (window.size - 1) * window.dilation;
        (window.stride == 1).then_some(())?;
        Some(Window {
            before: reach.checked_sub(window.before)?,
            after: reach.checked_sub(window.after)?,
            ..*window
        })
    };
    windows.iter().map(flip).collect()
}

/// `[groups · in, out, …]` as `[groups · out, in, …]`, with each window backwards.
fn flip<T: Float>(weight: &FlexTensor, windows: &[Window], groups: usize) -> FlexTensor {
    let area: usize = windows.iter().map(|window| window.size).product();
    let shape = weight.shape();
    let (channels, out) = (shape[0] / groups, shape[1]);
    let from: *const T = elements(weight);
    let mut flipped = Vec::with_capacity(weight.len());
    for group in 0..groups {
        for o in 0..out {
            for i in 0..channels {
                let window = ((group * channels + i) * out + o) * area;
                // SAFETY: indices are below the sizes of the tensor.
                flipped.extend((0..area).rev().map(|at| unsafe { *from.add(window + at) }));
            }
        }
    }
    let mut to = shape.clone();
    (to[0], to[1]) = (groups * out, channels);
    let meta = TensorMeta::new(to, weight.dtype());
    FlexTensor::contiguous(meta, super::reduce::store::<T>(flipped))
}

/// Here `g` is of the convolution: `input` has its outputs, and what is returned its inputs.
fn backward<T: Float + num_traits::Float>(
    g: &Geometry,
    input: &FlexTensor,
    weight: &FlexTensor,
    bias: Option<&FlexTensor>,
    output: &TensorMeta,
) -> FlexTensor {
    // SAFETY: each channel of each image is filled by the item that it belongs to.
    let mut bytes = unsafe { allocate(output.shape.num_elements() * size_of::<T>(), output.dtype) };
    let to = Shared(bytes.as_mut_ptr().cast::<T>());
    let (input, weight) = (elements::<T>(input), elements::<T>(weight));
    let (input, weight) = (Shared(input.cast_mut()), Shared(weight.cast_mut()));
    let bias = bias.map(|bias| Shared(elements::<T>(bias).cast_mut()));
    // Channels of an item: enough rows for the product, in few enough pieces that all threads have some.
    let block = (64 / g.area()).clamp(1, g.channels.max(1));
    let blocks = g.channels.div_ceil(block);
    let (elements, positions) = (g.elements(), g.positions());
    let items = g.batch * g.groups * blocks;
    let work = block * g.area() * (g.out + 4) * positions;
    split(items, 1, work, &|range| {
        let mut scratch = Vec::new();
        for item in range {
            let (n, rest) = (item / (g.groups * blocks), item % (g.groups * blocks));
            let group = rest / blocks;
            let first = rest % blocks * block;
            let channels = first..g.channels.min(first + block);
            let channel = group * g.channels + first;
            let rows = channels.len() * g.area();
            // SAFETY: indices are below the sizes; items have channels of their own.
            unsafe {
                let to = to
                    .get()
                    .add((n * g.groups * g.channels + channel) * elements);
                for at in 0..channels.len() {
                    let value =
                        bias.map_or(<T as Zero>::zero(), |bias| *bias.get().add(channel + at));
                    core::slice::from_raw_parts_mut(to.add(at * elements), elements).fill(value);
                }
                let weight = weight
                    .get()
                    .add(group * g.out * g.rows() + first * g.area());
                let weight = Matrix::rows(weight, g.rows()).transposed();
                let input = input.get().add((n * g.groups + group) * g.out * positions);
                let width = g.width(rows);
                for start in (0..positions).step_by(width.max(1)) {
                    let columns = start..positions.min(start + width);
                    scratch.resize(rows * columns.len(), <T as Zero>::zero());
                    let part = Matrix::rows(scratch.as_mut_ptr(), columns.len());
                    let dims = [rows, columns.len(), g.out];
                    let input = Matrix::rows(input.add(start), positions);
                    product(dims, part, false, weight, input);
                    for at in 0..channels.len() {
                        let part = scratch.as_ptr().add(at * g.area() * columns.len());
                        columns::add(g, part, columns.clone(), to.add(at * elements));
                    }
                }
            }
        }
    });
    FlexTensor::contiguous(output.clone(), bytes)
}

/// The adjoint in the weight.
pub(super) fn conv_weight(
    input: FlexTensor,
    grad: FlexTensor,
    (windows, groups): (&[Window], usize),
    output: &TensorMeta,
) -> FlexTensor {
    let geometry = Geometry::new(input.shape(), grad.shape(), windows, groups);
    let (input, grad) = (input.into_contiguous(), grad.into_contiguous());
    by_float!(output.dtype, weight(&geometry, &input, &grad, output))
}

fn weight<T: Float + num_traits::Float>(
    g: &Geometry,
    input: &FlexTensor,
    grad: &FlexTensor,
    output: &TensorMeta,
) -> FlexTensor {
    let mut weight = alloc::vec![<T as Zero>::zero(); output.shape.num_elements()];
    let to = Shared(weight.as_mut_ptr());
    let (input, grad) = (elements::<T>(input), elements::<T>(grad));
    let (input, grad) = (Shared(input.cast_mut()), Shared(grad.cast_mut()));
    if g.channels == 1 {
        // SAFETY: pointers are to whole tensors of the geometry.
        unsafe { depthwise::weight(g, input, grad, to) };
        return FlexTensor::contiguous(output.clone(), super::reduce::store::<T>(weight));
    }
    // A block of the weight for each item, which goes through all images: sums keep their order whatever the threads.
    let channels = (192 / g.area()).clamp(1, g.channels.max(1));
    let outs = g.out.clamp(1, 64);
    let (blocks, out_blocks) = (g.channels.div_ceil(channels), g.out.div_ceil(outs));
    let positions = g.positions();
    let work = outs * channels * g.area() * positions * g.batch;
    split(g.groups * blocks * out_blocks, 1, work, &|range| {
        let mut scratch = Scratch::new();
        for item in range {
            let (group, rest) = (item / (blocks * out_blocks), item % (blocks * out_blocks));
            let first = rest / out_blocks * channels;
            let first_out = rest % out_blocks * outs;
            let channels = first..g.channels.min(first + channels);
            let outs = outs.min(g.out - first_out);
            let rows = channels.len() * g.area();
            let out = group * g.out + first_out;
            let tiles = g.tiles(rows);
            // SAFETY: indices are below the sizes; items have blocks of their own.
            unsafe {
                let to = to.get().add(out * g.rows() + first * g.area());
                for at in 0..tiles.len() {
                    let tile = tiles.get(at);
                    for n in tile.images.clone() {
                        let tile = geometry::Tile {
                            images: n..n + 1,
                            ..tile.clone()
                        };
                        let columns =
                            scratch.columns(g, group, channels.clone(), &tile, input.get());
                        let first = (n * g.groups * g.out + out) * positions + tile.positions.start;
                        let grad = Matrix::rows(grad.get().add(first), positions);
                        let dims = [outs, rows, tile.width()];
                        product(
                            dims,
                            Matrix::rows(to, g.rows()),
                            true,
                            grad,
                            columns.transposed(),
                        );
                    }
                }
            }
        }
    });
    FlexTensor::contiguous(output.clone(), super::reduce::store::<T>(weight))
}
