//! Positions that are data. Indices are checked a block at a time, while they are read: no kernel reads or writes
//! beyond its tensors, and a mistake stops with the first index that is out of range.

mod argwhere;
mod gather;
mod scatter;
#[cfg(test)]
mod tests;

pub(crate) use argwhere::argwhere;
pub(crate) use gather::gather;
pub(crate) use scatter::scatter;

use super::cast;
use crate::FlexTensor;
use crate::parallel::split;
use crate::rows::Rows;
use crate::simd::simd;
use alloc::vec::Vec;
use burn_ir::{Described, IndexOp, OperationError, TensorMeta};
use burn_std::{DType, Scalar, Shape};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Indices that are read at a time: as 64-bit numbers, a quarter of the first level of cache.
const BLOCK: usize = 1024;

/// What one more index costs beyond the memory that it moves: about a nanosecond.
const COST: usize = crate::parallel::NANOSECOND;

/// Contiguous indices, with the dims that they are positions of.
struct Indices<'a> {
    tensor: FlexTensor,
    name: &'static str,
    input: &'a TensorMeta,
    /// The first dim that indices are positions of; the others follow in turn.
    dim: usize,
    /// The number of dims that indices are positions of, in turn.
    turn: usize,
    /// Where the first index is that is out of range, `usize::MAX` if none is.
    wrong: AtomicUsize,
}

impl<'a> Indices<'a> {
    fn new(op: IndexOp, name: &'static str, input: &'a TensorMeta, indices: FlexTensor) -> Self {
        let (dim, turn) = match op {
            IndexOp::Elements { dim } | IndexOp::Select { dim } => (dim, 1),
            IndexOp::Nd => (0, indices.shape()[indices.shape().len() - 1]),
        };
        Self {
            tensor: indices.into_contiguous(),
            name,
            input,
            dim,
            turn,
            wrong: AtomicUsize::new(usize::MAX),
        }
    }

    fn size(&self) -> usize {
        self.input.shape[self.dim]
    }

    fn load(&self, range: Range<usize>, block: &mut [i64]) {
        let dtype = self.tensor.dtype();
        let from = self.tensor.first().wrapping_add(range.start * dtype.size());
        let to = block.as_mut_ptr().cast();
        // SAFETY: the indices are contiguous and the range is inside them; the block is as long.
        unsafe { cast::block(dtype, DType::I64, from, to, range.len()) };
    }

