//! Convolution with one input channel a group. A product would have one row of weights for each row of the input, so
//! each output element is summed in registers instead, over a copy of the channel with its padding, in which elements
//! that neighbouring windows meet are neighbours.

use super::{Float, Geometry};
use crate::parallel::{Shared, split};
use crate::simd::{Lanes, VectorKernel};
use alloc::vec::Vec;
use num_traits::Zero;

/// Vectors that are summed at a time.
const VECTORS: usize = 4;

/// The most elements of as many vectors, of 512 bits and the narrowest type.
const LANES: usize = VECTORS * 16;

/// A channel with its padding, each line as one part for each remainder by the stride.
struct Plane<T> {
    elems: Vec<T>,
    /// Elements of a part of a line.
    part: usize,
    /// Elements of a line, and of a sheet of lines.
    line: usize,
    sheet: usize,
    /// Where each element of the window starts, in the order of the weights.
    taps: Vec<usize>,
}

impl<T: Float> Plane<T> {
    fn new(g: &Geometry) -> Self {
        let [depth, row, column] = g.windows;
        let padded = |dim: usize| g.sizes[dim] + g.windows[dim].before + g.windows[dim].after;
        // What the last lanes read beyond the last window is there, and not used.
        let part = padded(2).div_ceil(column.stride) + LANES;
        let line = part * column.stride;
        let sheet = line * padded(1);
        let mut taps = Vec::with_capacity(g.area());
        for d in 0..depth.size {
            for r in 0..row.size {
                for c in 0..column.size {
                    let at = c * column.dilation;
                    let at = at % column.stride * part + at / column.stride;
                    taps.push(d * depth.dilation * sheet + r * row.dilation * line + at);
                }
            }
        }
        Self {
            elems: alloc::vec![<T as Zero>::zero(); sheet * padded(0)],
            part,
            line,
            sheet,
            taps,
        }
    }

    /// Takes the elements of a channel.
    ///
    /// # Safety
    /// `from` is a channel of the geometry.
    unsafe fn fill(&mut self, g: &Geometry, mut from: *const T) {
        let [depth, row, column] = g.windows;
        for d in 0..g.sizes[0] {
            for r in 0..g.sizes[1] {
                let line = (d + depth.before) * self.sheet + (r + row.before) * self.line;
                // SAFETY: the caller's promise.
                let elems = unsafe { core::slice::from_raw_parts(from, g.sizes[2]) };
                match column.stride {
                    1 => copy(
                        elems,
                        &mut self.elems[line + column.before..][..elems.len()],
                    ),
                    stride => {
                        for (at, elem) in elems.iter().enumerate() {
                            let at = at + column.before;
                            self.elems[line + at % stride * self.part + at / stride] = *elem;
                        }
                    }
                }
                from = from.wrapping_add(g.sizes[2]);
            }
        }
    }

    /// Where the windows of a line of the output start.
    fn start(&self, g: &Geometry, line: usize) -> usize {
        let (d, r) = (line / g.counts[1], line % g.counts[1]);
        d * g.windows[0].stride * self.sheet + r * g.windows[1].stride * self.line
    }
}

/// Copies a line, which is most often too short to be worth the call of a general copy.
fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    const SOME: usize = 8;
    let Some(last) = from.len().checked_sub(SOME) else {
        to.copy_from_slice(from);
        return;
    };
    let mut some = |at: usize| to[at..at + SOME].copy_from_slice(&from[at..at + SOME]);
    for at in (0..last).step_by(SOME) {
        some(at);
    }
    // Meets what is copied already, most often.
    some(last);
}

/// # Safety
/// Pointers are to whole tensors of the geometry, of which `to` is not read elsewhere.
pub(super) unsafe fn forward<T: Float>(
    g: &Geometry,
    input: Shared<T>,
    weight: Shared<T>,
    bias: Option<Shared<T>>,
    to: Shared<T>,
) {
    let (positions, area) = (g.positions(), g.area());
    let work = g.elements() * size_of::<T>() + g.out * positions * (area / 4 + 1);
    split(g.batch * g.groups, 1, work, &|range| {
        let mut plane = Plane::new(g);
        for item in range {
            let group = item % g.groups;
            // SAFETY: each item has an image and a group of its own.
            unsafe {
                plane.fill(g, input.get().add(item * g.elements()));
                for out in 0..g.out {
                    let channel = group * g.out + out;
                    let weights = weight.get().add(channel * area);
                    let output = to.get().add((item * g.out + out) * positions);
                    T::vectors(Forward {
                        g,
                        plane: &plane,
                        weights: core::slice::from_raw_parts(weights, area),
                        bias: bias.map_or(<T as Zero>::zero(), |bias| *bias.get().add(channel)),
                        to: core::slice::from_raw_parts_mut(output, positions),
                    });
                }
            }
        }
    });
}

