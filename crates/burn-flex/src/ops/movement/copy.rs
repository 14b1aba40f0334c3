//! Copies between strided places, the only code that moves elements one by one.
//!
//! Elements are moved by size, not by type, so that four instances serve all dtypes.

use crate::parallel::{self, Shared};
use core::ptr;
use smallvec::SmallVec;

/// A dim of a copy: its size and its stride on either side, in elements.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    src: isize,
    dst: isize,
}

/// Axes, outermost first.
type Axes = SmallVec<[Axis; 6]>;

/// Copies `shape` elements of `size` bytes each from one strided place to another. Strides are in elements; `src` and
/// `dst` point at the elements of index 0.
///
/// # Safety
/// `size` is 1, 2, 4 or 8, and both pointers are aligned to it. Every element that the strides reach can be read from
/// `src` and written to `dst`; the places do not overlap, and no two indices reach one element of `dst`.
pub(crate) unsafe fn copy_strided(
    size: usize,
    shape: &[usize],
    src: *const u8,
    src_strides: &[isize],
    dst: *mut u8,
    dst_strides: &[isize],
) {
    let axes = collapse(shape, src_strides, dst_strides);
    // SAFETY: collapsed axes reach the same elements; the rest is the caller's promise. A tile row is a cache line.
    unsafe {
        match size {
            1 => split::<u8, 64>(&axes, src, dst),
            2 => split::<u16, 32>(&axes, src.cast(), dst.cast()),
            4 => split::<u32, 16>(&axes, src.cast(), dst.cast()),
            8 => split::<u64, 8>(&axes, src.cast(), dst.cast()),
            _ => panic!("elements have 1, 2, 4 or 8 bytes, not {size}"),
        }
    }
}

/// The axes in the order of the destination, adjacent ones merged where both sides step evenly. At least one axis.
fn collapse(shape: &[usize], src: &[isize], dst: &[isize]) -> Axes {
    if shape.contains(&0) {
        return SmallVec::from_elem(
            Axis {
                size: 0,
                src: 1,
                dst: 1,
            },
            1,
        );
    }
    let mut axes: Axes = (0..shape.len())
        .filter(|dim| shape[*dim] != 1)
        .map(|dim| Axis {
            size: shape[dim],
            src: src[dim],
            dst: dst[dim],
        })
        .collect();
    axes.sort_by_key(|axis| core::cmp::Reverse(axis.dst.unsigned_abs()));
    let mut merged = Axes::new();
    for axis in axes {
        match merged.last_mut() {
            Some(outer)
                if outer.src == axis.src * axis.size as isize
                    && outer.dst == axis.dst * axis.size as isize =>
            {
                *outer = Axis {
                    size: outer.size * axis.size,
                    ..axis
                };
            }
            _ => merged.push(axis),
        }
    }
    if merged.is_empty() {
        merged.push(Axis {
            size: 1,
            src: 1,
            dst: 1,
        });
    }
    merged
}

/// Shares the copy among threads by cutting its outermost axis, or the longest if that one is short.
///
/// # Safety
/// As [`copy_strided`].
unsafe fn split<T: Copy + Default, const TILE: usize>(axes: &Axes, src: *const T, dst: *mut T) {
    const PARTS: usize = 64;
    let at = (0..axes.len())
        .find(|at| axes[*at].size >= PARTS)
        .or_else(|| (0..axes.len()).max_by_key(|at| axes[*at].size))
        .expect("there is an axis");
    let axis = axes[at];
    let count: usize = axes.iter().map(|axis| axis.size).product();
    let cost = 2 * size_of::<T>() * (count / axis.size.max(1));
    let (src, dst) = (Shared(src.cast_mut()), Shared(dst));
    parallel::split(axis.size, TILE, cost, &|range| {
        let mut part = axes.clone();
        part[at].size = range.len();
        let start = range.start as isize;
        // SAFETY: a part of the axis reaches a part of the elements, and parts are disjoint in the destination.
        unsafe {
            let src = src.get().wrapping_offset(start * axis.src);
            let dst = dst.get().wrapping_offset(start * axis.dst);
            copy::<T, TILE>(&part, src, dst);
        }
    });
}

