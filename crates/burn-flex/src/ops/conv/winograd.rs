//! Convolution with windows of 3×3 in a quarter of the multiplications: tiles of 4×4 outputs from 6×6 inputs, as 36
//! products of transformed tiles and transformed weights (Winograd 1980; Lavin and Gray 2016, section 4). Polynomials
//! are evaluated at 0, ±1/√2, ±√2 and infinity, which keeps the numbers of the transforms small: with the usual 0, ±1, ±2
//! and infinity, errors are twice as large, and the worst of them four times.
//!
//! Errors in f32 are about three times those of direct sums, relative to the magnitude of the terms: in the mean below two
//! roundoffs, at most 13 in the tests, which hold them to five times and 24. That is for tiles of like numbers: a window of
//! small numbers beside large ones has the errors of its tile.
//!
//! The transforms spread what is not finite over a tile, and large numbers may overflow in them: the caller then computes
//! directly.

use super::{Float, Geometry, Matrix, product};
use crate::parallel::{Shared, split};
use crate::simd::simd;
use alloc::vec::Vec;
use burn_ir::Window;
use core::sync::atomic::{AtomicBool, Ordering};
use num_traits::{FloatConst, FromPrimitive, Zero};

/// A type to compute in.
pub(super) trait Real: Float + num_traits::Float + FloatConst + FromPrimitive {}

impl Real for f32 {}
impl Real for f64 {}

/// Outputs and inputs of a tile in each dim.
const OUT: usize = 4;
const IN: usize = 6;
const POINTS: usize = IN * IN;

/// Tiles that are transformed at a time: two vectors of 256 bits.
const LANES: usize = 16;

/// One point, or one pixel, of several tiles.
type Lanes<T> = [T; LANES];

/// Whether the windows are 3×3 side by side, and there is enough work for the transforms to pay.
pub(super) fn applies(g: &Geometry) -> bool {
    let [depth, row, column] = g.windows;
    let plain = |window: Window| window.size == 3 && window.stride == 1 && window.dilation == 1;
    let tiles = g.batch * g.counts[1].div_ceil(OUT) * g.counts[2].div_ceil(OUT);
    // Tiles at the edge are computed in full.
    let used = g.batch * g.positions() >= tiles * OUT * OUT / 2;
    // Transformed weights that no cache holds are written and read once, for which many tiles must pay.
    let pays = match g.channels * g.out {
        ..=0x4000 => 2 * LANES,
        _ => 8 * LANES,
    };
    let image = depth.is_one() && g.sizes[0] == 1 && plain(row) && plain(column);
    image && used && tiles >= pays && g.channels.min(g.out) >= 16
}

/// The tiles of all images in a row.
struct Plan<'a> {
    g: &'a Geometry,
    down: usize,
    across: usize,
    /// Tiles of a block, a multiple of the lanes.
    width: usize,
}

impl Plan<'_> {
    fn tiles(&self) -> usize {
        self.g.batch * self.down * self.across
    }

    /// The image of a tile, and its first output row and column.
    fn place(&self, tile: usize) -> [usize; 3] {
        let (rest, across) = (tile / self.across, tile % self.across);
        [rest / self.down, rest % self.down * OUT, across * OUT]
    }
}

/// Writes the output; `false` if something in it is not finite.
///
/// # Safety
/// Pointers are to whole tensors of the geometry, of which `to` is not read elsewhere.
pub(super) unsafe fn forward<T: Real>(
    g: &Geometry,
    input: Shared<T>,
    weight: Shared<T>,
    bias: Option<Shared<T>>,
    to: Shared<T>,
) -> bool {
    // Blocks of both sides are in the second level of cache, more or less.
    let width = (1 << 17) / (POINTS * g.channels.max(g.out));
    let plan = Plan {
        g,
        down: g.counts[1].div_ceil(OUT),
        across: g.counts[2].div_ceil(OUT),
        width: width.clamp(2 * LANES, 8 * LANES) / LANES * LANES,
    };
    // SAFETY: the caller's promise.
    let weights = unsafe { transform_weights(g, weight) };
    let blocks = plan.tiles().div_ceil(plan.width);
    let work = POINTS * plan.width * (g.channels * g.out + 16 * (g.channels + g.out));
    let finite = AtomicBool::new(true);
    split(g.groups * blocks, 1, work, &|range| {
        let mut tiles = alloc::vec![<T as Zero>::zero(); POINTS * g.channels * plan.width];
        let mut products = alloc::vec![<T as Zero>::zero(); POINTS * g.out * plan.width];
        for item in range {
            let (group, first) = (item / blocks, item % blocks * plan.width);
            let (channels, out, width) = (g.channels, g.out, plan.width);
            // SAFETY: items have tiles and channels of their own; the buffers have a matrix for each point.
            unsafe {
                for channel in 0..channels {
                    let part = tiles.as_mut_ptr().add(channel * width);
                    read(&plan, group * channels + channel, first, input.get(), part);
                }
                for point in 0..POINTS {
                    let weights = weights
                        .as_ptr()
                        .add((group * POINTS + point) * out * channels);
                    let tiles = tiles.as_ptr().add(point * channels * width);
                    let products = products.as_mut_ptr().add(point * out * width);
                    let (weights, tiles) =
                        (Matrix::rows(weights, channels), Matrix::rows(tiles, width));
                    let to = Matrix::rows(products, width);
                    product([out, width, channels], to, false, weights, tiles);
                }
                for channel in 0..out {
                    let at = group * out + channel;
                    let bias = bias.map_or(<T as Zero>::zero(), |bias| *bias.get().add(at));
                    let part = products.as_ptr().add(channel * width);
                    if !write(&plan, at, first, part, bias, to.get()) {
                        finite.store(false, Ordering::Relaxed);
                    }
                }
            }
        }
    });
    finite.into_inner()
}

