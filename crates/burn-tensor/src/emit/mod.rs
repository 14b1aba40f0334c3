//! The instructions behind the methods, over handles: compiled here once, not in every user crate.
//!
//! Everything that can fail is `#[track_caller]` and calls no closure on the way, so that a panic names the user's
//! line.

pub(crate) mod create;
pub(crate) mod einsum;
pub(crate) mod index;
pub(crate) mod join;
pub(crate) mod movement;
pub(crate) mod one_hot;
pub(crate) mod quant;
pub(crate) mod read;
pub(crate) mod sort;
pub(crate) mod window;

use crate::kind::Kind;
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_backend::{Emit, lower};
use burn_dispatch::{Device, Handle};
use burn_ir::{
    ActivationOp, BinaryOp, Checked, CompareOp, Described, Dims, ModuleOp, Operand, Operation,
    Outputs, ReduceOp, TensorMeta, UnaryOp,
};
use burn_std::{AsIndex, DType, Scalar, Shape, wrap_dim};
use core::fmt::Arguments;

/// Sends an instruction to the device of its first operand.
#[track_caller]
pub(crate) fn run(operation: Operation<Handle>) -> Handle {
    let mut device = None;
    operation.each(&mut |tensor| {
        device.get_or_insert_with(|| tensor.device());
    });
    let device = device.expect("only `create` has no operand, and it is sent elsewhere");
    burn_dispatch::run(device, operation).one()
}

/// Stops at a user's mistake, in the form of [`burn_ir::OperationError`].
#[track_caller]
#[cold]
pub(crate) fn fail(
    operation: &str,
    input: &TensorMeta,
    problem: Arguments<'_>,
    legal: Arguments<'_>,
) -> ! {
    panic!("`{operation}`: {problem}\n  input: {input}\n  legal: {legal}")
}

/// A dim that may count from the end.
#[track_caller]
pub(crate) fn dim(operation: &str, input: &TensorMeta, dim: isize) -> usize {
    match wrap_dim(dim, input.rank()) {
        Ok(dim) => dim,
        Err(_) => fail(
            operation,
            input,
            format_args!("there is no dim {dim}"),
            format_args!("a dim in -{0}..{0}", input.rank()),
        ),
    }
}

/// Dims that may count from the end, each at most once.
#[track_caller]
pub(crate) fn dims(operation: &str, input: &TensorMeta, list: &[isize]) -> Dims {
    let mut dims = Dims::default();
    for entry in list {
        let dim = dim(operation, input, *entry);
        if dims.contains(dim) {
            fail(
                operation,
                input,
                format_args!("dim {dim} is given twice"),
                format_args!("each dim once"),
            );
        }
        dims = dims.iter().chain([dim]).collect();
    }
    dims
}

/// Positions of any integer type.
pub(crate) fn indices<I: AsIndex>(list: &[I]) -> Vec<isize> {
    list.iter().map(|index| index.index()).collect()
}

pub(crate) fn dtype(input: &Handle) -> DType {
    input.meta().dtype
}

/// How a new tensor like `input` stores its elements: as `input` does, or as the device prefers if codes are only known to
/// whoever quantizes.
pub(crate) fn plain_dtype(input: &Handle) -> DType {
    match dtype(input) {
        DType::QFloat(_) => preferred(input, Kind::Float),
        dtype => dtype,
    }
}

pub(crate) fn shape(input: &Handle) -> &Shape {
    &input.meta().shape
}

/// A number as the elements of `input` are.
pub(crate) fn scalar(value: f64, input: &Handle) -> Scalar {
    Scalar::new(value, &dtype(input))
}

/// The element type that the device of `input` prefers for a kind.
pub(crate) fn preferred(input: &Handle, kind: Kind) -> DType {
    kind.dtype(input.device().settings())
}

#[track_caller]
pub(crate) fn unary(op: UnaryOp, input: Handle) -> Handle {
    run(Operation::Unary { op, input })
}

#[track_caller]
pub(crate) fn activation(op: ActivationOp, input: Handle) -> Handle {
    run(Operation::Activation { op, input })
}

