//! The naive interpreter: what instructions mean, one element at a time, in `f64`, wrapping `i128` and `bool`.
//!
//! Formulas of leaves are in the table, beside the samples that test them. Nothing here is fast, and nothing is shared
//! with any backend.

mod index;
mod module;

pub use index::{argwhere, assign, cat, gather, scan, scatter, sort};

use crate::array::{Array, Num, int_limits, positions};
use burn_ir::{CreateOp, Dims, MovementOp, Operand, Operation};
use burn_std::{DType, Kind, Scalar};
use core::f64::consts::FRAC_2_SQRT_PI;
pub use module::module;

/// The number of a scalar.
pub fn scalar(value: Scalar) -> Num {
    match value {
        Scalar::Float(value) => Num::Float(value),
        Scalar::Int(value) => Num::Int(value.into()),
        Scalar::UInt(value) => Num::Int(value.into()),
        Scalar::Bool(value) => Num::Bool(value),
    }
}

/// The operands in order: `Err` is a scalar.
pub fn operands(operation: &Operation<usize>) -> Vec<Result<usize, Num>> {
    let either = |operand: &Operand<usize>| match operand {
        Operand::Tensor(at) => Ok(*at),
        Operand::Scalar(value) => Err(scalar(*value)),
    };
    match operation {
        Operation::Binary { lhs, rhs, .. } | Operation::Compare { lhs, rhs, .. } => {
            vec![Ok(*lhs), either(rhs)]
        }
        Operation::Where {
            mask,
            on_true,
            on_false,
        } => vec![Ok(*mask), either(on_true), either(on_false)],
        other => {
            let mut operands = Vec::new();
            other.each(&mut |at| operands.push(Ok(*at)));
            operands
        }
    }
}

/// Applies a formula to each element of the operands, which broadcast.
pub fn pointwise(
    operands: &[Result<usize, Num>],
    inputs: &[Array],
    formula: &dyn Fn(&[Num]) -> Num,
) -> (Vec<usize>, Vec<Num>) {
    let tensors = || operands.iter().flatten().map(|at| &inputs[*at].shape);
    let rank = tensors().map(Vec::len).max().unwrap_or(0);
    let stretched = |dim: usize| {
        tensors()
            .map(|shape| shape[dim])
            .find(|size| *size != 1)
            .unwrap_or(1)
    };
    let shape: Vec<usize> = (0..rank).map(stretched).collect();
    let element = |position: Vec<usize>| {
        let arguments: Vec<Num> = operands
            .iter()
            .map(|operand| operand.map_or_else(|num| num, |at| inputs[at].at(&position)))
            .collect();
        formula(&arguments)
    };
    let data = positions(&shape).map(element).collect();
    (shape, data)
}

/// The groups of elements that a reduction over `dims` makes one of, in the order of its output.
pub fn groups(input: &Array, dims: Dims) -> (Vec<usize>, Vec<Vec<Num>>) {
    let split = |dim: usize, size: &usize| match dims.contains(dim) {
        true => (1, *size),
        false => (*size, 1),
    };
    let sizes = input.shape.iter().enumerate();
    let (kept, reduced): (Vec<usize>, Vec<usize>) =
        sizes.map(|(dim, size)| split(dim, size)).unzip();
    let group = |outer: Vec<usize>| {
        positions(&reduced)
            .map(|inner| {
                let position: Vec<usize> = outer.iter().zip(inner).map(|(a, b)| a + b).collect();
                input.at(&position)
            })
            .collect()
    };
    let groups = positions(&kept).map(group).collect();
    (kept, groups)
}

/// Applies a function to each line along a dim.
pub fn lines(input: &Array, dim: usize, f: &dyn Fn(&[f64]) -> Vec<f64>) -> Vec<Num> {
    let mut data = vec![Num::Float(f64::NAN); input.data.len()];
    let mut starts = input.shape.clone();
    starts[dim] = starts[dim].min(1);
    let stride: usize = input.shape[dim + 1..].iter().product();
    for position in positions(&starts) {
        let start = position
            .iter()
            .zip(&input.shape)
            .fold(0, |flat, (at, size)| flat * size + at);
        let at = |i: usize| start + i * stride;
        let line: Vec<f64> = (0..input.shape[dim])
            .map(|i| input.data[at(i)].float())
            .collect();
        for (i, value) in f(&line).into_iter().enumerate() {
            data[at(i)] = Num::Float(value);
        }
    }
    data
}