/// `G·w·Gᵀ` for each pair of channels: `[groups, points, out, in]`.
///
/// # Safety
/// `weight` is a whole tensor of the geometry.
unsafe fn transform_weights<T: Real>(g: &Geometry, weight: Shared<T>) -> Vec<T> {
    let number = |x: f64| T::from_f64(x).expect("a float of another width");
    let [half, near, far] = [0.5, -1.0 / 1.5, 1.0 / 6.0].map(number);
    let (small, large) = (T::FRAC_1_SQRT_2(), T::SQRT_2());
    let points = |[a, b, c]: [T; 3]| {
        let (low, high) = (a + c * half, a + c + c);
        let (inner, outer) = (b * small, b * large);
        [
            a,
            (low + inner) * near,
            (low - inner) * near,
            (high + outer) * far,
            (high - outer) * far,
            c,
        ]
    };
    let pairs = g.out * g.channels;
    let mut transformed = alloc::vec![<T as Zero>::zero(); g.groups * POINTS * pairs];
    let to = Shared(transformed.as_mut_ptr());
    split(g.groups * g.out, 1, g.channels * 400, &|range| {
        for channel in range {
            let (group, out) = (channel / g.out, channel % g.out);
            for i in 0..g.channels {
                // SAFETY: indices are below the sizes; items have channels of their own.
                unsafe {
                    let w = weight.get().add((channel * g.channels + i) * 9);
                    let columns: [[T; IN]; 3] = core::array::from_fn(|c| {
                        points(core::array::from_fn(|r| *w.add(r * 3 + c)))
                    });
                    for r in 0..IN {
                        let row = points(columns.map(|column| column[r]));
                        for (c, x) in row.into_iter().enumerate() {
                            let at = (group * POINTS + r * IN + c) * pairs + out * g.channels + i;
                            *to.get().add(at) = x;
                        }
                    }
                }
            }
        }
    });
    transformed
}

/// The transformed tiles of a channel of the input, one point each `channels · width` elements.
///
/// # Safety
/// `input` is a whole tensor of the geometry, and `to` is writable for a block.
unsafe fn read<T: Real>(
    plan: &Plan<'_>,
    channel: usize,
    first: usize,
    input: *const T,
    to: *mut T,
) {
    let g = plan.g;
    let step = g.channels * plan.width;
    for start in (0..plan.width).step_by(LANES) {
        let mut tiles = [[<T as Zero>::zero(); LANES]; POINTS];
        let present = plan.tiles().saturating_sub(first + start).min(LANES);
        for lane in 0..present {
            let [n, row, column] = plan.place(first + start + lane);
            // SAFETY: a channel of the input.
            let plane = unsafe {
                let plane = input.add((n * g.groups * g.channels + channel) * g.elements());
                core::slice::from_raw_parts(plane, g.elements())
            };
            gather(g, plane, row, column, lane, &mut tiles);
        }
        transform(&mut tiles);
        for (point, lanes) in tiles.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                to.add(point * step + start)
                    .copy_from_nonoverlapping(lanes.as_ptr(), LANES);
            }
        }
    }
}

/// The pixels of a tile, zeros outside.
#[inline(always)]
fn gather<T: Copy>(
    g: &Geometry,
    plane: &[T],
    row: usize,
    column: usize,
    lane: usize,
    tiles: &mut [Lanes<T>; POINTS],
) {
    let [_, height, width] = g.sizes;
    let (before, left) = (g.windows[1].before, g.windows[2].before);
    let inside = row >= before
        && column >= left
        && row + IN <= height + before
        && column + IN <= width + left;
    for r in 0..IN {
        if inside {
            let from = (row + r - before) * width + column - left;
            let line: &[T; IN] = plane[from..from + IN]
                .try_into()
                .expect("the slice has this length");
            for c in 0..IN {
                tiles[r * IN + c][lane] = line[c];
            }
            continue;
        }
        let Some(y) = (row + r).checked_sub(before).filter(|y| *y < height) else {
            continue;
        };
        for c in 0..IN {
            if let Some(x) = (column + c).checked_sub(left).filter(|x| *x < width) {
                tiles[r * IN + c][lane] = plane[y * width + x];
            }
        }
    }
}