struct Forward<'a, T> {
    g: &'a Geometry,
    plane: &'a Plane<T>,
    weights: &'a [T],
    bias: T,
    to: &'a mut [T],
}

impl<T: Float> VectorKernel<T> for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<T>>(self, lanes: L) {
        let (plane, width) = (self.plane, self.g.counts[2]);
        let Self {
            to, weights, bias, ..
        } = self;
        let sums = Sums {
            plane,
            weights,
            bias,
        };
        // Two lines at a time have sums enough that none waits for the one before.
        for (pair, to) in to.chunks_mut(2 * width.max(1)).enumerate() {
            let starts = [0, 1].map(|line| plane.start(self.g, 2 * pair + line));
            match to.split_at_mut_checked(width) {
                Some((one, other)) if !other.is_empty() => sums.lines(lanes, starts, [one, other]),
                _ => sums.lines(lanes, [starts[0]], [to]),
            }
        }
    }
}

/// How neighbouring outputs are summed.
struct Sums<'a, T> {
    plane: &'a Plane<T>,
    weights: &'a [T],
    bias: T,
}

impl<T: Float> Sums<'_, T> {
    /// Lines of the output, whose windows start at `starts`.
    #[inline(always)]
    fn lines<L: Lanes<T>, const LINES: usize>(
        &self,
        lanes: L,
        starts: [usize; LINES],
        mut to: [&mut [T]; LINES],
    ) {
        let width = to[0].len();
        for at in (0..width).step_by(VECTORS * L::COUNT) {
            let count = (width - at).min(VECTORS * L::COUNT);
            let starts = starts.map(|start| start + at);
            let to = to.each_mut().map(|line| &mut line[at..at + count]);
            match count.div_ceil(L::COUNT) {
                1 => self.write::<L, 1, LINES>(lanes, starts, to),
                2 => self.write::<L, 2, LINES>(lanes, starts, to),
                3 => self.write::<L, 3, LINES>(lanes, starts, to),
                _ => self.write::<L, VECTORS, LINES>(lanes, starts, to),
            }
        }
    }

    /// Neighbouring outputs of each line, in as many vectors: the last one ends with them and meets the one before, unless
    /// there are less than a vector.
    #[inline(always)]
    fn write<L: Lanes<T>, const N: usize, const LINES: usize>(
        &self,
        lanes: L,
        starts: [usize; LINES],
        to: [&mut [T]; LINES],
    ) {
        let last = to[0].len().checked_sub(L::COUNT);
        let mut places = [0; N];
        for (v, place) in places.iter_mut().enumerate() {
            *place = (v * L::COUNT).min(last.unwrap_or(0));
        }
        let mut sums = [[lanes.splat(self.bias); N]; LINES];
        for (tap, weight) in self.plane.taps.iter().zip(self.weights) {
            let weight = lanes.splat(*weight);
            for (sums, start) in sums.iter_mut().zip(starts) {
                let elems = &self.plane.elems[start + tap..][..N * L::COUNT];
                for (sum, place) in sums.iter_mut().zip(places) {
                    // SAFETY: the slice has as many vectors, of which places are not beyond the last.
                    let x = unsafe { lanes.load(elems.as_ptr().add(place)) };
                    *sum = lanes.mul_add(x, weight, *sum);
                }
            }
        }
        for (sums, to) in sums.into_iter().zip(to) {
            if last.is_some() {
                for (sum, place) in sums.into_iter().zip(places) {
                    // SAFETY: a vector from here on is inside the line.
                    unsafe { lanes.store(sum, to.as_mut_ptr().add(place)) };
                }
                continue;
            }
            let mut whole = [<T as Zero>::zero(); LANES];
            // SAFETY: the buffer has room for a vector.
            unsafe { lanes.store(sums[0], whole.as_mut_ptr()) };
            to.copy_from_slice(&whole[..to.len()]);
        }
    }
}

