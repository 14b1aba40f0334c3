//! How far to go along a direction: to where the strong Wolfe conditions hold (Nocedal and Wright, 2006, algorithms 3.5
//! and 3.6).

use burn_core::tensor::Tensor;
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

use super::{dot, largest};

/// The decrease asked for, as a share of what the slope at the start promises.
const DECREASE: f64 = 1e-4;
/// The most that the slope may be, as a share of that at the start.
const CURVATURE: f64 = 0.9;
/// The most evaluations.
const MOST: usize = 25;

/// A place on the line, `t` directions from its start.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub t: f64,
    pub loss: f64,
    pub grad: Tensor<1>,
}

/// A place with the slope along the line.
#[derive(Clone, Debug)]
struct Place {
    point: Point,
    slope: f64,
}

impl Place {
    fn new(point: Point, direction: &Tensor<1>) -> Self {
        let slope = dot(&point.grad, direction);
        Self { point, slope }
    }
}

/// The line from its start, with what is asked for.
struct Line<'a> {
    at: &'a mut dyn FnMut(f64) -> Point,
    direction: &'a Tensor<1>,
    start: Place,
    left: usize,
}

impl Line<'_> {
    fn at(&mut self, t: f64) -> Place {
        self.left -= 1;
        Place::new((self.at)(t), self.direction)
    }

    fn falls_too_little(&self, place: &Place) -> bool {
        let promised = DECREASE * place.point.t * self.start.slope;
        place.point.loss > self.start.point.loss + promised
    }

    fn is_flat(&self, place: &Place) -> bool {
        place.slope.abs() <= -CURVATURE * self.start.slope
    }
}

/// A place that fulfils the conditions, or the best one found. `at` evaluates the loss; the first try is at `t`.
pub(super) fn strong_wolfe(
    at: &mut dyn FnMut(f64) -> Point,
    start: Point,
    t: f64,
    direction: &Tensor<1>,
    least_change: f64,
) -> Point {
    let start = Place::new(start, direction);
    let mut line = Line {
        at,
        direction,
        start: start.clone(),
        left: MOST + 1,
    };
    let mut last = start.clone();
    let mut place = line.at(t);
    for steps in 0.. {
        if line.left == 0 {
            return zoom(line, [start, place], least_change);
        }
        if line.falls_too_little(&place) || (steps > 1 && place.point.loss >= last.point.loss) {
            break;
        }
        if line.is_flat(&place) {
            return place.point;
        }
        if place.slope >= 0.0 {
            break;
        }
        // A minimum lies beyond: not too close, and not too far.
        let t = place.point.t;
        let bounds = (t + 0.01 * (t - last.point.t), 10.0 * t);
        let next = minimum_of_cubic(&last, &place, bounds);
        last = core::mem::replace(&mut place, line.at(next));
    }
    zoom(line, [last, place], least_change)
}

/// Narrows an interval that holds a place that fulfils the conditions.
fn zoom(mut line: Line<'_>, mut ends: [Place; 2], least_change: f64) -> Point {
    let length = largest(line.direction);
    let lower = |ends: &[Place; 2]| usize::from(ends[0].point.loss > ends[1].point.loss);
    let mut low = lower(&ends);
    let mut stuck = false;
    while line.left > 0 {
        let (from, to) = (ends[0].point.t, ends[1].point.t);
        let (from, to) = (from.min(to), from.max(to));
        if (to - from) * length < least_change {
            break;
        }
        let mut t = minimum_of_cubic(&ends[0], &ends[1], (from, to));
        // Twice in a row next to an end is no progress: then a tenth of the interval away from it.
        let margin = 0.1 * (to - from);
        let near = (to - t).min(t - from) < margin;
        if near && (stuck || t >= to || t <= from) {
            t = match (t - to).abs() < (t - from).abs() {
                true => to - margin,
                false => from + margin,
            };
            stuck = false;
        } else {
            stuck = near;
        }
        let place = line.at(t);
        if line.falls_too_little(&place) || place.point.loss >= ends[low].point.loss {
            ends[1 - low] = place;
            low = lower(&ends);
            continue;
        }
        if line.is_flat(&place) {
            return place.point;
        }
        if place.slope * (ends[1 - low].point.t - ends[low].point.t) >= 0.0 {
            ends[1 - low] = ends[low].clone();
        }
        ends[low] = place;
    }
    let [first, second] = ends;
    match low {
        0 => first.point,
        _ => second.point,
    }
}

/// Where the cubic through two places with their slopes is least, within `bounds` (equation 3.59).
fn minimum_of_cubic(a: &Place, b: &Place, (from, to): (f64, f64)) -> f64 {
    let (a, b) = match a.point.t <= b.point.t {
        true => (a, b),
        false => (b, a),
    };
    let width = b.point.t - a.point.t;
    let d1 = a.slope + b.slope - 3.0 * (b.point.loss - a.point.loss) / width;
    let square = d1 * d1 - a.slope * b.slope;
    if square < 0.0 || square.is_nan() {
        return 0.5 * (from + to);
    }
    let d2 = square.sqrt();
    let t = b.point.t - width * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2);
    // No `clamp`: the bounds may be NaN where the loss is.
    t.max(from).min(to)
}
