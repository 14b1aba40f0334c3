//! The instruction, its operands and its classes. What each family means is in [`op`](crate::op).

use crate::op::{
    ActivationOp, BinaryOp, CompareOp, CreateOp, IndexOp, ModuleOp, MovementOp, ReduceOp, ScanOp,
    SliceRange, SortOp, UnaryOp, activation, assign, binary, cast, cat, compare, create, index,
    matmul, module, movement, reduce, scan, select, sort, unary,
};
use crate::{Described, Dims, OperationError, Outputs, Problem, TensorMeta};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_std::{BoolStore, DType, FloatDType, IndexingUpdateOp, IntDType, Scalar};
use serde::{Deserialize, Serialize};

/// One tensor instruction. `T` is whatever stands for a tensor where the instruction lives: a buffer in a backend, a
/// node on a tape, an id in a stream, a description in a check.
///
/// Operands are named; attributes carry no tensor. Output types that depend on a device's settings are attributes too,
/// so that an instruction alone says what it yields.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operation<T> {
    /// A tensor from nothing.
    Create {
        /// What to make.
        op: CreateOp,
    },
    /// The same values as another element type.
    Cast {
        /// The values.
        input: T,
        /// The element type of the output.
        dtype: DType,
    },
    /// One elementwise function.
    Unary {
        /// The function.
        op: UnaryOp,
        /// Its argument.
        input: T,
    },
    /// One elementwise function of two arguments, which broadcast.
    Binary {
        /// The function.
        op: BinaryOp,
        /// The left argument.
        lhs: T,
        /// The right argument, of the same element type.
        rhs: Operand<T>,
    },
    /// One elementwise comparison, which broadcasts.
    Compare {
        /// The relation.
        op: CompareOp,
        /// The left side.
        lhs: T,
        /// The right side, of the same element type.
        rhs: Operand<T>,
        /// How the output stores its truth values.
        store: BoolStore,
    },
    /// Elementwise choice, which broadcasts.
    Where {
        /// Where to take from.
        mask: T,
        /// Taken where `mask` is true.
        on_true: Operand<T>,
        /// Taken where `mask` is false.
        on_false: Operand<T>,
    },
    /// One value for each group of elements that differ in `dims` only; reduced dims keep size 1.
    Reduce {
        /// The value.
        op: ReduceOp,
        /// The elements.
        input: T,
        /// The dims to reduce.
        dims: Dims,
    },
    /// The same elements in another arrangement.
    Movement {
        /// The arrangement.
        op: MovementOp,
        /// The elements.
        input: T,
    },
    /// The matrix product over the last two dims; leading dims are batches and broadcast.
    Matmul {
        /// `[…, m, k]`
        lhs: T,
        /// `[…, k, n]`
        rhs: T,
    },
    /// A function with a lowering, named because kernels can do better than its parts.
    Activation {
        /// The function.
        op: ActivationOp,
        /// Its argument.
        input: T,
    },
    /// Tensors one after the other along a dim. Has a lowering.
    Cat {
        /// The dim along which sizes add up.
        dim: usize,
        /// At least one tensor; equal element types, and equal sizes in every other dim.
        inputs: Vec<T>,
    },
    /// A selection of `input` replaced by `values`. Has a lowering.
    SliceAssign {
        /// One selection a dim.
        ranges: Box<[SliceRange]>,
        /// The elements that stay.
        input: T,
        /// The elements of the selection, of its shape.
        values: Operand<T>,
    },
    /// Elements of `input` at positions that are data.
    ///
    /// A position outside its dim is a mistake that only whoever reads the indices can find. Every engine reports it
    /// with [`OperationError::out_of_range`], eager ones at once, and never reads beyond its tensors.
    Gather {
        /// How indices name positions.
        op: IndexOp,
        /// The elements.
        input: T,
        /// The positions. Int.
        indices: T,
    },
    /// `input` with `values` written to positions that are data, in row-major order of `values`: positions that repeat
    /// are updated again, and the last value assigned stays.
    ///
    /// A position outside its dim is a mistake as in [`Operation::Gather`].
    Scatter {
        /// How indices name positions.
        op: IndexOp,
        /// What a value does to the element that is there. Of bools the sum is "or" and the product "and".
        mode: IndexingUpdateOp,
        /// The elements before.
        input: T,
        /// The positions. Int.
        indices: T,
        /// The values, of the shape that [`Operation::Gather`] would give, and the element type of `input`.
        values: T,
    },
    /// Each element replaced by a value of the elements up to it along a dim.
    Scan {
        /// The value.
        op: ScanOp,
        /// The dim.
        dim: usize,
        /// The elements.
        input: T,
    },
    /// The first `len` elements of each line along a dim in order. Equal elements, -0 and 0 among them, stay in the
    /// order of their positions; NaN is above everything.
    Sort {
        /// What to give of the ordered elements.
        op: SortOp,
        /// The dim.
        dim: usize,
        /// Whether the largest is first.
        descending: bool,
        /// The number of elements to give, at most the size of the dim.
        len: usize,
        /// The elements. Float or int.
        input: T,
    },
    /// The positions of the true elements in row-major order: `[count, rank]`.
    Argwhere {
        /// The number of true elements, which whoever writes the instruction has read.
        count: usize,
        /// The element type of the output.
        dtype: IntDType,
        /// The truth values.
        mask: T,
    },
    /// A layer, behind a box because its attributes are many.
    Module(Box<ModuleOp<T>>),
}