/// # Safety
/// As [`copy_strided`].
unsafe fn copy<T: Copy + Default, const TILE: usize>(axes: &[Axis], src: *const T, dst: *mut T) {
    let (inner, outer) = axes.split_last().expect("there is an axis");
    if inner.src == 1 && inner.dst == 1 {
        return each(outer, |s, d| {
            // SAFETY: `each` yields offsets of rows that the axes reach.
            unsafe {
                let dst = dst.wrapping_offset(d);
                ptr::copy_nonoverlapping(src.wrapping_offset(s), dst, inner.size);
            }
        });
    }
    let step = |axis: &Axis| axis.src.unsigned_abs();
    let dense = (0..outer.len())
        .filter(|at| outer[*at].src != 0 && step(&outer[*at]) < step(inner))
        .min_by_key(|at| step(&outer[*at]));
    match dense {
        Some(at) => {
            let mut rest = Axes::from_slice(outer);
            let across = rest.remove(at);
            // SAFETY: as above.
            each(&rest, |s, d| unsafe {
                let (src, dst) = (src.wrapping_offset(s), dst.wrapping_offset(d));
                transpose::<T, TILE>(*inner, across, src, dst);
            });
        }
        // SAFETY: as above.
        None => each(outer, |s, d| unsafe {
            copy_row(*inner, src.wrapping_offset(s), dst.wrapping_offset(d));
        }),
    }
}

/// # Safety
/// The axis reaches readable and writable elements.
unsafe fn copy_row<T: Copy>(axis: Axis, src: *const T, dst: *mut T) {
    // SAFETY: the caller's promise.
    unsafe {
        if axis.src == 0 && axis.dst == 1 {
            let value = src.read();
            for i in 0..axis.size {
                dst.add(i).write(value);
            }
            return;
        }
        for i in 0..axis.size as isize {
            let value = src.wrapping_offset(i * axis.src).read();
            dst.wrapping_offset(i * axis.dst).write(value);
        }
    }
}

/// Copies two axes, one dense in the destination and one dense in the source, by way of a tile that fits the first
/// level of cache: whole cache lines are read and whole ones are written.
///
/// # Safety
/// The axes reach readable and writable elements.
unsafe fn transpose<T: Copy + Default, const TILE: usize>(
    inner: Axis,
    across: Axis,
    src: *const T,
    dst: *mut T,
) {
    let mut tile = [[T::default(); TILE]; TILE];
    for j in (0..across.size).step_by(TILE) {
        let cols = TILE.min(across.size - j);
        for i in (0..inner.size).step_by(TILE) {
            let rows = TILE.min(inner.size - i);
            let at = |axis: Axis, index: usize| index as isize * axis.src;
            let to = |axis: Axis, index: usize| index as isize * axis.dst;
            for (row, line) in tile.iter_mut().enumerate().take(rows) {
                let src = src.wrapping_offset(at(inner, i + row) + at(across, j));
                // SAFETY: `i + row` and `j + cols` are inside the axes.
                unsafe {
                    match across.src {
                        1 => ptr::copy_nonoverlapping(src, line.as_mut_ptr(), cols),
                        _ => {
                            for (col, value) in line.iter_mut().enumerate().take(cols) {
                                *value = src.wrapping_offset(at(across, col)).read();
                            }
                        }
                    }
                }
            }
            for col in 0..cols {
                let dst = dst.wrapping_offset(to(inner, i) + to(across, j + col));
                for (row, line) in tile.iter().enumerate().take(rows) {
                    // SAFETY: as above.
                    unsafe { dst.wrapping_offset(to(inner, row)).write(line[col]) }
                }
            }
        }
    }
}

/// Visits the offsets on both sides of every index of `axes`.
fn each(axes: &[Axis], mut visit: impl FnMut(isize, isize)) {
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, axes.len());
    let (mut src, mut dst) = (0, 0);
    if axes.iter().any(|axis| axis.size == 0) {
        return;
    }
    loop {
        visit(src, dst);
        let mut at = axes.len();
        loop {
            let Some(next) = at.checked_sub(1) else {
                return;
            };
            at = next;
            let axis = axes[at];
            index[at] += 1;
            src += axis.src;
            dst += axis.dst;
            if index[at] < axis.size {
                break;
            }
            index[at] = 0;
            src -= axis.src * axis.size as isize;
            dst -= axis.dst * axis.size as isize;
        }
    }
}
