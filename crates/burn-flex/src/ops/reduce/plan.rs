//! How the elements of a tensor are cut into groups, and groups into work. Nothing here computes.

use super::load::Source;
use super::{BLOCK, acc::Acc};
use crate::{FlexTensor, parallel, rows::Rows};
use alloc::vec::Vec;
use burn_ir::Dims;
use core::ops::Range;
use smallvec::SmallVec;

/// Elements of a group, or of neighbouring groups, that are reduced by themselves before they are joined with others.
/// A constant, so that the order of additions does not depend on the number of threads.
const CHUNK: usize = 64 * 1024;

/// Groups below this size cost less column by column than the setting up of a block for each.
const DEEP: usize = 16;

/// The layout of a reduction.
///
/// *Deep* reductions walk one group at a time; *wide* ones walk rows of a column for each of many groups, because
/// neighbours in memory belong to neighbouring groups.
pub(crate) struct Plan {
    /// The kept dims other than the columns. The first elements of their groups are there.
    outer: Rows,
    /// Size, stride in the input and stride in the output of the dim whose groups are reduced side by side; of size 1
    /// if the reduction is deep.
    columns: (usize, isize, usize),
    pub(crate) wide: bool,
    /// The reduced dims, relative to the first element of a group.
    pub(crate) reduced: Rows,
    /// Elements of a group in a chunk.
    chunk: usize,
}

/// A part of one group, or of `width` groups side by side.
pub(crate) struct Item {
    /// The position of the first element of the (first) group.
    pub(crate) start: isize,
    pub(crate) width: usize,
    /// Where the (first) result goes, among those of its chunk.
    pub(crate) output: usize,
    pub(crate) chunk: usize,
    /// The elements of the group to reduce.
    pub(crate) range: Range<usize>,
}

impl Plan {
    pub(crate) fn new(input: &FlexTensor, dims: Dims) -> Self {
        type Axes = SmallVec<[(usize, isize); 4]>;
        let layout = input.layout();
        let of = |reduced: bool| -> Axes {
            (0..input.shape().len())
                .filter(|dim| dims.contains(*dim) == reduced && input.shape()[*dim] != 1)
                .map(|dim| (input.shape()[dim], layout.strides[dim]))
                .collect()
        };
        let rows = |axes: &Axes, offset: usize| {
            let (sizes, strides): (SmallVec<[usize; 4]>, SmallVec<[isize; 4]>) =
                axes.iter().copied().unzip();
            Rows::new(&sizes, &strides, offset)
        };
        // Folds are commutative, so groups are walked in the order of memory.
        let mut reduced = of(true);
        reduced.sort_by_key(|(_, stride)| core::cmp::Reverse(stride.unsigned_abs()));
        let reduced = rows(&reduced, 0);
        let group = reduced.len();
        let kept = rows(&of(false), layout.offset);
        let mut axes: Axes = kept.dims().iter().copied().collect();
        // A repeated element is no neighbour.
        let distance = |(_, stride): (usize, isize)| stride.unsigned_abs().wrapping_sub(1);
        let at = (0..axes.len())
            .min_by_key(|at| distance(axes[*at]))
            .expect("rows have a dim");
        let near = group == 1 || distance(axes[at]) < distance(reduced.inner());
        let wide = axes[at].0 > 1 && (near || (group < DEEP && axes[at].0 >= DEEP));
        if !wide {
            return Self {
                outer: kept,
                columns: (1, 0, 1),
                wide,
                reduced,
                chunk: CHUNK,
            };
        }
        let step = axes[at + 1..].iter().map(|(size, _)| size).product();
        let (size, stride) = axes.remove(at);
        Self {
            outer: rows(&axes, layout.offset),
            columns: (size, stride, step),
            wide,
            reduced,
            chunk: (CHUNK / size.min(BLOCK)).max(ROWS).next_multiple_of(ROWS),
        }
    }

    /// The number of results.
    pub(crate) fn outputs(&self) -> usize {
        self.outer.len() * self.columns.0
    }

    /// The number of elements of a group.
    pub(crate) fn group(&self) -> usize {
        self.reduced.len()
    }

    /// The number of parts of a group; at least one.
    pub(crate) fn chunks(&self) -> usize {
        self.group().div_ceil(self.chunk).max(1)
    }

    /// The distance in the output from one group of an item to the next.
    pub(crate) fn output_stride(&self) -> usize {
        self.columns.2
    }

    /// The distance in the input from one group of an item to the next.
    pub(crate) fn stride(&self) -> isize {
        self.columns.1
    }

