//! Running values and order.

use super::index::gather;
use super::{choose, compare, fail, movement, position, run, shape};
use burn_dispatch::Handle;
use burn_ir::{CompareOp, Described, IndexOp, Operand, Operation, ScanOp, SortOp};

#[track_caller]
pub(crate) fn scan(op: ScanOp, input: Handle, dim: isize) -> Handle {
    let dim = super::dim(op.name(), input.meta(), dim);
    run(Operation::Scan { op, dim, input })
}

/// A part of the order of the elements along a dim.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    dim: usize,
    descending: bool,
    len: usize,
}

impl Order {
    /// All elements.
    #[track_caller]
    pub(crate) fn full(name: &str, input: &Handle, dim: isize, descending: bool) -> Self {
        let dim = super::dim(name, input.meta(), dim);
        Self {
            dim,
            descending,
            len: shape(input)[dim],
        }
    }

    /// The `len` largest, largest first.
    #[track_caller]
    pub(crate) fn largest(name: &str, input: &Handle, dim: isize, len: usize) -> Self {
        let all = Self::full(name, input, dim, true);
        if len > all.len {
            fail(
                name,
                input.meta(),
                format_args!("dim {} has no {len} elements", all.dim),
                format_args!("at most {}", all.len),
            );
        }
        Self { len, ..all }
    }

    #[track_caller]
    fn run(self, op: SortOp, input: Handle) -> Handle {
        run(Operation::Sort {
            op,
            dim: self.dim,
            descending: self.descending,
            len: self.len,
            input,
        })
    }

    #[track_caller]
    pub(crate) fn values(self, input: Handle) -> Handle {
        self.run(SortOp::Values, input)
    }

    #[track_caller]
    pub(crate) fn indices(self, input: Handle) -> Handle {
        let dtype = input.device().settings().int_dtype;
        self.run(SortOp::Indices { dtype }, input)
    }

    #[track_caller]
    pub(crate) fn both(self, input: Handle) -> (Handle, Handle) {
        let indices = self.indices(input.clone());
        let op = IndexOp::Elements { dim: self.dim };
        (gather(op, input, indices.clone()), indices)
    }
}

/// The median along a dim, the lower one of two, and its position; the first NaN if there is one.
#[track_caller]
pub(crate) fn median(input: Handle, dim: isize) -> (Handle, Handle) {
    let order = Order::full("median", &input, dim, false);
    let dim = order.dim;
    let Some(last) = order.len.checked_sub(1) else {
        fail(
            "median",
            input.meta(),
            format_args!("dim {dim} has size 0, there is nothing to choose from"),
            format_args!("at least one element"),
        )
    };
    let len = last / 2 + 1;
    let lower = Order { len, ..order }.indices(input.clone());
    let lower = movement::narrow(lower, dim, len - 1, 1);
    // The position of the largest is that of the first NaN.
    let largest = position(true, input.clone(), dim as isize);
    let op = IndexOp::Elements { dim };
    let value = gather(op, input.clone(), largest.clone());
    let is_nan = compare(CompareOp::NotEqual, value.clone(), Operand::Tensor(value));
    let indices = choose(is_nan, Operand::Tensor(largest), Operand::Tensor(lower));
    (gather(op, input, indices.clone()), indices)
}
