//! Layers. Halves are widened to f32 first and narrowed last, so that results are rounded once; kernels know f32 and f64.

use super::{attention, conv, fold, norm, pool, quant, resample};
use crate::FlexTensor;
use crate::block::Step;
use crate::exec;
use crate::source::Input;
use burn_ir::{ModuleOp, TensorMeta};
use burn_std::DType;

/// Runs a layer.
pub(crate) fn run(op: ModuleOp<FlexTensor>, output: &TensorMeta) -> FlexTensor {
    let is_half = |dtype: DType| matches!(dtype, DType::F16 | DType::BF16);
    let mut half = None;
    let op = op.map(&mut |tensor| match is_half(tensor.dtype()) {
        false => tensor,
        true => {
            half = Some(tensor.dtype());
            cast(tensor, DType::F32)
        }
    });
    if half.is_none() || !is_half(output.dtype) {
        return wide(op, output);
    }
    let described = TensorMeta {
        dtype: DType::F32,
        ..output.clone()
    };
    cast(wide(op, &described), output.dtype)
}

pub(super) fn cast(tensor: FlexTensor, to: DType) -> FlexTensor {
    if tensor.dtype() == to {
        return tensor;
    }
    let step = Step::Cast(tensor.dtype(), to);
    let output = TensorMeta::new(tensor.shape().clone(), to);
    exec::one(step, [Input::Tensor(tensor)], &output)
}

fn wide(op: ModuleOp<FlexTensor>, output: &TensorMeta) -> FlexTensor {
    match op {
        ModuleOp::Conv {
            input,
            weight,
            bias,
            windows,
            groups,
        } => conv::conv(input, weight, bias, (&windows, groups), output),
        ModuleOp::ConvTranspose {
            input,
            weight,
            bias,
            windows,
            groups,
            ..
        } => conv::conv_transpose(input, weight, bias, (&windows, groups), output),
        ModuleOp::ConvWeight {
            input,
            grad,
            windows,
            groups,
        } => conv::conv_weight(input, grad, (&windows, groups), output),
        ModuleOp::Unfold { input, windows } => fold::unfold(input, &windows, output),
        ModuleOp::Fold { input, windows, .. } => fold::fold(input, &windows, output),
        ModuleOp::MaxPool { input, windows, .. } => pool::max(input, &windows, output),
        ModuleOp::MaxPoolIndices { input, windows, .. } => pool::indices(input, &windows, output),
        ModuleOp::Resample {
            input,
            filters,
            adjoint,
            ..
        } => resample::run(input, &filters, adjoint, output),
        ModuleOp::Attention {
            query,
            key,
            value,
            mask,
            bias,
            scores,
        } => attention::run([query, key, value], mask, bias, scores, output),
        ModuleOp::Quantize {
            input,
            scales,
            global,
            scheme,
        } => quant::quantize(input, scales, global, scheme, output),
        ModuleOp::Dequantize { input, .. } => quant::dequantize(input, output),
        ModuleOp::QuantizedMatmul { lhs, rhs, .. } => quant::matmul(lhs, rhs, output),
        ModuleOp::LayerNorm {
            input,
            gamma,
            beta,
            epsilon,
        } => norm::layer_norm(input, gamma, beta, epsilon.elem(), output),
    }
}