/// An argument: a tensor, or a scalar that the kernel broadcasts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand<T> {
    /// A tensor.
    Tensor(T),
    /// A number of the same kind as the tensor it meets.
    Scalar(Scalar),
}

/// Whether an instruction stands on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Every backend implements it.
    Primitive,
    /// It has a lowering to primitives; a backend implements it where that pays.
    Composite,
}

/// How an instruction walks memory: what a fused kernel needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Output element `i` depends on element `i` of each (broadcast) operand only.
    Elementwise,
    /// Output elements depend on groups of input elements.
    Reduction,
    /// Output elements are input elements elsewhere.
    Movement,
    /// Compute-bound work that a fused kernel may build on.
    Anchor,
    /// Reads or changes state beyond its operands; its place in the stream matters.
    Barrier,
}

/// The traversal code of the families: one row for each, with its attributes, its tensor operands, its operands that may
/// be scalars, and its list of tensors, if it has one. Layers have their own table in [`module`].
macro_rules! operands {
    ($($family:ident { $($attribute:ident),* } => [$($tensor:ident),*] [$($operand:ident),*] $($list:ident)?;)*) => {
        impl<T> Operation<T> {
            /// Replaces each tensor, in operand order.
            pub fn map<U>(self, f: &mut dyn FnMut(T) -> U) -> Operation<U> {
                match self {
                    $(Self::$family { $($attribute,)* $($tensor,)* $($operand,)* $($list,)? } => Operation::$family {
                        $($tensor: f($tensor),)*
                        $($operand: $operand.map(f),)*
                        $($list: $list.into_iter().map(&mut *f).collect(),)?
                        $($attribute,)*
                    },)*
                    Self::Module(op) => Operation::Module(Box::new(op.map(f))),
                }
            }

            /// Replaces each tensor, from a reference, in operand order.
            pub fn map_ref<'a, U>(&'a self, f: &mut dyn FnMut(&'a T) -> U) -> Operation<U> {
                match self {
                    $(Self::$family { $($attribute,)* $($tensor,)* $($operand,)* $($list,)? } => Operation::$family {
                        $($tensor: f($tensor),)*
                        $($operand: $operand.map_ref(f),)*
                        $($list: $list.iter().map(&mut *f).collect(),)?
                        $($attribute: $attribute.clone(),)*
                    },)*
                    Self::Module(op) => Operation::Module(Box::new(op.map_ref(f))),
                }
            }

            /// Visits each tensor, in operand order.
            pub fn each<'a>(&'a self, f: &mut dyn FnMut(&'a T)) {
                match self {
                    $(Self::$family { $($tensor,)* $($operand,)* $($list,)? .. } => {
                        $(f($tensor);)*
                        $(if let Operand::Tensor(tensor) = $operand { f(tensor) })*
                        $($list.iter().for_each(&mut *f);)?
                    })*
                    Self::Module(op) => op.each(f),
                }
            }
        }
    };
}

