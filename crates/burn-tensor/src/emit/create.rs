//! New tensors, on the device and with the element type that the options name.

use super::{compare, movement, sort};
use crate::TensorCreationOptions;
use crate::kind::Kind;
use burn_dispatch::{Device, Handle};
use burn_ir::{BinaryOp, CompareOp, CreateOp, Described, Operand, Operation, ReduceOp, ScanOp};
use burn_std::{DType, Distribution, Scalar, Shape, TensorData};
use core::ops::Range;

#[track_caller]
fn create(device: Device, op: CreateOp) -> Handle {
    burn_dispatch::run(device, Operation::Create { op }).one()
}

/// A tensor of one repeated number of the kind of `dtype`.
#[track_caller]
pub(crate) fn full_on(device: Device, shape: Shape, value: Scalar, dtype: DType) -> Handle {
    create(
        device,
        CreateOp::Full {
            shape,
            dtype,
            value,
        },
    )
}

/// A tensor of one repeated number, described like `input`.
#[track_caller]
pub(crate) fn full_like(input: &Handle, value: Scalar) -> Handle {
    let shape = super::shape(input).clone();
    full_on(input.device(), shape, value, super::plain_dtype(input))
}

#[track_caller]
pub(crate) fn random(
    shape: Shape,
    distribution: Distribution,
    kind: Kind,
    options: TensorCreationOptions,
) -> Handle {
    let dtype = options.resolve(kind);
    create(
        options.device.0,
        CreateOp::Random {
            shape,
            dtype,
            distribution,
        },
    )
}

#[track_caller]
pub(crate) fn random_like(input: &Handle, distribution: Distribution) -> Handle {
    let op = CreateOp::Random {
        shape: super::shape(input).clone(),
        dtype: super::plain_dtype(input),
        distribution,
    };
    create(input.device(), op)
}

#[track_caller]
pub(crate) fn arange(range: Range<i64>, step: usize, options: TensorCreationOptions) -> Handle {
    let Ok(step) = i64::try_from(step) else {
        panic!("`arange`: the step {step} is too large\n  legal: a step that fits an `i64`")
    };
    assert!(
        step > 0,
        "`arange`: the step is 0\n  legal: a step of at least 1"
    );
    // As unsigned, so that the distance of any two ends can be counted.
    let distance = match range.is_empty() {
        true => 0,
        false => range.end.wrapping_sub(range.start).unsigned_abs(),
    };
    let Ok(len) = usize::try_from(distance.div_ceil(step.unsigned_abs())) else {
        panic!("`arange`: {range:?} has too many elements to count")
    };
    let dtype = options.resolve(Kind::Int);
    let start = range.start;
    create(
        options.device.0,
        CreateOp::Arange {
            start,
            step,
            len,
            dtype,
        },
    )
}

/// The positions `0..len`, as the device's int type.
#[track_caller]
pub(crate) fn positions(device: Device, len: usize) -> Handle {
    let dtype = device.settings().int_dtype.into();
    create(
        device,
        CreateOp::Arange {
            start: 0,
            step: 1,
            len,
            dtype,
        },
    )
}

/// Draws positions of the last dim, weighted by its elements, by inverting their running sum.
#[track_caller]
pub(crate) fn categorical(weights: Handle, samples: usize) -> Handle {
    let meta = weights.meta();
    let rank = meta.rank();
    if rank == 0 || meta.shape[rank - 1] == 0 {
        super::fail(
            "categorical",
            meta,
            format_args!("there is no category to draw"),
            format_args!("at least one weight in the last dim"),
        );
    }
    let (categories, last) = (meta.shape[rank - 1], rank as isize - 1);
    let dtype = weights.device().settings().int_dtype.into();
    let sums = sort::scan(ScanOp::Sum, weights, last);
    let mut shape = super::shape(&sums).clone();
    let total = movement::narrow(sums.clone(), rank - 1, categories - 1, 1);
    shape[rank - 1] = samples;
    let draws = create(
        sums.device(),
        CreateOp::Random {
            shape: shape.clone(),
            dtype: super::dtype(&sums),
            distribution: Distribution::Uniform(0.0, 1.0),
        },
    );
    let draws = super::binary(BinaryOp::Mul, draws, total.clone());
    // A product that is rounded up to the whole sum belongs to no category.
    let beyond = compare(
        CompareOp::GreaterEqual,
        draws.clone(),
        Operand::Tensor(total),
    );
    let zero = super::scalar(0.0, &draws).into();
    let draws = super::choose(beyond, zero, Operand::Tensor(draws));
    // A draw falls behind as many categories as have a running sum up to it.
    let column = shape.iter().copied().chain([1]).collect();
    let row = shape[..rank - 1]
        .iter()
        .copied()
        .chain([1, categories])
        .collect();
    let draws = movement::reshape(draws, column);
    let sums = movement::reshape(sums, row);
    let passed = super::cast(
        compare(CompareOp::GreaterEqual, draws, Operand::Tensor(sums)),
        dtype,
    );
    let count = super::reduce_dim(ReduceOp::Sum, passed, -1);
    movement::reshape(count, shape)
}

/// Whether `column - row` stands in a relation to `offset`, in the last two dims of `shape`.
#[track_caller]
pub(crate) fn diagonal(device: Device, shape: Shape, op: CompareOp, offset: i64) -> Handle {
    let rank = shape.len();
    assert!(
        rank >= 2,
        "a diagonal needs rows and columns, and {shape} has rank {rank}\n  legal: at least 2 dims"
    );
    let mut line = Shape::from(alloc::vec![1; rank]);
    line[rank - 1] = shape[rank - 1];
    let columns = movement::reshape(positions(device, shape[rank - 1]), line.clone());
    line[rank - 1] = 1;
    line[rank - 2] = shape[rank - 2];
    let rows = movement::reshape(positions(device, shape[rank - 2]), line);
    let rows = super::binary_scalar(BinaryOp::Add, rows, Scalar::Int(offset));
    let mask = compare(op, columns, Operand::Tensor(rows));
    movement::expand(mask, shape)
}

#[track_caller]
pub(crate) fn from_data(
    data: TensorData,
    rank: usize,
    kind: Kind,
    options: TensorCreationOptions,
) -> Handle {
    assert!(
        data.rank() == rank,
        "`from_data`: the data has shape {} of rank {}, and the tensor has rank {rank}\n  legal: data of the tensor's rank",
        data.shape(),
        data.rank()
    );
    // Codes stay codes where nothing else is asked for and the device has them.
    let stored = data.dtype();
    let keep = stored.is_quantized()
        && kind == Kind::Float
        && options.dtype.is_none()
        && options.device.supports_dtype(stored);
    let dtype = match keep {
        true => stored,
        false => options.resolve(kind),
    };
    options.device.0.upload(data.convert_dtype(dtype))
}
