//! The fuse contract: a group is one kernel.

use crate::ops::group;
use crate::{Cube, CubeDevice, CubeTensor};
use burn_backend::{Backend, FuseBackend, Group};
use burn_ir::{Class, Described, Operation, ReduceOp};

impl FuseBackend for Cube {
    fn fuses<T: Described>(device: &CubeDevice, operation: &Operation<T>) -> bool {
        let fits = match operation {
            // Positions take two reductions.
            Operation::Reduce { op, .. } => {
                !matches!(op, ReduceOp::ArgMax { .. } | ReduceOp::ArgMin { .. })
            }
            Operation::Matmul { .. } => true,
            other => other.class() == Class::Elementwise,
        };
        fits && Self::supports(device, operation)
    }

    fn execute_group(
        device: &CubeDevice,
        group: &Group,
        inputs: Vec<CubeTensor>,
    ) -> Vec<CubeTensor> {
        group::run(device, group, inputs)
    }
}