    /// Gives all items to `work`, some at a time. An element has `size` bytes.
    pub(crate) fn split(
        &self,
        size: usize,
        work: &(dyn Fn(&mut dyn Iterator<Item = Item>) + Sync),
    ) {
        let (columns, stride, step) = self.columns;
        let (blocks, chunks) = (columns.div_ceil(BLOCK), self.chunks());
        let count = self.outer.len() * blocks * chunks;
        let cost = size * self.chunk.min(self.group()) * columns.min(BLOCK);
        parallel::split(count, 1, cost, &|range| {
            work(&mut range.map(|index| {
                let (chunk, block) = (index % chunks, index / chunks % blocks);
                let (outer, column) = (index / chunks / blocks, block * BLOCK);
                let first = chunk * self.chunk;
                Item {
                    start: self.outer.at(outer) + column as isize * stride,
                    width: BLOCK.min(columns - column),
                    output: outer / step * step * columns + column * step + outer % step,
                    chunk,
                    range: first..self.group().min(first + self.chunk),
                }
            }));
        });
    }

    /// A block of a group, of at most [`BLOCK`] elements: where they are, or in `scratch`.
    ///
    /// # Safety
    /// `start` is the first element of a group of this plan, and `source` the memory of its tensor.
    pub(crate) unsafe fn block<'a, A: Acc>(
        &self,
        source: &Source<A>,
        start: isize,
        range: Range<usize>,
        scratch: &'a mut Vec<A>,
    ) -> &'a [A] {
        let (size, stride) = self.reduced.inner();
        if range.start % size + range.len() <= size {
            let start = start + self.reduced.at(range.start);
            // SAFETY: the row is inside the group.
            return unsafe { source.row(start, stride, range.len(), scratch) };
        }
        scratch.resize(range.len(), A::ZERO);
        let mut rest = &mut scratch[..];
        self.reduced.each(range, |row| {
            let (block, more) = core::mem::take(&mut rest).split_at_mut(row.len);
            // SAFETY: as above.
            unsafe { source.load(start + row.start, row.stride, block) };
            rest = more;
        });
        scratch
    }

    /// The elements of a deep item, if they all lie side by side where they are, and all of them count.
    ///
    /// # Safety
    /// As [`Plan::block`].
    pub(crate) unsafe fn row<'a, A: Acc>(
        &self,
        source: &Source<A>,
        item: &Item,
    ) -> Option<&'a [A]> {
        let (size, stride) = self.reduced.inner();
        let (start, len) = (item.range.start, item.range.len());
        let whole =
            !A::SETTLES && source.is_direct(stride) && len > 0 && start % size + len <= size;
        // SAFETY: the row is inside the group.
        whole.then(|| unsafe { source.direct(item.start + self.reduced.at(start), len) })
    }

    /// The elements of a wide item, if they all lie side by side where they are, in rows too short for vectors.
    ///
    /// # Safety
    /// As [`Plan::block`], for all groups of the item.
    pub(crate) unsafe fn dense<'a, A: Acc>(
        &self,
        source: &Source<A>,
        item: &Item,
    ) -> Option<&'a [A]> {
        let even = self.reduced.dims() == [(self.group(), item.width as isize)];
        let short = item.width <= DEEP && item.range.len() > DEEP;
        (even && short && source.is_direct(self.stride())).then(|| {
            let first = item.start + self.reduced.at(item.range.start);
            // SAFETY: rows as far apart as they are long are one piece.
            unsafe { source.direct(first, item.width * item.range.len()) }
        })
    }

    /// Rows of a wide item, as many of `range` as one step takes: where they are, or in `scratch`.
    ///
    /// # Safety
    /// As [`Plan::block`], for all groups of the item.
    pub(crate) unsafe fn rows<'a, A: Acc>(
        &self,
        source: &Source<A>,
        item: &Item,
        range: Range<usize>,
        scratch: &'a mut Vec<A>,
    ) -> SmallVec<[&'a [A]; ROWS]> {
        let at = |row: usize| item.start + self.reduced.at(row);
        if source.is_direct(self.stride()) {
            let rows = range.take(ROWS);
            // SAFETY: rows of an item are inside its groups.
            return rows
                .map(|row| unsafe { source.direct(at(row), item.width) })
                .collect();
        }
        // Four blocks stay in the first level of cache.
        let count = (4 * BLOCK / item.width).min(ROWS).min(range.len());
        scratch.resize(count * item.width, A::ZERO);
        let rows = scratch.chunks_exact_mut(item.width).zip(range);
        rows.map(|(row, index)| {
            // SAFETY: as above.
            unsafe { source.load(at(index), self.stride(), row) };
            &*row
        })
        .collect()
    }
}

/// Rows that a wide reduction folds one after the other; longer columns go through a cascade.
pub(crate) const ROWS: usize = 64;
