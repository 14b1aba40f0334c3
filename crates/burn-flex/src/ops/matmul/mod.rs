//! Matrix products.
//!
//! [`Product`] says what is multiplied; floats go to the `gemm` crate, or to [`gemv`] if one side is a vector, and
//! integers to [`int`]. Operands are read under the strides they have; halves are widened to f32 first, so that each
//! sum is rounded once.

mod gemv;
mod int;
#[cfg(test)]
mod tests;

use super::reduce::{Leaf, Source, store};
use crate::FlexTensor;
use crate::parallel::{self, Shared};
use crate::rows::{Rows, broadcast};
use crate::simd::Real;
use crate::tensor::{Layout, allocate};
use alloc::vec::Vec;
use burn_ir::TensorMeta;
use burn_std::{Bytes, DType, Shape, Strides, bf16, f16};
use core::ops::Range;
use gemm::Parallelism;
use num_traits::{One, Zero};

/// One operand: where its matrices are, and the strides inside each, in elements.
struct Side {
    /// The first element of each matrix, counted as the batches of the output are.
    batches: Rows,
    row: isize,
    col: isize,
}

/// `batches` products of `[m, k]` and `[k, n]`, whose results lie side by side in row-major order.
struct Product {
    batches: usize,
    m: usize,
    n: usize,
    k: usize,
    lhs: Side,
    rhs: Side,
}

/// `lhs · rhs`
pub(crate) fn run(lhs: FlexTensor, rhs: FlexTensor, output: &TensorMeta) -> FlexTensor {
    let bytes = match output.dtype {
        DType::F32 => float::<f32>(&lhs, &rhs, output),
        DType::F64 => float::<f64>(&lhs, &rhs, output),
        DType::F16 => half::<f16>(&lhs, &rhs, output),
        DType::BF16 => half::<bf16>(&lhs, &rhs, output),
        DType::I64 | DType::U64 => int::<u64>(&lhs, &rhs, output),
        DType::I32 | DType::U32 => int::<u32>(&lhs, &rhs, output),
        DType::I16 | DType::U16 => int::<u16>(&lhs, &rhs, output),
        DType::I8 | DType::U8 => int::<u8>(&lhs, &rhs, output),
        DType::Bool(_) => panic!("the check admits numbers only"),
        DType::Flex32 | DType::QFloat(_) => crate::unsupported(output.dtype),
    };
    FlexTensor::contiguous(output.clone(), bytes)
}

impl Product {
    fn new(lhs: (&Shape, &Layout), rhs: (&Shape, &Layout), output: &Shape) -> Self {
        let batch = output.len() - 2;
        let strides = |(shape, layout): (&Shape, &Layout)| -> Strides {
            let mut strides = broadcast(shape, &layout.strides, output);
            // Matrices do not broadcast, though their sizes differ from those of the output.
            strides[batch..].copy_from_slice(&layout.strides[batch..]);
            strides
        };
        let side = |strides: &Strides, offset: usize| Side {
            batches: Rows::new(&output[..batch], &strides[..batch], offset),
            row: strides[batch],
            col: strides[batch + 1],
        };
        let (left, right) = (strides(lhs), strides(rhs));
        let mut product = Self {
            batches: output[..batch].iter().product(),
            m: output[batch],
            n: output[batch + 1],
            k: rhs.0[batch],
            lhs: side(&left, lhs.1.offset),
            rhs: side(&right, rhs.1.offset),
        };
        // Batches that share the right-hand side, with rows on the left in even steps, are one product.
        let rows = Rows::new(&output[..=batch], &left[..=batch], lhs.1.offset);
        let shared = product
            .rhs
            .batches
            .dims()
            .iter()
            .all(|(size, stride)| *size == 1 || *stride == 0);
        if let ([(m, row)], true) = (rows.dims(), product.batches > 1 && shared) {
            (product.batches, product.m, product.lhs.row) = (1, *m, *row);
        }
        product
    }

    /// The number of elements of the result.
    fn len(&self) -> usize {
        self.batches * self.m * self.n
    }

