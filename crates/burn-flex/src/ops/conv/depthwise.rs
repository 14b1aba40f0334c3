//! Convolution with one input channel a group. A product would have one row of weights for each row of the input, so
//! each output element is summed in registers instead, over a copy of the channel with its padding, in which elements
//! that neighbouring windows meet are neighbours.

use super::{Float, Geometry};
use crate::parallel::{Shared, split};
use crate::simd::{Kernel, dispatch};
use alloc::vec::Vec;
use num_traits::Zero;

/// Output elements that are summed at a time: four vectors of 256 bits.
const LANES: usize = 32;

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
                    1 => self.elems[line + column.before..][..elems.len()].copy_from_slice(elems),
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

/// # Safety
/// Pointers are to whole tensors of the geometry, of which `to` is not read elsewhere.
pub(super) unsafe fn forward<T: Float + num_traits::Float>(
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
                    dispatch(Forward {
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

#[inline(always)]
fn mul_add<T: num_traits::Float, const FMA: bool>(x: T, y: T, z: T) -> T {
    match FMA {
        true => x.mul_add(y, z),
        false => x * y + z,
    }
}

impl<T: Float + num_traits::Float> Kernel for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (plane, width) = (self.plane, self.g.counts[2]);
        for (line, to) in self.to.chunks_exact_mut(width.max(1)).enumerate() {
            let start = plane.start(self.g, line);
            for (at, to) in to.chunks_mut(LANES).enumerate() {
                let start = start + at * LANES;
                let mut sums = [self.bias; LANES];
                for (tap, weight) in plane.taps.iter().zip(self.weights) {
                    let elems: &[T; LANES] = lanes(&plane.elems, start + tap);
                    for (sum, x) in sums.iter_mut().zip(elems) {
                        *sum = mul_add::<T, FMA>(*x, *weight, *sum);
                    }
                }
                to.copy_from_slice(&sums[..to.len()]);
            }
        }
    }
}

#[inline(always)]
fn lanes<T>(elems: &[T], at: usize) -> &[T; LANES] {
    elems[at..at + LANES]
        .try_into()
        .expect("the slice has this length")
}

/// # Safety
/// As for [`forward`], with `to` zeros.
pub(super) unsafe fn weight<T: Float + num_traits::Float>(
    g: &Geometry,
    input: Shared<T>,
    grad: Shared<T>,
    to: Shared<T>,
) {
    let (positions, area) = (g.positions(), g.area());
    let work = g.batch * (g.elements() * size_of::<T>() + g.out * positions * (area / 4 + 1));
    split(g.groups, 1, work, &|range| {
        let mut plane = Plane::new(g);
        for group in range {
            for n in 0..g.batch {
                let item = n * g.groups + group;
                // SAFETY: each item has the weights of its group to itself.
                unsafe {
                    plane.fill(g, input.get().add(item * g.elements()));
                    for out in 0..g.out {
                        let grad = grad.get().add((item * g.out + out) * positions);
                        let weights = to.get().add((group * g.out + out) * area);
                        dispatch(Weight {
                            g,
                            plane: &plane,
                            grad: core::slice::from_raw_parts(grad, positions),
                            to: core::slice::from_raw_parts_mut(weights, area),
                        });
                    }
                }
            }
        }
    });
}

struct Weight<'a, T> {
    g: &'a Geometry,
    plane: &'a Plane<T>,
    grad: &'a [T],
    to: &'a mut [T],
}

impl<T: Float + num_traits::Float> Kernel for Weight<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (plane, width) = (self.plane, self.g.counts[2]);
        for (tap, weight) in plane.taps.iter().zip(self.to) {
            let mut sums = [<T as Zero>::zero(); LANES];
            for (line, grad) in self.grad.chunks_exact(width.max(1)).enumerate() {
                let start = plane.start(self.g, line) + tap;
                for (at, grad) in grad.chunks(LANES).enumerate() {
                    let elems: &[T; LANES] = lanes(&plane.elems, start + at * LANES);
                    for ((sum, x), grad) in sums.iter_mut().zip(elems).zip(grad) {
                        *sum = mul_add::<T, FMA>(*x, *grad, *sum);
                    }
                }
            }
            *weight = sums.iter().fold(*weight, |sum, x| sum + *x);
        }
    }
}
