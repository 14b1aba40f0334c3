//! One elementwise instruction on one block: its leaf and element types, and no shapes.

use crate::ops::binary::{Mapped, Shape, Side};
use crate::ops::{activation, binary, cast, compare, select, unary};
use crate::parallel::NANOSECOND;
use crate::simd::{Real, dispatch};
use burn_ir::{ActivationOp, BinaryOp, CompareOp, Described, Operation, UnaryOp};
use burn_std::DType;

/// The most elements that a block of a program with intermediate results has: a few blocks of 4-byte elements then
/// fit into the 32 KiB of a small first-level cache.
pub(crate) const BLOCK: usize = 1024;

/// The most operands that a step has.
pub(crate) const ARGS: usize = 4;

/// An elementwise instruction with everything that its kernel depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A function on elements of a type.
    Unary(UnaryOp, DType),
    /// An activation on elements of a type.
    Activation(ActivationOp, DType),
    /// A function of two on elements of a type.
    Binary(BinaryOp, DType),
    /// A sum, difference, product or quotient of two operands in single or double precision, each of them `x`, `x²` or `√x`
    /// of a tensor, times a number, plus a number: the operands are a tensor, its two numbers, the other tensor and its
    /// numbers. Each operation is rounded, so that it gives the bits of the instructions that it stands for. The output may
    /// lie where one of the tensors does.
    Mapped(BinaryOp, [Shape; 2], DType),
    /// A comparison of elements of a type.
    Compare(CompareOp, DType),
    /// A choice between elements of a size in bytes.
    Where(usize),
    /// A conversion from one type to another.
    Cast(DType, DType),
}

impl Step {
    /// The step for an instruction whose output has elements of `output`, if it is elementwise.
    pub(crate) fn new<T: Described>(operation: &Operation<T>, output: DType) -> Option<Self> {
        match operation {
            Operation::Cast { input, dtype } => Some(Self::Cast(input.meta().dtype, *dtype)),
            Operation::Unary { op, .. } => Some(Self::Unary(*op, output)),
            Operation::Binary { op, .. } => Some(Self::Binary(*op, output)),
            Operation::Compare { op, lhs, .. } => Some(Self::Compare(*op, lhs.meta().dtype)),
            Operation::Where { .. } => Some(Self::Where(output.size())),
            Operation::Activation { op, .. } => match op {
                ActivationOp::Relu | ActivationOp::Gelu | ActivationOp::Sigmoid => {
                    Some(Self::Activation(*op, output))
                }
                ActivationOp::Softmax { .. } | ActivationOp::LogSoftmax { .. } => None,
            },
            Operation::Create { .. }
            | Operation::Reduce { .. }
            | Operation::Movement { .. }
            | Operation::Matmul { .. }
            | Operation::Module(_)
            | Operation::Cat { .. }
            | Operation::SliceAssign { .. }
            | Operation::Gather { .. }
            | Operation::Scatter { .. }
            | Operation::Scan { .. }
            | Operation::Sort { .. }
            | Operation::Argwhere { .. } => None,
        }
    }

    /// What computing one element costs beyond touching it, as bytes of memory traffic in the same time.
    pub(crate) fn cost(self) -> usize {
        let (cheap, dtype) = match self {
            Self::Unary(op, dtype) => {
                let simple = [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Sign, UnaryOp::Not];
                (simple.contains(&op), dtype)
            }
            Self::Activation(op, dtype) => (op == ActivationOp::Relu, dtype),
            Self::Binary(op, dtype) => {
                let hard = [BinaryOp::Pow, BinaryOp::Div, BinaryOp::Remainder];
                (!hard.contains(&op), dtype)
            }
            // Vectors in either precision.
            Self::Mapped(op, shapes, dtype) => {
                let roots = shapes.into_iter().filter(|shape| *shape == Shape::Root);
                let hard = usize::from(op == BinaryOp::Div) + roots.count();
                return hard * dtype.size() * NANOSECOND / 8;
            }
            Self::Compare(_, dtype) | Self::Cast(dtype, _) => (true, dtype),
            Self::Where(_) => return 0,
        };
        match (cheap, dtype) {
            (true, DType::F16 | DType::BF16) => NANOSECOND,
            (true, _) => 0,
            // One library call an element, where vectors do several at once.
            (false, DType::F64) => 8 * NANOSECOND,
            (false, _) => NANOSECOND,
        }
    }