/// # Safety
/// As for [`forward`], with `to` zeros.
pub(super) unsafe fn weight<T: Float>(
    g: &Geometry,
    input: Shared<T>,
    grad: Shared<T>,
    to: Shared<T>,
) {
    let (positions, area) = (g.positions(), g.area());
    // Few groups have their channels shared among items.
    let outs = g.out.div_ceil(8usize.div_ceil(g.groups.max(1))).max(1);
    let blocks = g.out.div_ceil(outs);
    let work = g.batch * (g.elements() * size_of::<T>() + outs * positions * (area / 4 + 1));
    split(g.groups * blocks, 1, work, &|range| {
        let mut plane = Plane::new(g);
        let mut lines = Padded::new(g);
        let pitch = lines.pitch;
        for item in range {
            let (group, first) = (item / blocks, item % blocks * outs);
            for n in 0..g.batch {
                let image = n * g.groups + group;
                // SAFETY: each item has weights of its own.
                unsafe {
                    plane.fill(g, input.get().add(image * g.elements()));
                    for out in first..g.out.min(first + outs) {
                        let grad = grad.get().add((image * g.out + out) * positions);
                        let weights = to.get().add((group * g.out + out) * area);
                        T::vectors(Weight {
                            g,
                            plane: &plane,
                            grad: lines.fill(core::slice::from_raw_parts(grad, positions)),
                            pitch,
                            to: core::slice::from_raw_parts_mut(weights, area),
                        });
                    }
                }
            }
        }
    });
}

/// Lines of a channel, each with zeros behind it up to whole vectors.
struct Padded<T> {
    elems: Vec<T>,
    width: usize,
    pitch: usize,
}

impl<T: Float> Padded<T> {
    fn new(g: &Geometry) -> Self {
        let width = g.counts[2].max(1);
        let pitch = width.next_multiple_of(LANES / VECTORS);
        Self {
            elems: alloc::vec![<T as Zero>::zero(); g.positions() / width * pitch],
            width,
            pitch,
        }
    }

    fn fill(&mut self, channel: &[T]) -> &[T] {
        let lines = self.elems.chunks_exact_mut(self.pitch);
        for (to, line) in lines.zip(channel.chunks_exact(self.width)) {
            copy(line, &mut to[..self.width]);
        }
        &self.elems
    }
}

struct Weight<'a, T> {
    g: &'a Geometry,
    plane: &'a Plane<T>,
    grad: &'a [T],
    pitch: usize,
    to: &'a mut [T],
}

impl<T: Float> VectorKernel<T> for Weight<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<T>>(self, lanes: L) {
        let Self {
            g,
            plane,
            grad,
            pitch,
            to,
        } = self;
        let mut taps = plane.taps.chunks(3);
        let mut weights = to.chunks_mut(3);
        for (taps, weights) in (&mut taps).zip(&mut weights) {
            match taps {
                [a, b, c] => sums(lanes, g, plane, [*a, *b, *c], (grad, pitch), weights),
                [a, b] => sums(lanes, g, plane, [*a, *b], (grad, pitch), weights),
                [a] => sums(lanes, g, plane, [*a], (grad, pitch), weights),
                _ => {}
            }
        }
    }
}

/// Adds to each weight the products of all gradients with what its element of the windows meets.
#[inline(always)]
fn sums<T: Float, L: Lanes<T>, const N: usize>(
    lanes: L,
    g: &Geometry,
    plane: &Plane<T>,
    taps: [usize; N],
    (grad, pitch): (&[T], usize),
    weights: &mut [T],
) {
    let width = g.counts[2];
    let mut sums = [lanes.splat(<T as Zero>::zero()); N];
    for (line, grad) in grad.chunks_exact(pitch).enumerate() {
        let start = plane.start(g, line);
        for at in (0..width).step_by(L::COUNT) {
            let grad = &grad[at..][..L::COUNT];
            // SAFETY: the slice is a vector.
            let grad = unsafe { lanes.load(grad.as_ptr()) };
            for (sum, tap) in sums.iter_mut().zip(taps) {
                let x = &plane.elems[start + tap + at..][..L::COUNT];
                // SAFETY: as above.
                let x = unsafe { lanes.load(x.as_ptr()) };
                *sum = lanes.mul_add(x, grad, *sum);
            }
        }
    }
    for (sum, weight) in sums.into_iter().zip(weights) {
        let mut all = [<T as Zero>::zero(); LANES];
        // SAFETY: the buffer has room for a vector.
        unsafe { lanes.store(sum, all.as_mut_ptr()) };
        *weight = all[..L::COUNT].iter().fold(*weight, |sum, x| sum + *x);
    }
}
