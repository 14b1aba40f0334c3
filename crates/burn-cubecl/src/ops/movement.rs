//! The same elements in another arrangement: views where strides can say it, copies elsewhere.

use super::group::launch;
use super::plan::Plan;
use crate::{CubeDevice, CubeTensor};
use burn_ir::{Described, MovementOp, PadRange, SliceRange, TensorMeta};
use burn_std::Scalar;

/// Runs a movement.
pub(crate) fn run(
    device: &CubeDevice,
    op: MovementOp,
    input: CubeTensor,
    output: TensorMeta,
) -> CubeTensor {
    match op {
        MovementOp::Reshape { .. } => match input.reshape(output.clone()) {
            Ok(view) => view,
            Err(input) => copy(device, input)
                .reshape(output)
                .expect("row-major elements lie evenly under all sizes"),
        },
        MovementOp::Permute { axes } => input.permute(&axes, output),
        MovementOp::Expand { .. } => input.expand(output),
        MovementOp::Slice { ranges } => input.slice(&ranges, output),
        MovementOp::Pad { padding, value } => pad(device, &padding, value, input, output),
    }
}

/// The tensor as the first elements of a buffer, in row-major order.
pub(crate) fn plain(device: &CubeDevice, tensor: CubeTensor) -> CubeTensor {
    match tensor.is_plain() {
        true => tensor,
        false => copy(device, tensor),
    }
}

fn copy(device: &CubeDevice, tensor: CubeTensor) -> CubeTensor {
    if let Some(copied) = super::transpose::copy(device, &tensor) {
        return copied;
    }
    let meta = tensor.meta().clone();
    let mut outputs = launch(device, Plan::copy(meta.dtype), &[], &[tensor], vec![meta]);
    outputs.pop().expect("a copy has one output")
}

/// Fills, then writes the elements to their places.
fn pad(
    device: &CubeDevice,
    padding: &[PadRange],
    value: Scalar,
    input: CubeTensor,
    output: TensorMeta,
) -> CubeTensor {
    let filled = super::create::full(device, value, output.clone());
    let ranges: Vec<SliceRange> = padding
        .iter()
        .zip(input.meta().shape.iter())
        .map(|(pad, size)| SliceRange {
            start: pad.before,
            step: pad.between as isize + 1,
            len: *size,
        })
        .collect();
    let target = filled.clone().slice(&ranges, input.meta().clone());
    super::scatter::write(device, input, target);
    filled
}
