//! Images read at positions that are data: compositions of lookups, which differentiate in all operands.

use crate::emit;
use crate::kind::Float;
use crate::ops::{DeformConvOptions, GridSampleOptions, GridSamplePaddingMode, InterpolateMode};
use crate::{Int, Tensor};
use alloc::vec::Vec;
use burn_ir::{Described, Window};

/// What lies outside of an image, and where its edges are.
#[derive(Clone, Copy)]
struct Outside {
    padding: GridSamplePaddingMode,
    align_corners: bool,
}

impl Outside {
    /// Positions along a dim of `size` brought inside, where that is how the outside is read.
    fn bring_in(self, at: Tensor<3>, size: usize) -> Tensor<3> {
        let last = size as f64 - 1.0;
        match self.padding {
            GridSamplePaddingMode::Zeros => at,
            GridSamplePaddingMode::Border => at.clamp(0.0, last),
            GridSamplePaddingMode::Reflection => {
                let (low, span) = match self.align_corners {
                    true => (0.0, last),
                    false => (-0.5, size as f64),
                };
                if span == 0.0 {
                    return at.zeros_like();
                }
                // There and back is twice the span: what is left of it beyond the span goes back.
                let left = at.sub_scalar(low).abs().remainder_scalar(2.0 * span);
                let inside = left.sub_scalar(span).abs().neg().add_scalar(span + low);
                inside.clamp(0.0, last)
            }
        }
    }
}

/// The elements that a position along a dim is made of, each with its weight.
fn taps(at: Tensor<3>, mode: InterpolateMode) -> Vec<(Tensor<3>, Option<Tensor<3>>)> {
    let base = at.clone().floor();
    let share = at.clone().sub(base.clone());
    match mode {
        InterpolateMode::Nearest | InterpolateMode::NearestExact => {
            alloc::vec![(at.round(), None)]
        }
        InterpolateMode::Bilinear => {
            let rest = share.clone().neg().add_scalar(1.0);
            alloc::vec![
                (base.clone(), Some(rest)),
                (base.add_scalar(1.0), Some(share)),
            ]
        }
        InterpolateMode::Bicubic => [-1.0, 0.0, 1.0, 2.0]
            .into_iter()
            .map(|tap| {
                let weight = cubic(share.clone().sub_scalar(tap).abs(), tap);
                (base.clone().add_scalar(tap), Some(weight))
            })
            .collect(),
        InterpolateMode::Lanczos3 => panic!(
            "`grid_sample_2d`: Lanczos has no meaning for single positions\n  legal: nearest, bilinear or bicubic"
        ),
    }
}

/// Keys 1981, equation 4, with `a = -0.75`: the inner piece for the two inner taps, the outer for the others.
fn cubic(x: Tensor<3>, tap: f64) -> Tensor<3> {
    let square = || x.clone().mul(x.clone());
    match tap == 0.0 || tap == 1.0 {
        true => {
            let slope = x.clone().mul_scalar(1.25).sub_scalar(2.25);
            slope.mul(square()).add_scalar(1.0)
        }
        false => {
            let slope = x.clone().sub_scalar(5.0).mul(square());
            let rest = x.clone().mul_scalar(8.0).sub_scalar(4.0);
            slope.add(rest).mul_scalar(-0.75)
        }
    }
}