    /// Multiplications for one batch.
    fn work(&self) -> usize {
        self.m * self.n * self.k
    }
}

/// Numbers that the `gemm` crate multiplies.
pub(super) trait Float: Leaf<Acc = Self> + Zero + One + Real + super::reduce::Acc {}

impl Float for f32 {}
impl Float for f64 {}

fn float<T: Float>(lhs: &FlexTensor, rhs: &FlexTensor, output: &TensorMeta) -> Bytes {
    let product = Product::new(
        (lhs.shape(), lhs.layout()),
        (rhs.shape(), rhs.layout()),
        &output.shape,
    );
    // SAFETY: `multiply` writes every element.
    let mut bytes = unsafe { allocate(product.len() * size_of::<T>(), output.dtype) };
    let (lhs, rhs) = (lhs.bytes().as_ptr().cast(), rhs.bytes().as_ptr().cast());
    // SAFETY: the product was made for the layouts of the operands, and the buffer for the product.
    unsafe { multiply::<T>(&product, lhs, rhs, bytes.as_mut_ptr().cast()) };
    bytes
}

fn half<E: Leaf<Acc = f32>>(lhs: &FlexTensor, rhs: &FlexTensor, output: &TensorMeta) -> Bytes {
    let (left, left_layout) = widen::<E>(lhs);
    let (right, right_layout) = widen::<E>(rhs);
    let product = Product::new(
        (lhs.shape(), &left_layout),
        (rhs.shape(), &right_layout),
        &output.shape,
    );
    let mut result = alloc::vec![0.0; product.len()];
    // SAFETY: as in `float`.
    unsafe { multiply::<f32>(&product, left.as_ptr(), right.as_ptr(), result.as_mut_ptr()) };
    store::<E>(result)
}

/// The elements as f32, with matrices stored by column if they were.
fn widen<E: Leaf<Acc = f32>>(input: &FlexTensor) -> (Vec<f32>, Layout) {
    let rank = input.shape().len();
    let (mut shape, mut strides) = (input.shape().clone(), input.layout().strides.clone());
    let by_column = strides[rank - 2].unsigned_abs() < strides[rank - 1].unsigned_abs();
    if by_column {
        shape.swap(rank - 2, rank - 1);
        strides.swap(rank - 2, rank - 1);
    }
    let rows = Rows::new(&shape, &strides, input.layout().offset);
    let source = Source::new::<E>(input.bytes().as_ptr());
    let mut wide = alloc::vec![0.0; input.len()];
    let to = Shared(wide.as_mut_ptr());
    parallel::split(wide.len(), 1, size_of::<E>() + size_of::<f32>(), &|range| {
        let mut at = range.start;
        rows.each(range, |row| {
            // SAFETY: rows are inside the storage, and ranges are disjoint parts of the vector.
            unsafe {
                let wide = core::slice::from_raw_parts_mut(to.get().add(at), row.len);
                source.load(row.start, row.stride, wide);
            }
            at += row.len;
        });
    });
    let mut layout = Layout::contiguous(&shape);
    if by_column {
        layout.strides.swap(rank - 2, rank - 1);
    }
    (wide, layout)
}

fn int<U: int::Wrap>(lhs: &FlexTensor, rhs: &FlexTensor, output: &TensorMeta) -> Bytes {
    let product = Product::new(
        (lhs.shape(), lhs.layout()),
        (rhs.shape(), rhs.layout()),
        &output.shape,
    );
    let mut bytes = Bytes::from_elems(alloc::vec![U::default(); product.len()]);
    let (lhs, rhs) = (lhs.bytes().as_ptr().cast(), rhs.bytes().as_ptr().cast());
    // SAFETY: as in `float`; wrapping arithmetic is the same for both signs.
    unsafe { int::multiply::<U>(&product, lhs, rhs, bytes.as_mut_ptr().cast()) };
    bytes
}