// Rows without attributes or operands leave the visitor unused.
#[allow(unused_variables)]
mod table {
    use super::{Box, Operand, Operation};

    operands! {
        Create { op } => [] [];
        Cast { dtype } => [input] [];
        Unary { op } => [input] [];
        Binary { op } => [lhs] [rhs];
        Compare { op, store } => [lhs] [rhs];
        Where { } => [mask] [on_true, on_false];
        Reduce { op, dims } => [input] [];
        Movement { op } => [input] [];
        Matmul { } => [lhs, rhs] [];
        Activation { op } => [input] [];
        Cat { dim } => [] [] inputs;
        SliceAssign { ranges } => [input] [values];
        Gather { op } => [input, indices] [];
        Scatter { op, mode } => [input, indices, values] [];
        Scan { op, dim } => [input] [];
        Sort { op, dim, descending, len } => [input] [];
        Argwhere { count, dtype } => [mask] [];
    }
}

impl<T> Operand<T> {
    fn map<U>(self, f: &mut dyn FnMut(T) -> U) -> Operand<U> {
        match self {
            Self::Tensor(tensor) => Operand::Tensor(f(tensor)),
            Self::Scalar(scalar) => Operand::Scalar(scalar),
        }
    }

    fn map_ref<'a, U>(&'a self, f: &mut dyn FnMut(&'a T) -> U) -> Operand<U> {
        match self {
            Self::Tensor(tensor) => Operand::Tensor(f(tensor)),
            Self::Scalar(scalar) => Operand::Scalar(*scalar),
        }
    }

    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&T> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Scalar(_) => None,
        }
    }
}

impl<T> From<Scalar> for Operand<T> {
    fn from(scalar: Scalar) -> Self {
        Self::Scalar(scalar)
    }
}

impl<T> Operation<T> {
    /// The name in errors, traces and prints.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create { op } => op.name(),
            Self::Cast { .. } => "cast",
            Self::Unary { op, .. } => op.name(),
            Self::Binary { op, .. } => op.name(),
            Self::Compare { op, .. } => op.name(),
            Self::Where { .. } => "where",
            Self::Reduce { op, .. } => op.name(),
            Self::Movement { op, .. } => op.name(),
            Self::Matmul { .. } => "matmul",
            Self::Activation { op, .. } => op.name(),
            Self::Cat { .. } => "cat",
            Self::SliceAssign { .. } => "slice_assign",
            Self::Gather { op, .. } => op.gather_name(),
            Self::Scatter { op, .. } => op.scatter_name(),
            Self::Scan { op, .. } => op.name(),
            Self::Sort { op, .. } => op.name(),
            Self::Argwhere { .. } => "argwhere",
            Self::Module(op) => op.name(),
        }
    }

    /// Whether the instruction stands on its own.
    pub fn tier(&self) -> Tier {
        match self {
            Self::Module(op) => op.tier(),
            Self::Activation { .. } | Self::Cat { .. } | Self::SliceAssign { .. } => {
                Tier::Composite
            }
            Self::Create { .. }
            | Self::Cast { .. }
            | Self::Unary { .. }
            | Self::Binary { .. }
            | Self::Compare { .. }
            | Self::Where { .. }
            | Self::Reduce { .. }
            | Self::Movement { .. }
            | Self::Matmul { .. }
            | Self::Gather { .. }
            | Self::Scatter { .. }
            | Self::Scan { .. }
            | Self::Sort { .. }
            | Self::Argwhere { .. } => Tier::Primitive,
        }
    }

    /// How the instruction walks memory.
    pub fn class(&self) -> Class {
        match self {
            Self::Create { .. } => Class::Barrier,
            Self::Cast { .. }
            | Self::Unary { .. }
            | Self::Binary { .. }
            | Self::Compare { .. }
            | Self::Where { .. } => Class::Elementwise,
            Self::Activation { op, .. } => op.class(),
            Self::Reduce { .. }
            | Self::Scatter { .. }
            | Self::Scan { .. }
            | Self::Sort { .. }
            | Self::Argwhere { .. } => Class::Reduction,
            Self::Movement { .. }
            | Self::Cat { .. }
            | Self::SliceAssign { .. }
            | Self::Gather { .. } => Class::Movement,
            Self::Matmul { .. } => Class::Anchor,
            Self::Module(op) => op.class(),
        }
    }
}

