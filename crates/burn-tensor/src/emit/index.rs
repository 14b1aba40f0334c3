//! Positions that are data, and the positions of what is true.

use super::{cast, movement, read, reduce, run, shape};
use alloc::vec::Vec;
use burn_dispatch::Handle;
use burn_ir::{Described, IndexOp, Operation, ReduceOp};
use burn_std::{DType, ExecutionError, IndexingUpdateOp, Shape};
use core::future::Future;

/// Each index names one element along `dim`.
#[track_caller]
pub(crate) fn elements(name: &str, input: &Handle, dim: isize) -> IndexOp {
    let dim = super::dim(name, input.meta(), dim);
    IndexOp::Elements { dim }
}

/// Each index names a part along `dim`.
#[track_caller]
pub(crate) fn parts(name: &str, input: &Handle, dim: isize) -> IndexOp {
    let dim = super::dim(name, input.meta(), dim);
    IndexOp::Select { dim }
}

#[track_caller]
pub(crate) fn gather(op: IndexOp, input: Handle, indices: Handle) -> Handle {
    run(Operation::Gather { op, input, indices })
}

#[track_caller]
pub(crate) fn scatter(
    op: IndexOp,
    mode: IndexingUpdateOp,
    input: Handle,
    indices: Handle,
    values: Handle,
) -> Handle {
    run(Operation::Scatter {
        op,
        mode,
        input,
        indices,
        values,
    })
}

/// The parts that indices of any shape name along a dim, in their shape.
#[track_caller]
pub(crate) fn take(input: Handle, dim: isize, indices: Handle) -> Handle {
    let dim = super::dim("take", input.meta(), dim);
    let (sizes, named) = (shape(&input), shape(&indices));
    let before = sizes[..dim].iter().chain(named.iter());
    let to: Shape = before.chain(&sizes[dim + 1..]).copied().collect();
    let count = named.num_elements();
    let indices = movement::reshape(indices, Shape::new([count]));
    movement::reshape(gather(IndexOp::Select { dim }, input, indices), to)
}

/// The number of true elements, on the device.
#[track_caller]
fn true_count(mask: Handle) -> Handle {
    let dtype = match i32::try_from(shape(&mask).num_elements()) {
        Ok(_) => DType::I32,
        Err(_) => DType::I64,
    };
    reduce(ReduceOp::Sum, cast(mask, dtype))
}

/// The number of true elements, read from the device.
#[track_caller]
pub(crate) fn count(name: &str, mask: &Handle) -> usize {
    let data = read::try_read(true_count(mask.clone()));
    number(name, data)
}

/// The number of true elements, when the device has it.
#[track_caller]
pub(crate) fn count_async(
    name: &'static str,
    mask: &Handle,
) -> impl Future<Output = usize> + Send + use<> {
    let reading = read::download(true_count(mask.clone()));
    async move { number(name, reading.await) }
}

#[track_caller]
fn number(name: &str, data: Result<burn_std::TensorData, ExecutionError>) -> usize {
    match data {
        Ok(data) => data.iter::<u64>().sum::<u64>() as usize,
        Err(error) => panic!("`{name}`: the number of true elements cannot be read: {error}"),
    }
}

/// The positions of the true elements, of which there are `count`.
#[track_caller]
pub(crate) fn argwhere(mask: Handle, count: usize) -> Handle {
    let dtype = mask.device().settings().int_dtype;
    run(Operation::Argwhere { count, dtype, mask })
}

/// The positions of the true elements, one tensor a dim.
#[track_caller]
pub(crate) fn nonzero(mask: Handle, count: usize) -> Vec<Handle> {
    let rank = mask.meta().rank();
    let positions = argwhere(mask, count);
    let mut columns = Vec::with_capacity(rank);
    for dim in 0..rank {
        let column = movement::narrow(positions.clone(), 1, dim, 1);
        columns.push(movement::reshape(column, Shape::new([count])));
    }
    columns
}

/// The mask in the shape of what it selects from.
#[track_caller]
pub(crate) fn mask(input: &Handle, mask: Handle) -> Handle {
    movement::expand(mask, shape(input).clone())
}

/// The elements where `mask`, which has their shape and `count` true elements.
#[track_caller]
pub(crate) fn mask_select(input: Handle, mask: Handle, count: usize) -> Handle {
    let all = Shape::new([shape(&input).num_elements()]);
    let places = argwhere(movement::reshape(mask, all.clone()), count);
    let places = movement::reshape(places, Shape::new([count]));
    let input = movement::reshape(input, all);
    gather(IndexOp::Select { dim: 0 }, input, places)
}
