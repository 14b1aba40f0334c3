//! Layers. Convolution is linear in its input and in its weight, and so are its adjoints in either: each is the gradient
//! of the others, to any order. Windows, columns and resampling are linear too.

use super::attention::{self, Attention};
use super::{Keep, Kept, Output, Rule, Wanted, quant};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use burn_backend::{Build, Emit};
use burn_ir::{Described, Dims, IndexOp, ModuleOp, ReduceOp, TensorMeta, UnaryOp, Window};
use burn_std::{IndexingUpdateOp, IntDType, Shape};

/// Positions of the operands.
const INPUT: usize = 0;
const WEIGHT: usize = 1;
const BIAS: usize = 2;

pub(super) fn rule<T>(op: &ModuleOp<T>, wanted: Wanted) -> Rule {
    match op {
        ModuleOp::Conv { .. } | ModuleOp::ConvTranspose { .. } | ModuleOp::ConvWeight { .. } => {
            Rule::Pullback(Keep::operands([
                (INPUT, wanted.has(WEIGHT)),
                (WEIGHT, wanted.has(INPUT)),
            ]))
        }
        ModuleOp::Unfold { .. } | ModuleOp::Fold { .. } | ModuleOp::Resample { .. } => {
            Rule::Pullback(Keep::NOTHING)
        }
        ModuleOp::LayerNorm { .. } => {
            Rule::Pullback(Keep::operands([(INPUT, true), (WEIGHT, true)]))
        }
        ModuleOp::MaxPool { .. } => Rule::Pullback(Keep::operands([(INPUT, true)])),
        ModuleOp::Attention { .. } => Rule::Pullback(Keep {
            outputs: true,
            ..Keep::operands([(0, true), (1, true), (2, true), (3, true), (4, true)])
        }),
        ModuleOp::QuantizedMatmul { .. } => quant::product(wanted),
        ModuleOp::MaxPoolIndices { .. }
        | ModuleOp::Quantize { .. }
        | ModuleOp::Dequantize { .. } => Rule::Zero,
    }
}

pub(super) fn pullback<E: Emit>(
    e: &mut E,
    op: ModuleOp<Kept<E::Tensor>>,
    output: Output<E::Tensor>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    match op {
        ModuleOp::Attention {
            query,
            key,
            value,
            mask,
            bias,
            scores,
        } => {
            let attention = Attention {
                operands: [query, key, value],
                mask,
                bias,
                scores,
            };
            attention::pullback(e, attention, output.value(), grad, wanted)
        }
        ModuleOp::Conv { .. } | ModuleOp::ConvTranspose { .. } | ModuleOp::ConvWeight { .. } => {
            convolution(e, op, grad, wanted)
        }
        ModuleOp::Unfold { input, windows } => {
            let sizes = spatial(&input.meta);
            vec![Some(e.module(ModuleOp::Fold {
                input: grad,
                windows,
                sizes,
            }))]
        }
        ModuleOp::Fold { windows, .. } => vec![Some(e.module(ModuleOp::Unfold {
            input: grad,
            windows,
        }))],
        ModuleOp::Resample {
            input,
            filters,
            adjoint,
            ..
        } => {
            let sizes = spatial(&input.meta);
            vec![Some(e.module(ModuleOp::Resample {
                input: grad,
                filters,
                sizes,
                adjoint: !adjoint,
            }))]
        }
        ModuleOp::LayerNorm {
            input,
            gamma,
            beta,
            epsilon,
        } => {
            let mut grads = layer_norm(
                e,
                input.value(),
                gamma.value(),
                epsilon.elem(),
                grad.clone(),
                wanted,
            );
            if beta.is_some() {
                grads.push(wanted.has(BIAS).then(|| onto_last(e, grad)));
            }
            grads
        }
        ModuleOp::MaxPool {
            input,
            windows,
            ceil,
        } => {
            let meta = input.meta.clone();
            let indices = e.module(ModuleOp::MaxPoolIndices {
                input: input.value(),
                windows,
                ceil,
                dtype: IntDType::I32,
            });
            vec![Some(to_largest(e, &meta, indices, grad))]
        }
        ModuleOp::QuantizedMatmul { lhs, rhs, .. } => quant::pullback(e, lhs, rhs, grad, wanted),
        ModuleOp::MaxPoolIndices { .. }
        | ModuleOp::Quantize { .. }
        | ModuleOp::Dequantize { .. } => {
            unreachable!("the rule of `{}` asks for no pullback", op.name())
        }
    }
}

/// The gradient of each maximum at the first position of it, added up where windows share it.
fn to_largest<E: Emit>(
    e: &mut E,
    input: &TensorMeta,
    indices: E::Tensor,
    grad: E::Tensor,
) -> E::Tensor {
    let (batch, channels) = (input.shape[0], input.shape[1]);
    let flat = |sizes: &[usize]| Shape::from([batch, channels, sizes.iter().product()]);
    let windows = flat(&grad.meta().shape[2..]);
    let image = TensorMeta::new(flat(&input.shape[2..]), input.dtype);
    let zeros = e.full(&image, 0.0);
    let indices = e.reshape(indices, windows.clone());
    let grad = e.reshape(grad, windows);
    let op = IndexOp::Elements { dim: 2 };
    let sums = e.scatter(op, IndexingUpdateOp::Add, [zeros, indices, grad]);
    e.reshape(sums, input.shape.clone())
}