    /// Runs the step on a block.
    ///
    /// # Safety
    /// As many `args` as the instruction has operands are valid to read for `len` elements of its type, `out` is
    /// valid to write for as many of the output's; all are aligned, and `out` overlaps no argument. For
    /// [`Mapped`](Self::Mapped), numbers are [`Numbers`], of any alignment, and `out` may be one of the tensors.
    pub(crate) unsafe fn run(self, args: [*const u8; ARGS], out: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Unary(op, dtype) if is_half(dtype) => {
                    half(Self::Unary(op, DType::F32), dtype, args, out, len);
                }
                Self::Activation(op, dtype) if is_half(dtype) => {
                    half(Self::Activation(op, DType::F32), dtype, args, out, len);
                }
                Self::Binary(op, dtype) if is_half(dtype) => {
                    half(Self::Binary(op, DType::F32), dtype, args, out, len);
                }
                Self::Compare(op, dtype) if is_half(dtype) => {
                    half(Self::Compare(op, DType::F32), dtype, args, out, len);
                }
                Self::Unary(op, dtype) => run_unary(op, dtype, args[0], out, len),
                Self::Activation(op, dtype) => run_activation(op, dtype, args[0], out, len),
                Self::Binary(op, dtype) => run_binary(op, dtype, args[0], args[1], out, len),
                Self::Mapped(op, shapes, dtype) => run_mapped((op, shapes), dtype, args, out, len),
                Self::Compare(op, dtype) => run_compare(op, dtype, args[0], args[1], out, len),
                Self::Where(size) => run_where(size, [args[0], args[1], args[2]], out, len),
                Self::Cast(from, to) => cast::block(from, to, args[0], out, len),
            }
        }
    }
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// A view of the caller's block.
///
/// # Safety
/// As [`Step::run`].
unsafe fn slice<'a, T>(x: *const u8, len: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts(x.cast(), len) }
}

/// A view of the caller's block.
///
/// # Safety
/// As [`Step::run`].
unsafe fn slice_mut<'a, T>(x: *mut u8, len: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { core::slice::from_raw_parts_mut(x.cast(), len) }
}

/// Runs a step of single precision on blocks of half precision.
///
/// # Safety
/// As [`Step::run`], with elements of `dtype`.
#[inline(never)]
unsafe fn half(step: Step, dtype: DType, args: [*const u8; ARGS], out: *mut u8, len: usize) {
    const PART: usize = 256;
    let mut wide = [[0.0f32; PART]; 3];
    let count = match step {
        Step::Binary(..) | Step::Compare(..) => 2,
        _ => 1,
    };
    for start in (0..len).step_by(PART) {
        let len = PART.min(len - start);
        let [x, y, z] = &mut wide;
        // SAFETY: the caller's promise; the buffers hold a part each.
        unsafe {
            for (arg, wide) in args.into_iter().zip([&mut *x, &mut *y]).take(count) {
                cast::widen(dtype, arg.add(2 * start), &mut wide[..len]);
            }
            let (x, y) = (x.as_ptr().cast(), y.as_ptr().cast());
            let wide = [x, y, core::ptr::null(), core::ptr::null()];
            if let Step::Compare(..) = step {
                step.run(wide, out.add(start), len);
            } else {
                step.run(wide, z.as_mut_ptr().cast(), len);
                cast::narrow(dtype, &z[..len], out.add(2 * start));
            }
        }
    }
}

/// Runs `$go!(type)` for the element type, bools as bytes.
macro_rules! any_type {
    ($dtype:expr, $go:ident) => {
        match $dtype {
            DType::F64 => $go!(f64),
            DType::F32 => $go!(f32),
            DType::I64 => $go!(i64),
            DType::I32 => $go!(i32),
            DType::I16 => $go!(i16),
            DType::I8 => $go!(i8),
            DType::U64 => $go!(u64),
            DType::U32 => $go!(u32),
            DType::U16 => $go!(u16),
            DType::U8 | DType::Bool(_) => $go!(u8),
            DType::F16 | DType::BF16 => unreachable!("half precision is computed in f32"),
            DType::Flex32 | DType::QFloat(_) => $crate::unsupported($dtype),
        }
    };
}