/// The matrix product and, for each element, the sum of the magnitudes of its terms.
pub fn matmul(lhs: &Array, rhs: &Array) -> (Vec<usize>, Vec<Num>, Vec<f64>) {
    let rank = lhs.shape.len();
    let inner = lhs.shape[rank - 1];
    let mut shape: Vec<usize> = (0..rank)
        .map(|dim| match lhs.shape[dim] {
            1 => rhs.shape[dim],
            size => size,
        })
        .collect();
    shape[rank - 2] = lhs.shape[rank - 2];
    shape[rank - 1] = rhs.shape[rank - 1];
    let mut data = Vec::new();
    let mut magnitudes = Vec::new();
    for position in positions(&shape) {
        let (mut float, mut int, mut magnitude) = (0.0, 0i128, 0.0);
        for k in 0..inner {
            let (mut left, mut right) = (position.clone(), position.clone());
            left[rank - 1] = k;
            right[rank - 2] = k;
            match (lhs.at(&left), rhs.at(&right)) {
                (Num::Int(x), Num::Int(y)) => int = int.wrapping_add(x.wrapping_mul(y)),
                (x, y) => {
                    float += x.float() * y.float();
                    magnitude += (x.float() * y.float()).abs();
                }
            }
        }
        data.push(match lhs.dtype.kind() {
            Kind::Int => Num::Int(int),
            Kind::Float | Kind::Bool => Num::Float(float),
        });
        magnitudes.push(magnitude);
    }
    (shape, data, magnitudes)
}

/// One element as another type: floats truncate and saturate to integers, NaN gives 0; bools are "not 0".
pub fn cast(value: Num, dtype: DType) -> Num {
    match (value, dtype.kind()) {
        (Num::Float(value), Kind::Int) => {
            let (low, high) = int_limits(dtype);
            match value.is_nan() {
                true => Num::Int(0),
                // The conversion of the language truncates, and saturates at bounds far beyond these.
                false => Num::Int((value as i128).clamp(low, high)),
            }
        }
        (value, Kind::Float) => Num::Float(match (value, dtype) {
            // Once to f64 and once to f32 would round twice.
            (Num::Int(value), DType::F32) => f64::from(value as f32),
            (value, _) => value.float(),
        }),
        (value, Kind::Bool) => Num::Bool(value.float() != 0.0),
        (Num::Bool(value), Kind::Int) => Num::Int(value.into()),
        (value @ Num::Int(_), Kind::Int) => value.stored_as(dtype),
    }
}

/// A movement, element by element.
pub fn movement(op: &MovementOp, input: &Array) -> Array {
    let dtype = input.dtype;
    match op {
        MovementOp::Reshape { shape } => Array {
            shape: shape.to_vec(),
            ..input.clone()
        },
        MovementOp::Permute { axes } => {
            let shape: Vec<usize> = axes.iter().map(|axis| input.shape[*axis]).collect();
            Array::from_fn(shape, dtype, |position| {
                let mut from = vec![0; axes.len()];
                axes.iter()
                    .zip(position)
                    .for_each(|(axis, at)| from[*axis] = *at);
                input.at(&from)
            })
        }
        MovementOp::Expand { shape } => {
            Array::from_fn(shape.to_vec(), dtype, |position| input.at(position))
        }
        MovementOp::Slice { ranges } => {
            let shape: Vec<usize> = ranges.iter().map(|range| range.len).collect();
            Array::from_fn(shape, dtype, |position| {
                let from: Vec<usize> = ranges
                    .iter()
                    .zip(position)
                    .map(|(range, at)| (range.start as isize + *at as isize * range.step) as usize)
                    .collect();
                input.data[flat(&input.shape, &from)]
            })
        }
        MovementOp::Pad { padding, value } => {
            let size = |(pad, size): (&burn_ir::PadRange, &usize)| {
                pad.before + size + pad.between * size.saturating_sub(1) + pad.after
            };
            let shape: Vec<usize> = padding.iter().zip(&input.shape).map(size).collect();
            let new = scalar(*value).stored_as(dtype);
            let mut output = Array::from_fn(shape.clone(), dtype, |_| new);
            for position in positions(&input.shape) {
                let to: Vec<usize> = position
                    .iter()
                    .zip(padding)
                    .map(|(at, pad)| pad.before + at * (pad.between + 1))
                    .collect();
                output.data[flat(&shape, &to)] = input.data[flat(&input.shape, &position)];
            }
            output
        }
    }
}