#[track_caller]
pub(crate) fn binary(op: BinaryOp, lhs: Handle, rhs: Handle) -> Handle {
    run(Operation::Binary {
        op,
        lhs,
        rhs: Operand::Tensor(rhs),
    })
}

#[track_caller]
pub(crate) fn binary_scalar(op: BinaryOp, lhs: Handle, rhs: Scalar) -> Handle {
    run(Operation::Binary {
        op,
        lhs,
        rhs: rhs.into(),
    })
}

#[track_caller]
pub(crate) fn compare(op: CompareOp, lhs: Handle, rhs: Operand<Handle>) -> Handle {
    let store = lhs.device().settings().bool_dtype;
    run(Operation::Compare {
        op,
        lhs,
        rhs,
        store,
    })
}

/// `on_true` where `mask`, `on_false` elsewhere.
#[track_caller]
pub(crate) fn choose(mask: Handle, on_true: Operand<Handle>, on_false: Operand<Handle>) -> Handle {
    run(Operation::Where {
        mask,
        on_true,
        on_false,
    })
}

#[track_caller]
pub(crate) fn matmul(lhs: Handle, rhs: Handle) -> Handle {
    if dtype(&lhs).is_quantized() || dtype(&rhs).is_quantized() {
        return quant::matmul(lhs, rhs);
    }
    run(Operation::Matmul { lhs, rhs })
}

#[track_caller]
pub(crate) fn module(op: ModuleOp<Handle>) -> Handle {
    run(Operation::Module(Box::new(op)))
}

/// Where the instructions of a lowering go: the user's door, on a device.
struct Door(Device);

impl Emit for Door {
    type Tensor = Handle;

    fn emit(&mut self, operation: Checked<Handle>) -> Outputs<Handle> {
        burn_dispatch::run(self.0, operation.into_parts().0)
    }
}

/// The instructions of a layer's lowering instead of the layer, on the device of `first`.
#[track_caller]
pub(crate) fn lowered(first: &Handle, op: ModuleOp<Handle>) -> Handle {
    let mut door = Door(first.device());
    let operation = Operation::Module(Box::new(op));
    if let Err(error) = operation.infer() {
        panic!("{error}");
    }
    lower(&mut door, operation).one()
}

#[track_caller]
pub(crate) fn cast(input: Handle, dtype: DType) -> Handle {
    match self::dtype(&input) == dtype {
        true => input,
        false => run(Operation::Cast { input, dtype }),
    }
}

/// Truth values: bools as they are, numbers by "not equal to 0".
#[track_caller]
pub(crate) fn truth(input: Handle) -> Handle {
    match dtype(&input).is_bool() {
        true => input,
        false => {
            let zero = scalar(0.0, &input).into();
            compare(CompareOp::NotEqual, input, zero)
        }
    }
}

/// Reduces one dim, which keeps size 1.
#[track_caller]
pub(crate) fn reduce_dim(op: ReduceOp, input: Handle, dim: isize) -> Handle {
    let dims = Dims::one(self::dim(op.name(), input.meta(), dim));
    run(Operation::Reduce { op, input, dims })
}

/// Reduces several dims, which keep size 1.
#[track_caller]
pub(crate) fn reduce_dims(op: ReduceOp, input: Handle, dims: &[isize]) -> Handle {
    let dims = self::dims(op.name(), input.meta(), dims);
    match dims.is_empty() {
        true => input,
        false => run(Operation::Reduce { op, input, dims }),
    }
}

/// Reduces all dims to one element, of rank 1.
#[track_caller]
pub(crate) fn reduce(op: ReduceOp, input: Handle) -> Handle {
    let dims = Dims::all(input.meta().rank());
    let output = match dims.is_empty() {
        true => input,
        false => run(Operation::Reduce { op, input, dims }),
    };
    movement::reshape(output, Shape::new([1]))
}

/// The position of the largest or smallest along one dim, as the device's int type.
#[track_caller]
pub(crate) fn position(largest: bool, input: Handle, dim: isize) -> Handle {
    let dtype = input.device().settings().int_dtype;
    let op = match largest {
        true => ReduceOp::ArgMax { dtype },
        false => ReduceOp::ArgMin { dtype },
    };
    reduce_dim(op, input, dim)
}
