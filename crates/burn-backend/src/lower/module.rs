//! Layers as matrix products, reductions and columns of windows.

use super::attention;
use crate::{Build, Emit};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_ir::{
    BinaryOp, CreateOp, Described, Dims, ModuleOp, MovementOp, Operation, PadRange, ReduceOp,
    UnaryOp, Window,
};
use burn_std::{DType, IntDType, Scalar, Shape};

pub(super) fn lower<E: Emit>(e: &mut E, op: ModuleOp<E::Tensor>) -> E::Tensor {
    match op {
        op if is_half(&op) => widened(e, op),
        ModuleOp::Conv {
            input,
            weight,
            bias,
            windows,
            groups,
        } => {
            let output = conv(e, input, weight, windows, groups);
            shifted(e, output, bias)
        }
        ModuleOp::ConvTranspose {
            input,
            weight,
            bias,
            windows,
            sizes,
            groups,
        } => {
            let output = conv_transpose(e, input, weight, (windows, sizes), groups);
            shifted(e, output, bias)
        }
        ModuleOp::ConvWeight {
            input,
            grad,
            windows,
            groups,
        } => conv_weight(e, input, grad, windows, groups),
        ModuleOp::MaxPool {
            input,
            windows,
            ceil,
        } => max_pool(e, input, &windows, ceil, ReduceOp::Max),
        ModuleOp::MaxPoolIndices {
            input,
            windows,
            ceil,
            dtype,
        } => max_pool_indices(e, input, &windows, ceil, dtype),
        ModuleOp::Attention {
            query,
            key,
            value,
            mask,
            bias,
            scores,
        } => attention::lower(e, [query, key, value], [mask, bias], scores),
        ModuleOp::LayerNorm {
            input,
            gamma,
            beta,
            epsilon,
        } => layer_norm(e, input, gamma, beta, epsilon.elem()),
        ModuleOp::QuantizedMatmul { lhs, rhs, dtype } => {
            let mut floats = |side: E::Tensor| match side.meta().dtype.is_quantized() {
                true => e.module(ModuleOp::Dequantize { input: side, dtype }),
                false => side,
            };
            let (lhs, rhs) = (floats(lhs), floats(rhs));
            e.matmul(lhs, rhs)
        }
        primitive @ (ModuleOp::Unfold { .. }
        | ModuleOp::Fold { .. }
        | ModuleOp::Resample { .. }
        | ModuleOp::Quantize { .. }
        | ModuleOp::Dequantize { .. }) => super::no_lowering(primitive.name()),
    }
}

/// Whether these layers are of a half type.
fn is_half<T: Described>(op: &ModuleOp<T>) -> bool {
    let input = match op {
        ModuleOp::Attention { query, .. } => query,
        ModuleOp::LayerNorm { input, .. } => input,
        _ => return false,
    };
    matches!(input.meta().dtype, DType::F16 | DType::BF16)
}

/// The same in f32, so that steps between the operands and the output do not round to half types.
fn widened<E: Emit>(e: &mut E, op: ModuleOp<E::Tensor>) -> E::Tensor {
    let mut half = DType::F16;
    let op =
        Operation::Module(Box::new(op)).map(&mut |tensor: E::Tensor| match tensor.meta().dtype {
            dtype @ (DType::F16 | DType::BF16) => {
                half = dtype;
                e.cast(tensor, DType::F32)
            }
            _ => tensor,
        });
    let output = e.one(op);
    e.cast(output, half)
}

/// `[batch, channels, …]`
fn image(batch: usize, channels: usize, sizes: &[usize]) -> Shape {
    [batch, channels].iter().chain(sizes).copied().collect()
}

fn counts(sizes: &[usize], windows: &[Window], ceil: bool) -> Shape {
    let count = |(size, window): (&usize, &Window)| window.count(*size, ceil);
    sizes
        .iter()
        .zip(windows)
        .map(|pair| count(pair).expect("the check admits windows that fit"))
        .collect()
}

/// Windows as columns, in groups of channels: `[batch, groups, rows, columns]`.
fn columns<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    windows: Box<[Window]>,
    groups: usize,
) -> E::Tensor {
    let (batch, channels) = (input.meta().shape[0], input.meta().shape[1]);
    let columns = counts(&input.meta().shape[2..], &windows, false);
    let area: usize = windows.iter().map(|window| window.size).product();
    let shape = [
        batch,
        groups,
        channels / groups * area,
        columns.iter().product(),
    ];
    let unfolded = match windows.iter().all(|window| window.is_one()) {
        true => input,
        false => e.module(ModuleOp::Unfold { input, windows }),
    };
    e.reshape(unfolded, shape.into())
}

/// Weights as a matrix for each group: `[1, groups, channels, rest]`.
fn matrices<E: Emit>(e: &mut E, weight: E::Tensor, groups: usize) -> E::Tensor {
    let shape = &weight.meta().shape;
    let rest = shape[1..].iter().product();
    let shape = [1, groups, shape[0] / groups, rest];
    e.reshape(weight, shape.into())
}

/// An image as a matrix for each group: `[batch, groups, channels, elements]`.
fn grouped<E: Emit>(e: &mut E, input: E::Tensor, groups: usize) -> E::Tensor {
    let shape = &input.meta().shape;
    let elements = shape[2..].iter().product();
    let shape = [shape[0], groups, shape[1] / groups, elements];
    e.reshape(input, shape.into())
}