impl<T: Described> Operation<T> {
    /// Describes the outputs, in output order, or says why there are none.
    ///
    /// Depends on nothing but the instruction.
    ///
    /// # Errors
    /// [`OperationError`] names the operation, its operands and what would be legal.
    pub fn infer(&self) -> Result<Outputs<TensorMeta>, OperationError> {
        let output = match self {
            Self::Create { op } => create::infer(op),
            Self::Cast { input, dtype } => cast::infer(input.meta(), *dtype),
            Self::Unary { op, input } => unary::infer(*op, input.meta()),
            Self::Binary { op, lhs, rhs } => binary::infer(*op, lhs.meta(), &meta(rhs)),
            Self::Compare {
                op,
                lhs,
                rhs,
                store,
            } => compare::infer(*op, lhs.meta(), &meta(rhs), *store),
            Self::Where {
                mask,
                on_true,
                on_false,
            } => select::infer(mask.meta(), &meta(on_true), &meta(on_false)),
            Self::Reduce { op, input, dims } => reduce::infer(*op, input.meta(), *dims),
            Self::Movement { op, input } => movement::infer(op, input.meta()),
            Self::Matmul { lhs, rhs } => matmul::infer(lhs.meta(), rhs.meta()),
            Self::Activation { op, input } => activation::infer(*op, input.meta()),
            Self::Cat { dim, inputs } => cat::infer(*dim, &mut inputs.iter().map(T::meta)),
            Self::SliceAssign {
                ranges,
                input,
                values,
            } => assign::infer(ranges, input.meta(), &meta(values)),
            Self::Gather { op, input, indices } => index::gather(*op, input.meta(), indices.meta()),
            Self::Scatter {
                op,
                input,
                indices,
                values,
                ..
            } => index::scatter(*op, input.meta(), indices.meta(), values.meta()),
            Self::Scan { op, dim, input } => scan::infer(*op, *dim, input.meta()),
            Self::Sort {
                op,
                dim,
                len,
                input,
                ..
            } => sort::infer(*op, *dim, *len, input.meta()),
            Self::Argwhere { count, dtype, mask } => index::argwhere(*count, *dtype, mask.meta()),
            Self::Module(op) => module::infer(op),
        };
        match output {
            Ok(output) if output.dtype.is_quantized() && !self.yields_codes() => {
                let problem = Problem::OutputKind {
                    found: output.dtype,
                    expected: "any, not quantized",
                };
                Err(OperationError::new(self.name(), Vec::new(), problem))
            }
            output => output.map(Outputs::One),
        }
    }

    /// Whether the instruction can give quantized elements: those that move them where they keep their scales, and what makes
    /// them.
    fn yields_codes(&self) -> bool {
        matches!(self, Self::Movement { .. } | Self::Module(_))
    }