/// Reads each channel of images at the positions of its image: `[batch, channels, positions]`.
///
/// `x` and `y` count elements: `[batch, 1, positions]`.
fn sample(
    image: Tensor<4>,
    x: Tensor<3>,
    y: Tensor<3>,
    mode: InterpolateMode,
    outside: Outside,
) -> Tensor<3> {
    let [batch, channels, height, width] = image.dims();
    let positions = x.dims()[2];
    let flat = image.reshape([batch, channels, height * width]);
    // Cubic weights are of the position itself, and what they meet is brought in.
    let later = mode == InterpolateMode::Bicubic;
    let place = |at: Tensor<3>, size: usize| match later {
        true => at,
        false => outside.bring_in(at, size),
    };
    let columns = taps(place(x, width), mode);
    let mut sum: Option<Tensor<3>> = None;
    for (row, down) in taps(place(y, height), mode) {
        for (column, across) in &columns {
            let (row, column) = match later {
                true => (
                    outside.bring_in(row.clone(), height),
                    outside.bring_in(column.clone(), width),
                ),
                false => (row.clone(), column.clone()),
            };
            let off = |at: &Tensor<3>, size: usize| {
                let below = at.clone().lower_scalar(0.0);
                below.bool_or(at.clone().greater_scalar(size as f64 - 1.0))
            };
            let missing = off(&row, height).bool_or(off(&column, width));
            let inside = |at: Tensor<3>, size: usize| -> Tensor<3, Int> {
                at.clamp(0.0, size.saturating_sub(1) as f64).int()
            };
            let index = inside(row, height)
                .mul_scalar(width as i64)
                .add(inside(column, width));
            let every = [batch, channels, positions];
            let found = flat.clone().gather(2, index.expand(every));
            let found = found.mask_fill(missing.expand(every), 0.0);
            let weighed = [&down, across]
                .into_iter()
                .flatten()
                .fold(found, |found, weight| found.mul(weight.clone()));
            sum = Some(match sum {
                None => weighed,
                Some(sum) => sum.add(weighed),
            });
        }
    }
    sum.expect("every mode has a tap")
}

impl<const D: usize> Tensor<D, Float> {
    /// Images read at the positions of a grid: `x` and `y` from -1 to 1, which are the outer edges of the outermost
    /// elements, or with `align_corners` their centres. Halves go to the even neighbour in the nearest mode.
    ///
    /// # Shapes
    /// - `self`: `[batch, channels, height, width]`
    /// - `grid`: `[batch, rows, columns, 2]`
    /// - output: `[batch, channels, rows, columns]`
    #[track_caller]
    pub fn grid_sample_2d(
        self,
        grid: Tensor<D>,
        options: impl Into<GridSampleOptions>,
    ) -> Tensor<D> {
        let options = options.into();
        let (meta, of_grid) = (self.handle.meta(), grid.handle.meta());
        let batch = (D == 4).then(|| meta.shape[0]);
        let fits = batch.is_some_and(|batch| of_grid.shape[0] == batch && of_grid.shape[3] == 2);
        if !fits || meta.shape[2..].contains(&0) {
            emit::fail(
                "grid_sample_2d",
                meta,
                format_args!("the input does not fit a grid of shape {}", of_grid.shape),
                format_args!(
                    "[batch, channels, height, width] with elements, and [batch, rows, columns, 2]"
                ),
            );
        }
        let [rows, columns] = [of_grid.shape[1], of_grid.shape[2]];
        let image: Tensor<4> = Tensor::new(self.handle);
        let grid: Tensor<4> = Tensor::new(grid.handle);
        let [batch, channels, height, width] = image.dims();
        let along = |at: usize, size: usize| {
            let line = grid.clone().narrow(3, at, 1);
            let line: Tensor<3> = line.reshape([batch, 1, rows * columns]);
            let size = size as f64;
            match options.align_corners {
                true => line.add_scalar(1.0).mul_scalar((size - 1.0) / 2.0),
                false => line.add_scalar(1.0).mul_scalar(size / 2.0).sub_scalar(0.5),
            }
        };
        let outside = Outside {
            padding: options.padding_mode,
            align_corners: options.align_corners,
        };
        let (x, y) = (along(0, width), along(1, height));
        let found = sample(image, x, y, options.mode, outside);
        let output: Tensor<4> = found.reshape([batch, channels, rows, columns]);
        Tensor::new(output.handle)
    }
}