/// The places of a line of points: `step` apart.
#[inline(always)]
fn line(first: usize, step: usize) -> [usize; IN] {
    core::array::from_fn(|at| first + at * step)
}

/// `Bᵀ·d·B`
fn transform<T: Real>(tiles: &mut [Lanes<T>; POINTS]) {
    simd(
        #[inline(always)]
        || {
            for at in 0..IN {
                inputs(tiles, line(at, IN));
            }
            for at in 0..IN {
                inputs(tiles, line(at * IN, 1));
            }
        },
    );
}

/// `Bᵀ` along a line.
#[expect(
    clippy::needless_range_loop,
    reason = "a lane is one place in several rows"
)]
#[inline(always)]
fn inputs<T: Real>(tiles: &mut [Lanes<T>; POINTS], line: [usize; IN]) {
    let (small, large) = (T::FRAC_1_SQRT_2(), T::SQRT_2());
    let two = T::one() + T::one();
    let half = two.recip();
    let middle = two + half;
    for lane in 0..LANES {
        let [a, b, c, d, e, f] = line.map(|at| tiles[at][lane]);
        let (low, inner) = (e - two * c, small * d - large * b);
        let (high, outer) = (e - half * c, large * d - small * b);
        let points = [
            a - middle * c + e,
            low + inner,
            low - inner,
            high + outer,
            high - outer,
            b - middle * d + f,
        ];
        for (at, point) in line.into_iter().zip(points) {
            tiles[at][lane] = point;
        }
    }
}

/// Writes the tiles of a channel of the output; `false` if something is not finite.
///
/// # Safety
/// `from` is readable for a block, and `to` is a whole tensor of the geometry.
#[expect(
    clippy::needless_range_loop,
    reason = "a lane is one place in several rows"
)]
unsafe fn write<T: Real>(
    plan: &Plan<'_>,
    channel: usize,
    first: usize,
    from: *const T,
    bias: T,
    to: *mut T,
) -> bool {
    let g = plan.g;
    let [_, height, width] = g.counts;
    let step = g.out * plan.width;
    let mut finite = true;
    for start in (0..plan.width).step_by(LANES) {
        let mut tiles = [[<T as Zero>::zero(); LANES]; POINTS];
        for (point, lanes) in tiles.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                let from = from.add(point * step + start);
                lanes.as_mut_ptr().copy_from_nonoverlapping(from, LANES);
            }
        }
        restore(&mut tiles, bias);
        let present = plan.tiles().saturating_sub(first + start).min(LANES);
        for lane in 0..present {
            let [n, row, column] = plan.place(first + start + lane);
            let plane = (n * g.groups * g.out + channel) * g.positions();
            for r in 0..OUT.min(height - row) {
                for c in 0..OUT.min(width - column) {
                    let x = tiles[r * IN + c][lane];
                    finite &= x.is_finite();
                    // SAFETY: the position is inside the channel.
                    unsafe { *to.add(plane + (row + r) * width + column + c) = x };
                }
            }
        }
    }
    finite
}

/// `Aᵀ·m·A + b`, in the first rows and columns.
fn restore<T: Real>(tiles: &mut [Lanes<T>; POINTS], bias: T) {
    simd(
        #[inline(always)]
        || {
            for at in 0..IN {
                outputs(tiles, line(at, IN), T::zero());
            }
            for at in 0..OUT {
                outputs(tiles, line(at * IN, 1), bias);
            }
        },
    );
}

/// `Aᵀ` along a line, plus a number.
#[expect(
    clippy::needless_range_loop,
    reason = "a lane is one place in several rows"
)]
#[inline(always)]
fn outputs<T: Real>(tiles: &mut [Lanes<T>; POINTS], line: [usize; IN], more: T) {
    let (small, large) = (T::FRAC_1_SQRT_2(), T::SQRT_2());
    let two = T::one() + T::one();
    let half = two.recip();
    for lane in 0..LANES {
        let [a, b, c, d, e, f] = line.map(|at| tiles[at][lane]);
        let (near, far) = (b + c, d + e);
        let (slope, steep) = ((b - c) * small, (d - e) * large);
        let pixels = [
            a + near + far + more,
            slope + steep + more,
            half * near + two * far + more,
            half * slope + two * steep + f + more,
        ];
        for (at, pixel) in line.into_iter().zip(pixels) {
            tiles[at][lane] = pixel;
        }
    }
}
