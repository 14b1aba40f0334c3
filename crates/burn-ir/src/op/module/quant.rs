//! Floats as codes of few bits and back, and products that read codes.

use super::infer::{Check, Inferred};
use crate::op::{FLOAT, matmul};
use crate::{OperationError, Problem, TensorMeta};
use alloc::format;
use burn_std::quantization::{
    BlockLayout, QuantScheme, global_scale_dtype, params_shape, quantizable,
};
use burn_std::{DType, FloatDType, Shape};

const QUANTIZED: &str = "quantized float";

pub(super) fn quantize(
    name: &'static str,
    scheme: QuantScheme,
    input: &TensorMeta,
    scales: &TensorMeta,
    global: Option<&TensorMeta>,
) -> Inferred {
    let mut operands = alloc::vec![("input", input), ("scales", scales)];
    operands.extend(global.map(|global| ("global", global)));
    OperationError::require(name, FLOAT, &operands)?;
    let check = Check { name, operands };
    check.ensure(quantizable(&scheme), || {
        let found = format!("codes of {:?} cannot be stored yet", scheme.value);
        (found, "integer codes, Q8, Q4 and Q2".into())
    })?;
    blocks(&check, &scheme, &input.shape)?;
    let count = params_shape(&input.shape, &scheme).num_elements();
    check.shape("scales", Some(scales), &[count])?;
    check.shape("global", global, &[1])?;
    let levels = global_scale_dtype(&scheme).is_some();
    check.ensure(global.is_some() == levels, || {
        (
            format!("the scheme has {} levels", scheme.num_levels()),
            "a scale of all scales for a scheme of two levels, and for no other".into(),
        )
    })?;
    check.output(input.shape.clone(), DType::QFloat(scheme))
}

/// That blocks are whole, so that an element's block is known from its position alone, wherever it is moved.
fn blocks(check: &Check<'_>, scheme: &QuantScheme, shape: &Shape) -> Result<(), OperationError> {
    let Some(size) = scheme.block_size() else {
        return Ok(());
    };
    let divides = size.as_slice().len() <= shape.len() && BlockLayout::new(shape, &size).divides();
    check.ensure(divides, || {
        (
            format!("blocks of {size:?} do not fill {shape}"),
            "at most as many sizes of a block as dims, each a divisor of its dim".into(),
        )
    })
}

pub(super) fn dequantize(name: &'static str, input: &TensorMeta, dtype: FloatDType) -> Inferred {
    let check = Check {
        name,
        operands: alloc::vec![("input", input)],
    };
    if !input.dtype.is_quantized() {
        return Err(check.problem(Problem::OperandKind {
            operand: "input",
            found: input.dtype,
            expected: QUANTIZED,
        }));
    }
    check.output(input.shape.clone(), dtype.into())
}

pub(super) fn product(
    name: &'static str,
    lhs: &TensorMeta,
    rhs: &TensorMeta,
    dtype: FloatDType,
) -> Inferred {
    let check = Check {
        name,
        operands: alloc::vec![("lhs", lhs), ("rhs", rhs)],
    };
    let dtype = DType::from(dtype);
    let sides = [("lhs", lhs), ("rhs", rhs)];
    if let Some((operand, meta)) = sides
        .iter()
        .find(|(_, side)| !side.dtype.is_quantized() && side.dtype != dtype)
    {
        return Err(check.problem(Problem::OperandKind {
            operand,
            found: meta.dtype,
            expected: "quantized float, or of the output's type",
        }));
    }
    if sides.iter().all(|(_, side)| !side.dtype.is_quantized()) {
        return Err(check.problem(Problem::OperandKind {
            operand: "rhs",
            found: rhs.dtype,
            expected: QUANTIZED,
        }));
    }
    // The rules of sizes are those of any product.
    let plain = |side: &TensorMeta| TensorMeta::new(side.shape.clone(), dtype);
    matmul::infer(&plain(lhs), &plain(rhs)).map_err(|error| check.problem(error.problem().clone()))
}