    /// The instruction on the floats that its quantized operands stand for, each of which `run` makes from the instruction
    /// that gives them.
    ///
    /// The floats are of the element type of a plain float among the operands, or else of `dtype`.
    ///
    /// # Errors
    /// The instruction as it is, if it has no quantized operand or takes them as they are.
    pub fn dequantized(
        self,
        dtype: FloatDType,
        run: &mut dyn FnMut(Operation<T>) -> T,
    ) -> Result<Self, Self> {
        let takes = |op: &ModuleOp<T>| {
            use ModuleOp::{Dequantize, QuantizedMatmul};
            matches!(op, Dequantize { .. } | QuantizedMatmul { .. })
        };
        let (mut quantized, mut plain) = (false, None);
        self.each(&mut |operand| {
            let dtype = operand.meta().dtype;
            quantized |= dtype.is_quantized();
            if dtype.is_float() {
                plain.get_or_insert(FloatDType::from(dtype));
            }
        });
        if !quantized || matches!(&self, Self::Module(op) if takes(op)) {
            return Err(self);
        }
        let dtype = plain.unwrap_or(dtype);
        Ok(self.map(&mut |operand| match operand.meta().dtype {
            DType::QFloat(_) => {
                let input = operand;
                run(Self::Module(Box::new(ModuleOp::Dequantize {
                    input,
                    dtype,
                })))
            }
            _ => operand,
        }))
    }

    /// Pairs the instruction with its outputs; the only way to get a [`Checked`].
    ///
    /// # Errors
    /// As [`Operation::infer`].
    pub fn check(self) -> Result<Checked<T>, OperationError> {
        self.try_check().map_err(|failed| failed.1)
    }

    /// As [`Operation::check`]; gives an illegal instruction back.
    ///
    /// # Errors
    /// The instruction and what is wrong with it.
    #[inline]
    pub fn try_check(self) -> Result<Checked<T>, Box<(Self, OperationError)>> {
        match self.infer() {
            Ok(outputs) => Ok(Checked {
                operation: self,
                outputs,
            }),
            Err(error) => Err(Box::new((self, error))),
        }
    }
}

fn meta<T: Described>(operand: &Operand<T>) -> Operand<&TensorMeta> {
    operand.map_ref(&mut |tensor| tensor.meta())
}

/// An instruction whose outputs are known. Nothing below the check infers or checks again.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<T> {
    operation: Operation<T>,
    outputs: Outputs<TensorMeta>,
}

impl<T> Checked<T> {
    /// The instruction.
    #[inline]
    pub fn operation(&self) -> &Operation<T> {
        &self.operation
    }

    /// The descriptions of its outputs.
    #[inline]
    pub fn outputs(&self) -> &Outputs<TensorMeta> {
        &self.outputs
    }

    /// The instruction and the descriptions of its outputs.
    #[inline]
    pub fn into_parts(self) -> (Operation<T>, Outputs<TensorMeta>) {
        (self.operation, self.outputs)
    }

    /// Replaces each tensor, from a reference, as [`Checked::map`] does.
    pub fn map_ref<'a, U>(&'a self, f: &mut dyn FnMut(&'a T) -> U) -> Checked<U> {
        Checked {
            operation: self.operation.map_ref(f),
            outputs: self.outputs.clone(),
        }
    }

    /// Replaces each tensor, in operand order; the replacement must have the same description.
    #[inline]
    pub fn map<U>(self, f: &mut dyn FnMut(T) -> U) -> Checked<U> {
        Checked {
            operation: self.operation.map(f),
            outputs: self.outputs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_over_boxed_handles_stays_small() {
        type Handle = alloc::boxed::Box<dyn core::any::Any>;
        assert!(
            size_of::<Operation<Handle>>() <= 128,
            "{}",
            size_of::<Operation<Handle>>()
        );
    }

    #[test]
    fn mapping_keeps_operand_order_and_attributes() {
        let op = Operation::Where {
            mask: 1,
            on_true: Operand::Tensor(2),
            on_false: Operand::Tensor(3),
        };
        let mut seen = alloc::vec::Vec::new();
        op.each(&mut |tensor| seen.push(*tensor));
        assert_eq!(seen, [1, 2, 3]);
        let mapped = op.map(&mut |tensor| tensor * 10);
        assert_eq!(
            mapped,
            Operation::Where {
                mask: 10,
                on_true: Operand::Tensor(20),
                on_false: Operand::Tensor(30)
            }
        );
    }
}
