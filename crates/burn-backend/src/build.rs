//! Words for the instructions that lowerings and gradient rules write. Their mistakes are bugs, not errors.

use crate::Emit;
use alloc::boxed::Box;
use burn_ir::{
    ActivationOp, BinaryOp, CompareOp, CreateOp, Described, Dims, IndexOp, ModuleOp, MovementOp,
    Operand, Operation, ReduceOp, ScanOp, SliceRange, TensorMeta, UnaryOp,
};
use burn_std::{BoolStore, DType, IndexingUpdateOp, Kind, Scalar, Shape};

/// A number of the kind of `dtype`.
fn scalar(value: f64, dtype: DType) -> Scalar {
    match dtype.kind() {
        Kind::Float => Scalar::Float(value),
        Kind::Int => Scalar::Int(value as i64),
        Kind::Bool => Scalar::Bool(value != 0.0),
    }
}

/// Every element.
fn whole(shape: &Shape) -> Box<[SliceRange]> {
    shape.iter().map(|size| SliceRange::full(*size)).collect()
}

/// Instructions by name, checked, with a single output.
pub trait Build: Emit {
    /// Sends an instruction with one output.
    ///
    /// # Panics
    /// If it is illegal: the rule or lowering that wrote it is wrong.
    fn one(&mut self, operation: Operation<Self::Tensor>) -> Self::Tensor {
        let checked = operation
            .check()
            .unwrap_or_else(|error| panic!("a rule wrote an illegal instruction: {error}"));
        self.emit(checked).one()
    }

    /// A tensor of one repeated number.
    fn full(&mut self, meta: &TensorMeta, value: f64) -> Self::Tensor {
        let value = scalar(value, meta.dtype);
        self.one(Operation::Create {
            op: CreateOp::Full {
                shape: meta.shape.clone(),
                dtype: meta.dtype,
                value,
            },
        })
    }

    /// An elementwise function.
    fn unary(&mut self, op: UnaryOp, input: Self::Tensor) -> Self::Tensor {
        self.one(Operation::Unary { op, input })
    }

    /// An activation.
    fn activation(&mut self, op: ActivationOp, input: Self::Tensor) -> Self::Tensor {
        self.one(Operation::Activation { op, input })
    }

    /// An elementwise function of two tensors.
    fn binary(&mut self, op: BinaryOp, lhs: Self::Tensor, rhs: Self::Tensor) -> Self::Tensor {
        self.one(Operation::Binary {
            op,
            lhs,
            rhs: Operand::Tensor(rhs),
        })
    }

    /// An elementwise function of a tensor and a number.
    fn binary_scalar(&mut self, op: BinaryOp, lhs: Self::Tensor, rhs: f64) -> Self::Tensor {
        let rhs = scalar(rhs, lhs.meta().dtype).into();
        self.one(Operation::Binary { op, lhs, rhs })
    }

    /// `lhs + rhs`
    fn add(&mut self, lhs: Self::Tensor, rhs: Self::Tensor) -> Self::Tensor {
        self.binary(BinaryOp::Add, lhs, rhs)
    }

    /// `lhs + rhs`
    fn add_scalar(&mut self, lhs: Self::Tensor, rhs: f64) -> Self::Tensor {
        self.binary_scalar(BinaryOp::Add, lhs, rhs)
    }

    /// `lhs - rhs`
    fn sub(&mut self, lhs: Self::Tensor, rhs: Self::Tensor) -> Self::Tensor {
        self.binary(BinaryOp::Sub, lhs, rhs)
    }

    /// `lhs · rhs`
    fn mul(&mut self, lhs: Self::Tensor, rhs: Self::Tensor) -> Self::Tensor {
        self.binary(BinaryOp::Mul, lhs, rhs)
    }

    /// `lhs · rhs`
    fn mul_scalar(&mut self, lhs: Self::Tensor, rhs: f64) -> Self::Tensor {
        self.binary_scalar(BinaryOp::Mul, lhs, rhs)
    }

    /// `lhs / rhs`
    fn div(&mut self, lhs: Self::Tensor, rhs: Self::Tensor) -> Self::Tensor {
        self.binary(BinaryOp::Div, lhs, rhs)
    }

    /// `-input`
    fn neg(&mut self, input: Self::Tensor) -> Self::Tensor {
        self.unary(UnaryOp::Neg, input)
    }

    /// The comparison of two tensors, as native bools.
    fn compare(&mut self, op: CompareOp, lhs: Self::Tensor, rhs: Self::Tensor) -> Self::Tensor {
        self.one(Operation::Compare {
            op,
            lhs,
            rhs: Operand::Tensor(rhs),
            store: BoolStore::Native,
        })
    }

    /// The comparison of a tensor and a number, as native bools.
    fn compare_scalar(&mut self, op: CompareOp, lhs: Self::Tensor, rhs: f64) -> Self::Tensor {
        let rhs = scalar(rhs, lhs.meta().dtype).into();
        self.one(Operation::Compare {
            op,
            lhs,
            rhs,
            store: BoolStore::Native,
        })
    }