fn conv<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    weight: E::Tensor,
    windows: Box<[Window]>,
    groups: usize,
) -> E::Tensor {
    let sizes = counts(&input.meta().shape[2..], &windows, false);
    let output = image(input.meta().shape[0], weight.meta().shape[0], &sizes);
    let columns = columns(e, input, windows, groups);
    let weight = matrices(e, weight, groups);
    let product = e.matmul(weight, columns);
    e.reshape(product, output)
}

fn conv_transpose<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    weight: E::Tensor,
    (windows, sizes): (Box<[Window]>, Shape),
    groups: usize,
) -> E::Tensor {
    let rows = weight.meta().shape[1..].iter().product::<usize>() * groups;
    let batch = input.meta().shape[0];
    let input = grouped(e, input, groups);
    let columns = input.meta().shape[3];
    let weight = matrices(e, weight, groups);
    let weight = e.swap_dims(weight, 2, 3);
    let product = e.matmul(weight, input);
    let input = e.reshape(product, [batch, rows, columns].into());
    e.module(ModuleOp::Fold {
        input,
        windows,
        sizes,
    })
}

fn conv_weight<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    grad: E::Tensor,
    windows: Box<[Window]>,
    groups: usize,
) -> E::Tensor {
    let sizes: Shape = windows.iter().map(|window| window.size).collect();
    let (channels, out) = (input.meta().shape[1], grad.meta().shape[1]);
    let columns = columns(e, input, windows, groups);
    let columns = e.swap_dims(columns, 2, 3);
    let grad = grouped(e, grad, groups);
    let products = e.matmul(grad, columns);
    let sum = e.reduce(ReduceOp::Sum, products, Dims::one(0));
    e.reshape(sum, image(out, channels / groups, &sizes))
}

/// Adds a number to each channel.
fn shifted<E: Emit>(e: &mut E, input: E::Tensor, bias: Option<E::Tensor>) -> E::Tensor {
    let Some(bias) = bias else { return input };
    let mut shape = Shape::from(alloc::vec![1; input.meta().rank()]);
    shape[1] = bias.meta().shape[0];
    let bias = e.reshape(bias, shape);
    e.add(input, bias)
}

/// A reduction of each window: `[batch, channels, …]`.
fn max_pool<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    windows: &[Window],
    ceil: bool,
    op: ReduceOp,
) -> E::Tensor {
    let shape = input.meta().shape.clone();
    let counts = counts(&shape[2..], windows, ceil);
    let mut padding = alloc::vec![PadRange::default(); 2];
    let mut inner = Vec::new();
    for ((window, size), count) in windows.iter().zip(&shape[2..]).zip(counts.iter()) {
        let end = (count - 1) * window.stride + window.extent().unwrap_or(0);
        padding.push(PadRange {
            before: window.before,
            between: 0,
            after: end.saturating_sub(size + window.before),
        });
        inner.push(Window {
            before: 0,
            after: 0,
            ..*window
        });
    }
    let padded = e.movement(
        MovementOp::Pad {
            padding: padding.into(),
            value: Scalar::Float(f64::NEG_INFINITY),
        },
        input,
    );
    let columns = columns(e, padded, inner.into(), shape[1]);
    let reduced = e.reduce(op, columns, Dims::one(2));
    e.reshape(reduced, image(shape[0], shape[1], &counts))
}

/// The position in its window of each largest, then that in the image.
fn max_pool_indices<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    windows: &[Window],
    ceil: bool,
    dtype: IntDType,
) -> E::Tensor {
    let sizes: Shape = input.meta().shape[2..].iter().copied().collect();
    let counts = counts(&sizes, windows, ceil);
    let inside = max_pool(e, input, windows, ceil, ReduceOp::ArgMax { dtype });
    let rank = inside.meta().rank();
    let mut total = None;
    let (mut step, mut area) = (1i64, 1usize);
    for dim in (0..sizes.len()).rev() {
        let window = windows[dim];
        let over = e.binary_scalar(BinaryOp::Div, inside.clone(), area as f64);
        let at = e.binary_scalar(BinaryOp::Remainder, over, window.size as f64);
        let at = e.mul_scalar(at, (step * window.dilation as i64) as f64);
        let mut line = Shape::from(alloc::vec![1; rank]);
        line[dim + 2] = counts[dim];
        let starts = e.one(Operation::Create {
            op: CreateOp::Arange {
                start: -(window.before as i64) * step,
                step: window.stride as i64 * step,
                len: counts[dim],
                dtype: dtype.into(),
            },
        });
        let starts = e.reshape(starts, line);
        let position = e.add(at, starts);
        total = Some(match total {
            None => position,
            Some(total) => e.add(total, position),
        });
        step *= sizes[dim] as i64;
        area *= window.size;
    }
    total.expect("an image has spatial dims")
}

fn layer_norm<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    gamma: E::Tensor,
    beta: Option<E::Tensor>,
    epsilon: f64,
) -> E::Tensor {
    let rank = input.meta().rank();
    let last = Dims::one(rank - 1);
    let mut line = Shape::from(alloc::vec![1; rank]);
    line[rank - 1] = gamma.meta().shape[0];
    let mean = e.reduce(ReduceOp::Mean, input.clone(), last);
    let centred = e.sub(input, mean);
    let squares = e.mul(centred.clone(), centred.clone());
    let variance = e.reduce(ReduceOp::Mean, squares, last);
    let variance = e.add_scalar(variance, epsilon);
    let deviation = e.unary(UnaryOp::Sqrt, variance);
    let normal = e.div(centred, deviation);
    let gamma = e.reshape(gamma, line.clone());
    let scaled = e.mul(normal, gamma);
    match beta {
        None => scaled,
        Some(beta) => {
            let beta = e.reshape(beta, line);
            e.add(scaled, beta)
        }
    }
}
