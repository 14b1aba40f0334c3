//! Resampling: what each filter makes of a line, as [`bands`](super::bands).

use super::bands::{self, Bands, Join};
use crate::FlexTensor;
use alloc::vec::Vec;
use burn_ir::{Filter, TensorMeta};
use core::f64::consts::PI;
use num_traits::Float;

/// Applies a filter to each spatial dim, or their adjoints.
pub(super) fn run(
    input: FlexTensor,
    filters: &[Filter],
    adjoint: bool,
    output: &TensorMeta,
) -> FlexTensor {
    let (from, to) = match adjoint {
        false => (input.shape(), &output.shape),
        true => (&output.shape, input.shape()),
    };
    let sizes = || from[2..].iter().zip(&to[2..]);
    let lines = filters.iter().zip(sizes());
    let tables: Vec<Bands> = lines
        .clone()
        .map(|(filter, (from, to))| {
            let bands = bands_of(*filter, *from, *to);
            match adjoint {
                false => bands,
                true => bands.transposed(*from),
            }
        })
        .collect();
    let divisors: Vec<Vec<f64>> = lines
        .map(|(filter, (from, to))| divisors_of(*filter, *from, *to))
        .collect();
    let (before, after) = match adjoint {
        false => (&[][..], &divisors[..]),
        true => (&divisors[..], &[][..]),
    };
    bands::run(Join::Sum, &tables, (before, after), input, output)
}

/// The elements that each of `to` is made of, with their weights. Means are sums here, and divided afterwards, so that
/// the mean of equal elements is that element.
fn bands_of(filter: Filter, from: usize, to: usize) -> Bands {
    let position = |at: usize, align_corners: bool| match (align_corners, to) {
        (true, 0 | 1) => 0.0,
        (true, _) => (at * (from - 1)) as f64 / (to - 1) as f64,
        (false, _) => ((2 * at + 1) * from) as f64 / (2 * to) as f64 - 0.5,
    };
    let mut bands = Bands::new();
    for at in 0..to {
        match filter {
            Filter::Mean { window, .. } => return Bands::of_windows(from, to, window),
            Filter::AdaptiveMean => {
                let (start, end) = adaptive(at, from, to);
                bands.push(start, core::iter::repeat_n(1.0, end - start));
            }
            Filter::Nearest => bands.push(at * from / to, [1.0]),
            Filter::NearestExact => bands.push((2 * at + 1) * from / (2 * to), [1.0]),
            Filter::Linear { align_corners } => {
                // Before the first centre and behind the last there is one element.
                let position = position(at, align_corners).clamp(0.0, (from - 1) as f64);
                let first = position as usize;
                let share = position - first as f64;
                match share == 0.0 {
                    true => bands.push(first, [1.0]),
                    false => bands.push(first, [1.0 - share, share]),
                }
            }
            Filter::Cubic { align_corners } => {
                repeated(&mut bands, from, position(at, align_corners));
            }
            Filter::Lanczos { align_corners } => {
                let position = position(at, align_corners);
                let base = Float::floor(position) as isize;
                let first = (base - 2).max(0) as usize;
                let last = (base + 3).min(from as isize - 1) as usize;
                let weights = (first..=last).map(|at| lanczos(position - at as f64));
                let sum: f64 = weights.clone().sum();
                bands.push(first, weights.map(|weight| weight / sum));
            }
        }
    }
    bands
}

/// The elements that one of `to` adaptive means is over.
fn adaptive(at: usize, from: usize, to: usize) -> (usize, usize) {
    (at * from / to, ((at + 1) * from).div_ceil(to))
}

/// Four elements around a position; those beyond the ends are the outermost.
fn repeated(bands: &mut Bands, from: usize, position: f64) {
    let base = Float::floor(position);
    let last = from as isize - 1;
    let inside = |at: isize| (base as isize + at).clamp(0, last) as usize;
    let first = inside(-1);
    let mut weights = alloc::vec![0.0; inside(2) - first + 1];
    for at in -1..=2 {
        weights[inside(at) - first] += cubic(position - base - at as f64);
    }
    bands.push(first, weights);
}

/// Keys 1981, equation 4, with `a = -0.75`.
fn cubic(distance: f64) -> f64 {
    const A: f64 = -0.75;
    let x = distance.abs();
    match x {
        x if x <= 1.0 => ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0,
        x if x < 2.0 => ((x - 5.0) * x + 8.0) * x * A - 4.0 * A,
        _ => 0.0,
    }
}

/// `sinc(x) · sinc(x / 3)` for `|x| < 3`.
fn lanczos(distance: f64) -> f64 {
    let sinc = |x: f64| match x == 0.0 {
        true => 1.0,
        false => Float::sin(PI * x) / (PI * x),
    };
    match distance.abs() < 3.0 {
        true => sinc(distance) * sinc(distance / 3.0),
        false => 0.0,
    }
}

/// What each of `to` sums is divided by.
fn divisors_of(filter: Filter, from: usize, to: usize) -> Vec<f64> {
    let divisor = |at: usize| match filter {
        Filter::Mean {
            window,
            count_padding,
        } => {
            let start = at * window.stride;
            let end = (start + window.size).min(from + window.before + window.after);
            let (low, high) = (window.before, window.before + from);
            match count_padding {
                true => end - start,
                false => end.min(high) - start.max(low),
            }
        }
        Filter::AdaptiveMean => {
            let (start, end) = adaptive(at, from, to);
            end - start
        }
        Filter::Nearest
        | Filter::NearestExact
        | Filter::Linear { .. }
        | Filter::Cubic { .. }
        | Filter::Lanczos { .. } => 1,
    };
    (0..to).map(|at| divisor(at) as f64).collect()
}