/// [`conv2d`](super::conv2d) whose windows are bent: each of its elements is read from where an offset says, between
/// elements by bilinear interpolation, and scaled by a mask (Dai and others 2017; Zhu and others 2019).
///
/// # Shapes
/// - `x`: `[batch, in, height, width]`
/// - `offset`: `[batch, offset groups · kernel height · kernel width · 2, rows, columns]`, down before across
/// - `weight`: `[out, in / weight groups, kernel height, kernel width]`
/// - `mask`: `[batch, offset groups · kernel height · kernel width, rows, columns]`
/// - `bias`: `[out]`
/// - output: `[batch, out, rows, columns]`
#[track_caller]
pub fn deform_conv2d(
    x: Tensor<4>,
    offset: Tensor<4>,
    weight: Tensor<4>,
    mask: Option<Tensor<4>>,
    bias: Option<Tensor<1>>,
    options: DeformConvOptions<2>,
) -> Tensor<4> {
    if !bends(&x, &offset, &weight, mask.as_ref(), &options) {
        emit::fail(
            "deform_conv2d",
            x.handle.meta(),
            format_args!(
                "offsets of shape {} and weights of shape {} do not fit with {options:?}",
                offset.shape(),
                weight.shape()
            ),
            format_args!(
                "a mask and twice as many offsets for each element of each window, in groups that divide the channels"
            ),
        );
    }
    let [batch, channels, height, width] = x.dims();
    let [out, per_group, high, broad] = weight.dims();
    let [_, _, rows, columns] = offset.dims();
    let (groups, parts) = (options.weight_groups, options.offset_groups);
    let (area, positions) = (high * broad, rows * columns);
    let [y, across] = [0, 1].map(|dim| bent(offset.clone(), dim, [high, broad], &options));
    let image = x.reshape([batch * parts, channels / parts, height, width]);
    let outside = Outside {
        padding: GridSamplePaddingMode::Zeros,
        align_corners: true,
    };
    let mut found = sample(image, across, y, InterpolateMode::Bilinear, outside);
    if let Some(mask) = mask {
        found = found.mul(mask.reshape([batch * parts, 1, area * positions]));
    }
    let windows = found.reshape([batch, groups, per_group * area, positions]);
    let weight = weight.reshape([1, groups, out / groups, per_group * area]);
    let output = weight.matmul(windows).reshape([batch, out, rows, columns]);
    match bias {
        None => output,
        Some(bias) => output.add(super::along(bias, 1)),
    }
}

/// Whether operands of a deformable convolution fit.
fn bends(
    x: &Tensor<4>,
    offset: &Tensor<4>,
    weight: &Tensor<4>,
    mask: Option<&Tensor<4>>,
    options: &DeformConvOptions<2>,
) -> bool {
    let [batch, channels, ..] = x.dims();
    let [out, per_group, high, broad] = weight.dims();
    let (groups, parts) = (options.weight_groups, options.offset_groups);
    let [rows, columns] = [0, 1].map(|dim| {
        let window = Window {
            size: weight.dims()[dim + 2],
            stride: options.stride[dim],
            before: options.padding[dim],
            after: options.padding[dim],
            dilation: options.dilation[dim],
        };
        window.count(x.dims()[dim + 2], false).unwrap_or(0)
    });
    let taps = parts * high * broad;
    rows * columns > 0
        && offset.dims() == [batch, 2 * taps, rows, columns]
        && mask.is_none_or(|mask| mask.dims() == [batch, taps, rows, columns])
        && groups > 0
        && parts > 0
        && channels.is_multiple_of(parts)
        && per_group * groups == channels
        && out.is_multiple_of(groups)
}

/// Where windows have their elements along a dim: `[batch · offset groups, 1, elements · windows]`.
fn bent(
    offset: Tensor<4>,
    dim: usize,
    kernel: [usize; 2],
    options: &DeformConvOptions<2>,
) -> Tensor<3> {
    let [batch, _, rows, columns] = offset.dims();
    let (device, dtype) = (offset.device(), offset.dtype());
    let (area, positions) = (kernel[0] * kernel[1], rows * columns);
    let images = batch * options.offset_groups;
    let (mut place, mut inside) = ([1; 5], [1; 5]);
    place[dim + 3] = [rows, columns][dim];
    inside[dim + 1] = kernel[dim];
    let start = Tensor::<1, Int>::arange(0..place[dim + 3] as i64, &device)
        .mul_scalar(options.stride[dim] as i64)
        .sub_scalar(options.padding[dim] as i64);
    let step = Tensor::<1, Int>::arange(0..kernel[dim] as i64, &device)
        .mul_scalar(options.dilation[dim] as i64);
    let straight = start.reshape(place).add(step.reshape(inside));
    let straight = straight.expand([1, kernel[0], kernel[1], rows, columns]);
    let straight = straight
        .reshape([1, area, 1, positions])
        .float()
        .cast(dtype);
    let offset = offset.reshape([images, area, 2, positions]);
    let places = offset.narrow(2, dim, 1).add(straight);
    places.reshape([images, 1, area * positions])
}