/// The place of a position in row-major order.
fn flat(shape: &[usize], position: &[usize]) -> usize {
    shape
        .iter()
        .zip(position)
        .fold(0, |flat, (size, at)| flat * size + at)
}

/// A tensor from nothing, if it is not random.
pub fn create(op: &CreateOp) -> Array {
    match op {
        CreateOp::Full {
            shape,
            dtype,
            value,
        } => Array::from_fn(shape.to_vec(), *dtype, |_| scalar(*value).stored_as(*dtype)),
        CreateOp::Arange {
            start,
            step,
            len,
            dtype,
        } => Array::from_fn([*len], *dtype, |position| {
            Num::Int(i128::from(*start) + position[0] as i128 * i128::from(*step)).stored_as(*dtype)
        }),
        CreateOp::Random { .. } => panic!("draws have no reference, only properties"),
    }
}

/// The error function, within two units in the last place: below 1 by the series of Abramowitz and Stegun 1964, 7.1.6,
/// whose terms are all of one sign, above by its complement.
pub fn erf(x: f64) -> f64 {
    let z = x.abs();
    if z.is_nan() || z >= 1.0 {
        return (1.0 - erfc(z)).copysign(x);
    }
    let (mut term, mut sum, mut n) = (z, z, 0.0);
    while term > sum * 1e-18 {
        n += 1.0;
        term *= 2.0 * z * z / (2.0 * n + 1.0);
        sum += term;
    }
    (FRAC_2_SQRT_PI * (-z * z).exp() * sum).copysign(x)
}

/// The complement `1 - erf(x)`, accurate where it is small: from 1 on by the continued fraction 7.1.14 of the same
/// source, of which 500 levels are more than `f64` can tell apart there.
pub fn erfc(x: f64) -> f64 {
    match x {
        x if x.is_nan() => x,
        x if x < 1.0 => 1.0 - erf(x),
        f64::INFINITY => 0.0,
        x => {
            let level = |below: f64, n: i32| x + f64::from(n) / 2.0 / below;
            let fraction = (1..500).rev().fold(x, level);
            FRAC_2_SQRT_PI / 2.0 * (-x * x).exp() / fraction
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{erf, erfc};

    #[test]
    fn erf_agrees_with_published_digits() {
        // Abramowitz and Stegun 1964, table 7.1.
        for (x, y) in [
            (0.5, 0.520_499_877_8),
            (1.0, 0.842_700_792_9),
            (1.5, 0.966_105_146_5),
            (2.0, 0.995_322_265_0),
        ] {
            assert!((erf(x) - y).abs() < 1e-10, "{x}");
            assert_eq!(erf(-x), -erf(x));
        }
        assert_eq!((erf(0.0), erf(7.0)), (0.0, 1.0));
    }

    #[test]
    fn the_series_and_the_continued_fraction_meet() {
        let (below, above) = (erf(1f64.next_down()), erf(1.0));
        assert!(
            (below - above).abs() <= 2.0 * f64::EPSILON,
            "{below} {above}"
        );
        assert_eq!((erfc(0.0), erfc(f64::INFINITY)), (1.0, 0.0));
    }

    #[test]
    fn the_complement_agrees_with_published_digits() {
        // Twelve digits, as the `erfc` of the C library gives them.
        for (x, y) in [(2.0, 4.677_734_981_05e-3), (4.0, 1.541_725_790_03e-8)] {
            assert!((erfc(x) / y - 1.0).abs() < 1e-11, "{x}: {}", erfc(x));
        }
    }
}