/// # Safety
/// All elements that the sides reach are readable, and `out` is writable for the result and overlaps neither.
unsafe fn multiply<T: Float>(product: &Product, lhs: *const T, rhs: *const T, out: *mut T) {
    if product.len() == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    if unsafe { gemv::multiply(product, lhs, rhs, out) } {
        return;
    }
    let (lhs, rhs, out) = (Shared(lhs.cast_mut()), Shared(rhs.cast_mut()), Shared(out));
    let Product { m, n, k, .. } = *product;
    let (left, right) = (&product.lhs, &product.rhs);
    let tiles = Tiles::new(product);
    let one = |at: usize| {
        let (batch, rows, cols) = tiles.get(at);
        // SAFETY: the caller's promise; each tile is a part of the result of its own, which is not read.
        unsafe {
            let lhs = lhs.get().offset(left.batches.at(batch));
            let rhs = rhs.get().offset(right.batches.at(batch));
            gemm::gemm(
                rows.len(),
                cols.len(),
                k,
                out.get().add((batch * m + rows.start) * n + cols.start),
                1,
                n as isize,
                false,
                lhs.offset(rows.start as isize * left.row).cast_const(),
                left.col,
                left.row,
                rhs.offset(cols.start as isize * right.col).cast_const(),
                right.col,
                right.row,
                T::zero(),
                T::one(),
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    };
    // A core multiplies and adds about as many pairs in a nanosecond as it moves bytes through its caches.
    parallel::split(tiles.len(), 1, tiles.work(k), &|range| range.for_each(one));
}

/// The results of a product, cut into parts that threads take one by one. How they are cut depends on sizes alone, as
/// does the order of the sums in each.
struct Tiles {
    batches: usize,
    sizes: [usize; 2],
    tile: [usize; 2],
}

impl Tiles {
    fn new(product: &Product) -> Self {
        /// Rows and columns that the kernel of `gemm` computes at once.
        const GRAIN: [usize; 2] = [6, 16];
        /// Multiplications that are worth packing both sides for, a few µs, and those that no thread should have more of.
        const WORTH: usize = 1 << 19;
        const MOST: usize = 1 << 27;
        /// Up to this many columns that are not side by side `gemm` packs all at once, into memory of the allocator, which
        /// aligned blocks leave holes in; and more of them in blocks, where it has memory.
        const ALL: usize = 256;
        let sizes = [product.m, product.n];
        let all = product.work().saturating_mul(product.batches);
        let most = (all / 8).clamp(WORTH, MOST);
        let least = match product.n / (ALL + 1) {
            parts @ 3.. if product.rhs.col != 1 => {
                product.n.div_ceil(parts).next_multiple_of(GRAIN[1])
            }
            _ => 0,
        };
        let mut tile = sizes;
        while tile[0] * tile[1] * product.k > most {
            // The longer side is halved, which keeps what is packed small beside what is multiplied.
            let side = usize::from(tile[1] >= tile[0] && tile[1] > least);
            let mut half = tile[side].div_ceil(2).next_multiple_of(GRAIN[side]);
            if side == 1 {
                half = half.max(least);
            }
            if half >= tile[side] {
                break;
            }
            tile[side] = half;
        }
        Self {
            batches: product.batches,
            sizes,
            tile,
        }
    }

    fn across(&self, side: usize) -> usize {
        self.sizes[side].div_ceil(self.tile[side])
    }

    fn len(&self) -> usize {
        self.batches * self.across(0) * self.across(1)
    }

    fn work(&self, k: usize) -> usize {
        self.tile[0] * self.tile[1] * k
    }

    /// The batch, rows and columns of a tile.
    fn get(&self, at: usize) -> (usize, Range<usize>, Range<usize>) {
        let (rest, col) = (at / self.across(1), at % self.across(1));
        let (batch, row) = (rest / self.across(0), rest % self.across(0));
        let part = |side: usize, at: usize| {
            let start = at * self.tile[side];
            start..self.sizes[side].min(start + self.tile[side])
        };
        (batch, part(0, row), part(1, col))
    }
}