/// # Safety
/// As [`Step::run`].
unsafe fn run_unary(op: UnaryOp, dtype: DType, x: *const u8, out: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if let DType::Bool(_) = dtype {
            // The only function of bools is `not`, and a bool is a byte of 0 or 1.
            let (x, out) = (slice::<u8>(x, len), slice_mut::<u8>(out, len));
            crate::ops::map!(|x| x ^ 1, x => out);
            return;
        }
        macro_rules! go {
            ($ty:ty) => {
                dispatch(unary::Block {
                    op,
                    x: slice::<$ty>(x, len),
                    out: slice_mut(out, len),
                })
            };
        }
        any_type!(dtype, go)
    }
}

/// # Safety
/// As [`Step::run`].
unsafe fn run_activation(op: ActivationOp, dtype: DType, x: *const u8, out: *mut u8, len: usize) {
    macro_rules! go {
        ($ty:ty) => {
            dispatch(activation::Block {
                op,
                x: slice::<$ty>(x, len),
                out: slice_mut(out, len),
            })
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            DType::F64 => go!(f64),
            _ => go!(f32),
        }
    }
}

/// # Safety
/// As [`Step::run`].
unsafe fn run_binary(
    op: BinaryOp,
    dtype: DType,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
    len: usize,
) {
    macro_rules! go {
        ($ty:ty) => {
            dispatch(binary::Block {
                op,
                lhs: slice::<$ty>(lhs, len),
                rhs: slice(rhs, len),
                out: slice_mut(out, len),
            })
        };
    }
    // SAFETY: the caller's promise.
    unsafe { any_type!(dtype, go) }
}

/// What an operand of [`Step::Mapped`] is multiplied by, and what is added to it: an element each, at the front.
pub(crate) type Numbers = [[u8; 8]; 2];

/// # Safety
/// As [`Step::run`] for [`Step::Mapped`].
unsafe fn run_mapped(
    (op, shapes): (BinaryOp, [Shape; 2]),
    dtype: DType,
    [lhs, lhs_numbers, rhs, rhs_numbers]: [*const u8; ARGS],
    out: *mut u8,
    len: usize,
) {
    /// # Safety
    /// As the function around it.
    unsafe fn typed<T: num_traits::Float + Real>(
        op: BinaryOp,
        sides: [(*const u8, *const u8, Shape); 2],
        out: *mut u8,
        len: usize,
    ) {
        let sides = sides.map(|(from, numbers, shape)| {
            let number = |at: usize| {
                let bytes = numbers.wrapping_add(at * size_of::<[u8; 8]>());
                // SAFETY: the caller's promise.
                unsafe { bytes.cast::<T>().read_unaligned() }
            };
            Side {
                from: from.cast(),
                shape,
                scale: number(0),
                shift: number(1),
            }
        });
        let out = out.cast();
        T::vectors(Mapped {
            op,
            sides,
            out,
            len,
        });
    }
    let [left, right] = shapes;
    let sides = [(lhs, lhs_numbers, left), (rhs, rhs_numbers, right)];
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            DType::F64 => typed::<f64>(op, sides, out, len),
            _ => typed::<f32>(op, sides, out, len),
        }
    }
}

/// # Safety
/// As [`Step::run`].
unsafe fn run_compare(
    op: CompareOp,
    dtype: DType,
    lhs: *const u8,
    rhs: *const u8,
    out: *mut u8,
    len: usize,
) {
    macro_rules! go {
        ($ty:ty) => {
            dispatch(compare::Block {
                op,
                lhs: slice::<$ty>(lhs, len),
                rhs: slice(rhs, len),
                out: slice_mut(out, len),
            })
        };
    }
    // SAFETY: the caller's promise.
    unsafe { any_type!(dtype, go) }
}

/// # Safety
/// As [`Step::run`].
unsafe fn run_where(
    size: usize,
    [mask, on_true, on_false]: [*const u8; 3],
    out: *mut u8,
    len: usize,
) {
    macro_rules! go {
        ($ty:ty) => {
            dispatch(select::Block {
                mask: slice(mask, len),
                on_true: slice::<$ty>(on_true, len),
                on_false: slice(on_false, len),
                out: slice_mut(out, len),
            })
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => go!(u8),
            2 => go!(u16),
            4 => go!(u32),
            _ => go!(u64),
        }
    }
}
