//! Quantization: scales from floats, and products of codes.

use super::{create, movement, plain_dtype, run};
use crate::kind::Kind;
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_ir::{BinaryOp, Described, Dims, ModuleOp, MovementOp, Operation, ReduceOp, UnaryOp};
use burn_std::quantization::{
    BlockLayout, Calibration, QuantScheme, ScaleDtype, global_scale_dtype,
};
use burn_std::{DType, FloatDType, Shape};

/// Elements grouped by what shares a scale: `[blocks, elements of a block]`
#[track_caller]
fn blocks(scheme: &QuantScheme, input: Handle) -> Handle {
    let shape = super::shape(&input).clone();
    let Some(size) = scheme.block_size() else {
        return movement::reshape(input, Shape::new([1, shape.num_elements()]));
    };
    let fits = size.as_slice().len() <= shape.len();
    if !fits || !BlockLayout::new(&shape, &size).divides() {
        super::fail(
            "compute_range",
            input.meta(),
            format_args!("blocks of {size:?} do not fill the tensor"),
            format_args!("at most as many sizes of a block as dims, each a divisor of its dim"),
        );
    }
    let layout = BlockLayout::new(&shape, &size);
    let (grid, block) = (layout.grid(), layout.block());
    let pairs = grid
        .iter()
        .zip(block)
        .flat_map(|(blocks, size)| [*blocks, *size]);
    let split = movement::reshape(input, pairs.collect());
    let rank = shape.len();
    let axes = (0..rank)
        .map(|dim| 2 * dim)
        .chain((0..rank).map(|dim| 2 * dim + 1));
    let op = MovementOp::Permute {
        axes: axes.collect(),
    };
    let apart = run(Operation::Movement { op, input: split });
    movement::reshape(
        apart,
        Shape::new([grid.num_elements(), block.num_elements()]),
    )
}

/// The least and the greatest value of what shares a scale, each `[blocks]`.
#[track_caller]
pub(crate) fn range(scheme: &QuantScheme, input: Handle, by: &Calibration) -> [Handle; 2] {
    let grouped = blocks(scheme, super::cast(input, DType::F32));
    let count = Shape::new([super::shape(&grouped)[0]]);
    if super::shape(&grouped).num_elements() == 0 {
        // Nothing to fit: the range of nothing but 0.
        let zeros = || {
            let value = super::scalar(0.0, &grouped);
            create::full_on(grouped.device(), count.clone(), value, DType::F32)
        };
        return [zeros(), zeros()];
    }
    let over = |op: ReduceOp, input: Handle| {
        let dims = Dims::one(1);
        movement::reshape(run(Operation::Reduce { op, input, dims }), count.clone())
    };
    match by {
        Calibration::MinMax => [
            over(ReduceOp::Min, grouped.clone()),
            over(ReduceOp::Max, grouped),
        ],
        Calibration::AbsMean => {
            let mean = over(ReduceOp::Mean, super::unary(UnaryOp::Abs, grouped));
            [super::unary(UnaryOp::Neg, mean.clone()), mean]
        }
    }
}

#[track_caller]
fn scaled(input: Handle, factor: f64) -> Handle {
    let factor = super::scalar(factor, &input);
    super::binary_scalar(BinaryOp::Mul, input, factor)
}

/// At least the smallest normal number, so that nothing is divided by 0.
#[track_caller]
fn positive(input: Handle) -> Handle {
    let least = super::scalar(f32::MIN_POSITIVE.into(), &input);
    super::binary_scalar(BinaryOp::Max, input, least)
}

/// The scales under which ranges, symmetric around 0, fill the codes; and the scale of all scales.
///
/// The scale of scales leaves them the whole range of a narrow type, which has no others to spare.
#[track_caller]
pub(crate) fn params(scheme: &QuantScheme, [min, max]: [Handle; 2]) -> (Handle, Option<Handle>) {
    let far = super::binary(
        BinaryOp::Max,
        super::unary(UnaryOp::Abs, min),
        super::unary(UnaryOp::Abs, max),
    );
    let (low, high) = scheme.value.range();
    let codes = super::scalar(f64::from(high - low) / 2.0, &far);
    let scales = positive(super::binary_scalar(BinaryOp::Div, far, codes));
    if global_scale_dtype(scheme).is_none() {
        return (scales, None);
    }
    let largest = match scheme.scale_dtype() {
        ScaleDtype::UE4M3 => 448.0,
        ScaleDtype::F16 => 65504.0,
        ScaleDtype::F32 | ScaleDtype::BF16 | ScaleDtype::UE8M0 => 1.0,
    };
    let op = ReduceOp::Max;
    let dims = Dims::one(0);
    let all = run(Operation::Reduce {
        op,
        input: scales.clone(),
        dims,
    });
    let global = positive(scaled(all, 1.0 / largest));
    let scales = super::binary(BinaryOp::Div, scales, global.clone());
    (scales, Some(global))
}

#[track_caller]
pub(crate) fn quantize(
    scheme: QuantScheme,
    input: Handle,
    (scales, global): (Handle, Option<Handle>),
) -> Handle {
    run(Operation::Module(Box::new(ModuleOp::Quantize {
        input,
        scales,
        global,
        scheme,
    })))
}

/// The floats that codes stand for, as the device prefers floats; floats as they are.
#[track_caller]
pub(crate) fn dequantize(input: Handle) -> Handle {
    match super::dtype(&input) {
        DType::QFloat(_) => {
            let dtype: FloatDType = plain_dtype(&input).into();
            run(Operation::Module(Box::new(ModuleOp::Dequantize {
                input,
                dtype,
            })))
        }
        _ => input,
    }
}

/// A product of which one side is quantized; it has the element type of the other, or what the device prefers.
#[track_caller]
pub(crate) fn matmul(lhs: Handle, rhs: Handle) -> Handle {
    let sides: Vec<DType> = [&lhs, &rhs].map(super::dtype).into();
    let plain = sides.into_iter().find(DType::is_float);
    let dtype = plain.unwrap_or_else(|| super::preferred(&lhs, Kind::Float));
    let dtype = dtype.into();
    run(Operation::Module(Box::new(ModuleOp::QuantizedMatmul {
        lhs,
        rhs,
        dtype,
    })))
}