    /// `on_true` where `mask`, the number elsewhere.
    fn keep_where(
        &mut self,
        mask: Self::Tensor,
        on_true: Self::Tensor,
        on_false: f64,
    ) -> Self::Tensor {
        let on_false = scalar(on_false, on_true.meta().dtype).into();
        self.one(Operation::Where {
            mask,
            on_true: Operand::Tensor(on_true),
            on_false,
        })
    }

    /// The number where `mask`, `on_false` elsewhere.
    fn replace_where(
        &mut self,
        mask: Self::Tensor,
        on_true: f64,
        on_false: Self::Tensor,
    ) -> Self::Tensor {
        let on_true = scalar(on_true, on_false.meta().dtype).into();
        self.one(Operation::Where {
            mask,
            on_true,
            on_false: Operand::Tensor(on_false),
        })
    }

    /// The same values as another element type.
    fn cast(&mut self, input: Self::Tensor, dtype: DType) -> Self::Tensor {
        match input.meta().dtype == dtype {
            true => input,
            false => self.one(Operation::Cast { input, dtype }),
        }
    }

    /// A reduction.
    fn reduce(&mut self, op: ReduceOp, input: Self::Tensor, dims: Dims) -> Self::Tensor {
        self.one(Operation::Reduce { op, input, dims })
    }

    /// The same elements under another shape.
    fn reshape(&mut self, input: Self::Tensor, shape: Shape) -> Self::Tensor {
        self.movement(MovementOp::Reshape { shape }, input)
    }

    /// Repetition along dims of size 1.
    fn expand(&mut self, input: Self::Tensor, shape: Shape) -> Self::Tensor {
        match input.meta().shape == shape {
            true => input,
            false => self.movement(MovementOp::Expand { shape }, input),
        }
    }

    /// Two dims exchanged.
    fn swap_dims(&mut self, input: Self::Tensor, one: usize, other: usize) -> Self::Tensor {
        let mut axes: Shape = (0..input.meta().rank()).collect();
        axes.swap(one, other);
        self.movement(MovementOp::Permute { axes }, input)
    }

    /// A selection.
    fn slice(&mut self, input: Self::Tensor, ranges: Box<[SliceRange]>) -> Self::Tensor {
        self.movement(MovementOp::Slice { ranges }, input)
    }

    /// One dim backwards.
    fn flip(&mut self, input: Self::Tensor, dim: usize) -> Self::Tensor {
        let mut ranges: Box<[SliceRange]> = whole(&input.meta().shape);
        if let Some(last) = ranges[dim].len.checked_sub(1) {
            ranges[dim] = SliceRange {
                start: last,
                step: -1,
                len: last + 1,
            };
        }
        self.slice(input, ranges)
    }

    /// `len` elements of a dim.
    fn narrow(
        &mut self,
        input: Self::Tensor,
        dim: usize,
        start: usize,
        len: usize,
    ) -> Self::Tensor {
        let mut ranges = whole(&input.meta().shape);
        ranges[dim] = SliceRange {
            start,
            step: 1,
            len,
        };
        self.slice(input, ranges)
    }

    /// Tensors one after the other.
    fn cat(&mut self, dim: usize, inputs: alloc::vec::Vec<Self::Tensor>) -> Self::Tensor {
        self.one(Operation::Cat { dim, inputs })
    }

    /// Elements at positions that are data.
    fn gather(&mut self, op: IndexOp, input: Self::Tensor, indices: Self::Tensor) -> Self::Tensor {
        self.one(Operation::Gather { op, input, indices })
    }

    /// Values written to positions that are data.
    fn scatter(
        &mut self,
        op: IndexOp,
        mode: IndexingUpdateOp,
        [input, indices, values]: [Self::Tensor; 3],
    ) -> Self::Tensor {
        self.one(Operation::Scatter {
            op,
            mode,
            input,
            indices,
            values,
        })
    }

    /// Running values along a dim.
    fn scan(&mut self, op: ScanOp, dim: usize, input: Self::Tensor) -> Self::Tensor {
        self.one(Operation::Scan { op, dim, input })
    }

    /// A movement.
    fn movement(&mut self, op: MovementOp, input: Self::Tensor) -> Self::Tensor {
        self.one(Operation::Movement { op, input })
    }

    /// A matrix product.
    fn matmul(&mut self, lhs: Self::Tensor, rhs: Self::Tensor) -> Self::Tensor {
        self.one(Operation::Matmul { lhs, rhs })
    }

    /// A layer.
    fn module(&mut self, op: ModuleOp<Self::Tensor>) -> Self::Tensor {
        self.one(Operation::Module(Box::new(op)))
    }

    /// Undoes a broadcast: sums over the dims that stretched from `shape`.
    fn sum_to(&mut self, input: Self::Tensor, shape: &Shape) -> Self::Tensor {
        let stretched = |dim: &usize| input.meta().shape[*dim] != shape[*dim];
        let dims: Dims = (0..shape.len()).filter(stretched).collect();
        match dims.is_empty() {
            true => input,
            false => self.reduce(ReduceOp::Sum, input, dims),
        }
    }
}

impl<E: Emit> Build for E {}