    /// Reads indices of one dim. `None` if one of them is out of range, which is noted.
    fn read<'b>(&self, range: Range<usize>, block: &'b mut [i64; BLOCK]) -> Option<&'b [i64]> {
        let (start, size) = (range.start, self.size() as u64);
        let block = &mut block[..range.len()];
        self.load(range, block);
        // Unsigned, a negative index is a large one.
        let wrong = simd(
            #[inline(always)]
            || (block.iter()).fold(false, |wrong, at| wrong | (*at as u64 >= size)),
        );
        if wrong {
            let first = block.iter().position(|at| *at as u64 >= size);
            self.note(start + first.expect("one was found"));
            return None;
        }
        Some(block)
    }

    fn note(&self, at: usize) {
        self.wrong.fetch_min(at, Ordering::Relaxed);
    }

    /// Stops if an index was out of range.
    ///
    /// # Panics
    /// With the report of the first.
    fn check(&self) {
        let at = self.wrong.load(Ordering::Relaxed);
        if at == usize::MAX {
            return;
        }
        let mut index = [0];
        self.load(at..at + 1, &mut index);
        let index = match self.tensor.dtype() {
            DType::U64 => Scalar::UInt(index[0] as u64),
            _ => Scalar::Int(index[0]),
        };
        let dim = self.dim + at % self.turn;
        let operands = [("input", self.input), ("indices", self.tensor.meta())];
        let size = self.input.shape[dim];
        let error = OperationError::out_of_range(self.name, &operands, index, dim, size);
        panic!("{error}");
    }

    /// For each index, or each tuple of them, what it adds to a position in a layout of these strides.
    ///
    /// # Panics
    /// If one is out of range.
    fn offsets(&self, strides: &[isize]) -> Vec<usize> {
        let count = self.tensor.len() / self.turn.max(1);
        let count = match self.turn {
            // Tuples of no index name everything.
            0 => self.tensor.shape()[..self.tensor.shape().len() - 1]
                .iter()
                .product(),
            _ => count,
        };
        let mut offsets = alloc::vec![0isize; count];
        let mut block = [0; BLOCK];
        if self.turn == 1 {
            for start in (0..count).step_by(BLOCK) {
                let range = start..count.min(start + BLOCK);
                let Some(indices) = self.read(range.clone(), &mut block) else {
                    return self.stopped();
                };
                for (offset, index) in offsets[range].iter_mut().zip(indices) {
                    *offset = *index as isize * strides[self.dim];
                }
            }
            return offsets.into_iter().map(|offset| offset as usize).collect();
        }
        for start in (0..self.tensor.len()).step_by(BLOCK) {
            let range = start..self.tensor.len().min(start + BLOCK);
            let block = &mut block[..range.len()];
            self.load(range, block);
            for (at, index) in (start..).zip(block.iter()) {
                let dim = self.dim + at % self.turn;
                if *index as u64 >= self.input.shape[dim] as u64 {
                    self.note(at);
                    return self.stopped();
                }
                offsets[at / self.turn] += *index as isize * strides[dim];
            }
        }
        // Positions may lie before the first one, where a stride is negative.
        offsets.into_iter().map(|offset| offset as usize).collect()
    }

    fn stopped(&self) -> Vec<usize> {
        self.check();
        Vec::new()
    }

    /// Gives `visit` the positions that a part of the indices name, each for one element, in a layout of these strides:
    /// which index is the first, and a position to add to those of all.
    ///
    /// # Panics
    /// If an index is out of range, after everything else was visited.
    fn each(
        &self,
        strides: &[isize],
        offset: usize,
        align: usize,
        cost: usize,
        visit: &(dyn Fn(usize, usize, &[usize]) + Sync),
    ) {
        let shape = self.tensor.shape();
        let step = strides[self.dim];
        let others: Vec<isize> = (0..shape.len())
            .map(|dim| if dim == self.dim { 0 } else { strides[dim] })
            .collect();
        let rows = Rows::new(shape, &others, offset);
        let (line, stride) = rows.inner();
        split(self.tensor.len(), align, cost + COST, &|range| {
            let (mut block, mut places) = ([0; BLOCK], [0; BLOCK]);
            for start in range.clone().step_by(BLOCK) {
                let part = start..range.end.min(start + BLOCK);
                let Some(indices) = self.read(part.clone(), &mut block) else {
                    continue;
                };
                if step == 1 && stride == 0 && start % line + part.len() <= line {
                    // Along one line of neighbours: indices, which are not negative, are places in it.
                    let first = rows.at(start) as usize;
                    visit(start, first, bytemuck::cast_slice(indices));
                    continue;
                }
                let places = &mut places[..indices.len()];
                let mut rest = (&mut *places, indices);
                rows.each(part, |row| {
                    let (now, later) = core::mem::take(&mut rest.0).split_at_mut(row.len);
                    let (indices, others) = rest.1.split_at(row.len);
                    rest = (later, others);
                    for (at, (place, index)) in now.iter_mut().zip(indices).enumerate() {
                        *place = (row.start + at as isize * row.stride + *index as isize * step)
                            as usize;
                    }
                });
                visit(start, 0, places);
            }
        });
        self.check();
    }
}

/// A tensor cut at the dims that indices name: blocks of what is behind them.
struct Blocks {
    /// The dims before.
    outer: Rows,
    /// The dims behind, relative to the first element of a block.
    inner: Rows,
}

impl Blocks {
    /// Cuts a layout around the dims `named`.
    fn new(shape: &Shape, strides: &[isize], offset: usize, named: Range<usize>) -> Self {
        let Range { start, end } = named;
        Self {
            outer: Rows::new(&shape[..start], &strides[..start], offset),
            inner: Rows::new(&shape[end..], &strides[end..], 0),
        }
    }
}

/// The dims that indices name as a whole.
fn named(op: IndexOp, turn: usize) -> Range<usize> {
    match op {
        IndexOp::Elements { dim } | IndexOp::Select { dim } => dim..dim + 1,
        IndexOp::Nd => 0..turn,
    }
}