fn spatial(meta: &TensorMeta) -> Shape {
    meta.shape[2..].iter().copied().collect()
}

/// How weights slide: what a convolution and its adjoints share.
struct Slide {
    windows: Box<[Window]>,
    groups: usize,
}

impl Slide {
    fn conv<T>(&self, input: T, weight: T) -> ModuleOp<T> {
        ModuleOp::Conv {
            input,
            weight,
            bias: None,
            windows: self.windows.clone(),
            groups: self.groups,
        }
    }

    fn transpose<T>(&self, input: T, weight: T, sizes: Shape) -> ModuleOp<T> {
        ModuleOp::ConvTranspose {
            input,
            weight,
            bias: None,
            windows: self.windows.clone(),
            sizes,
            groups: self.groups,
        }
    }

    fn weight<T>(&self, input: T, grad: T) -> ModuleOp<T> {
        ModuleOp::ConvWeight {
            input,
            grad,
            windows: self.windows.clone(),
            groups: self.groups,
        }
    }
}

fn convolution<E: Emit>(
    e: &mut E,
    op: ModuleOp<Kept<E::Tensor>>,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let (first, second) = (wanted.has(INPUT), wanted.has(WEIGHT));
    let g = grad.clone();
    let (ops, bias) = match op {
        ModuleOp::Conv {
            input,
            weight,
            bias,
            windows,
            groups,
        } => {
            let slide = Slide { windows, groups };
            let sizes = spatial(&input.meta);
            let to_input = first.then(|| slide.transpose(g.clone(), weight.value(), sizes));
            let to_weight = second.then(|| slide.weight(input.value(), g));
            ([to_input, to_weight], bias)
        }
        ModuleOp::ConvTranspose {
            input,
            weight,
            bias,
            windows,
            groups,
            ..
        } => {
            let slide = Slide { windows, groups };
            let to_input = first.then(|| slide.conv(g.clone(), weight.value()));
            let to_weight = second.then(|| slide.weight(g, input.value()));
            ([to_input, to_weight], bias)
        }
        ModuleOp::ConvWeight {
            input,
            grad,
            windows,
            groups,
        } => {
            let slide = Slide { windows, groups };
            let sizes = spatial(&input.meta);
            let to_input = first.then(|| slide.transpose(grad.value(), g.clone(), sizes));
            let to_grad = second.then(|| slide.conv(input.value(), g));
            ([to_input, to_grad], None)
        }
        other => unreachable!("`{}` is no convolution", other.name()),
    };
    let mut grads: Vec<_> = ops
        .into_iter()
        .map(|op| op.map(|op| e.module(op)))
        .collect();
    if bias.is_some() {
        grads.push(wanted.has(BIAS).then(|| onto_channels(e, grad)));
    }
    grads
}

/// Sums over all dims but that of channels.
fn onto_channels<E: Emit>(e: &mut E, input: E::Tensor) -> E::Tensor {
    let others: Dims = (0..input.meta().rank()).filter(|dim| *dim != 1).collect();
    let channels = input.meta().shape[1];
    let sum = e.reduce(ReduceOp::Sum, input, others);
    e.reshape(sum, [channels].into())
}

/// Sums over all dims but the last.
fn onto_last<E: Emit>(e: &mut E, input: E::Tensor) -> E::Tensor {
    let rank = input.meta().rank();
    let last = input.meta().shape[rank - 1];
    let sum = match rank {
        1 => input,
        _ => e.reduce(ReduceOp::Sum, input, (0..rank - 1).collect()),
    };
    e.reshape(sum, [last].into())
}

/// With `x̂ = (x - μ)·r`: `dγ = Σ g·x̂`, and for `h = g·γ` `dx = r·(h - mean(h) - x̂·mean(h·x̂))`.
fn layer_norm<E: Emit>(
    e: &mut E,
    input: E::Tensor,
    gamma: E::Tensor,
    epsilon: f64,
    grad: E::Tensor,
    wanted: Wanted,
) -> Vec<Option<E::Tensor>> {
    let rank = input.meta().rank();
    let last = Dims::one(rank - 1);
    let mean = e.reduce(ReduceOp::Mean, input.clone(), last);
    let centred = e.sub(input, mean);
    let squares = e.mul(centred.clone(), centred.clone());
    let variance = e.reduce(ReduceOp::Mean, squares, last);
    let variance = e.add_scalar(variance, epsilon);
    let deviation = e.unary(UnaryOp::Sqrt, variance);
    let normal = e.div(centred, deviation.clone());
    let to_gamma = wanted.has(WEIGHT).then(|| {
        let product = e.mul(grad.clone(), normal.clone());
        onto_last(e, product)
    });
    let to_input = wanted.has(INPUT).then(|| {
        let mut line = Shape::from(vec![1; rank]);
        line[rank - 1] = gamma.meta().shape[0];
        let gamma = e.reshape(gamma, line);
        let scaled = e.mul(grad, gamma);
        let product = e.mul(scaled.clone(), normal.clone());
        let along = e.reduce(ReduceOp::Mean, product, last);
        let along = e.mul(normal, along);
        let mean = e.reduce(ReduceOp::Mean, scaled.clone(), last);
        let centred = e.sub(scaled, mean);
        let rest = e.sub(centred, along);
        e.div(rest, deviation)
    });
    vec![to_input, to_gamma]
}
