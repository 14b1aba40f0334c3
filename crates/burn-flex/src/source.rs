//! What a program of elementwise steps reads, and how it is brought before them block by block.

use crate::FlexTensor;
use crate::block::BLOCK;
use crate::parallel::Shared;
use crate::rows::{Rows, broadcast};
use crate::tensor::pack;
use alloc::boxed::Box;
use burn_ir::Operand;
use burn_std::{DType, Scalar, Shape};
use core::ops::Range;
use smallvec::SmallVec;

/// What a program reads.
#[derive(Debug)]
pub(crate) enum Input {
    /// A tensor, which broadcasts to the shape of the program.
    Tensor(FlexTensor),
    /// The bytes of one element, which every position reads.
    Scalar([u8; 8], usize),
}

impl Default for Input {
    /// What is left where an input was taken.
    fn default() -> Self {
        Self::Scalar([0; 8], 1)
    }
}

impl Input {
    /// An operand; a scalar as the elements that it meets are stored.
    pub(crate) fn new(operand: Operand<FlexTensor>, dtype: DType) -> Self {
        match operand {
            Operand::Tensor(tensor) => Self::Tensor(tensor),
            Operand::Scalar(value) => Self::Scalar(element(value, dtype), dtype.size()),
        }
    }
}

/// The bytes of one element, at the front.
pub(crate) fn element(value: Scalar, dtype: DType) -> [u8; 8] {
    let mut bytes = [0; 8];
    macro_rules! write {
        ($value:expr) => {{
            let value = $value.to_ne_bytes();
            bytes[..value.len()].copy_from_slice(&value);
        }};
    }
    match dtype {
        DType::F64 => write!(value.elem::<f64>()),
        DType::F32 => write!(value.elem::<f32>()),
        DType::F16 => write!(value.elem::<half::f16>()),
        DType::BF16 => write!(value.elem::<half::bf16>()),
        DType::I64 => write!(value.elem::<i64>()),
        DType::I32 => write!(value.elem::<i32>()),
        DType::I16 => write!(value.elem::<i16>()),
        DType::I8 => write!(value.elem::<i8>()),
        DType::U64 => write!(value.elem::<u64>()),
        DType::U32 => write!(value.elem::<u32>()),
        DType::U16 => write!(value.elem::<u16>()),
        DType::U8 => write!(value.elem::<u8>()),
        DType::Bool(_) => write!(u8::from(value.elem::<bool>())),
        DType::Flex32 | DType::QFloat(_) => crate::unsupported(dtype),
    }
    bytes
}

/// The longest row that is copied to a slot to be repeated.
const CYCLE: usize = 2 * BLOCK;

/// How blocks of an input are found.
#[derive(Debug)]
pub(crate) enum Source {
    /// Side by side in the order of the program.
    Linear { from: Shared<u8>, size: usize },
    /// As before, but an output overwrites them: copied to a slot first.
    Staged {
        from: Shared<u8>,
        size: usize,
        slot: usize,
    },
    /// One element again and again: a slot is filled with it once.
    Repeated {
        from: Shared<u8>,
        size: usize,
        slot: usize,
    },
    /// A short row again and again, such as a bias: a slot is filled with it once, and blocks start anywhere in it.
    Cyclic {
        from: Shared<u8>,
        size: usize,
        slot: usize,
        len: usize,
    },
    /// Anything else: copied to a slot where they are not side by side.
    Strided {
        from: Shared<u8>,
        size: usize,
        slot: usize,
        rows: Box<Rows>,
    },
}

impl Source {
    pub(crate) fn new(
        input: &Input,
        shape: &Shape,
        order: Option<&[usize]>,
        staged: bool,
        slots: &mut usize,
    ) -> Self {
        let mut slot = || {
            *slots += 1;
            *slots - 1
        };
        let tensor = match input {
            Input::Scalar(bytes, size) => {
                return Self::Repeated {
                    from: Shared(bytes.as_ptr().cast_mut()),
                    size: *size,
                    slot: slot(),
                };
            }
            Input::Tensor(tensor) => tensor,
        };
        let size = tensor.dtype().size();
        // Positions of the layout are inside the storage, so this stays inside too.
        let at = |position: isize| {
            Shared(
                tensor
                    .bytes()
                    .as_ptr()
                    .wrapping_offset(position * size as isize)
                    .cast_mut(),
            )
        };
        let layout = tensor.layout();
        let first = at(layout.offset as isize);
        if staged {
            return Self::Staged {
                from: first,
                size,
                slot: slot(),
            };
        }
        if order.is_none() && tensor.shape() == shape && tensor.is_contiguous() {
            return Self::Linear { from: first, size };
        }
        let strides = broadcast(tensor.shape(), &layout.strides, shape);
        let rows = match order {
            None => Rows::new(shape, &strides, layout.offset),
            Some(order) => {
                let sizes: SmallVec<[usize; 4]> = order.iter().map(|dim| shape[*dim]).collect();
                let strides: SmallVec<[isize; 4]> = order.iter().map(|dim| strides[*dim]).collect();
                Rows::new(&sizes, &strides, layout.offset)
            }
        };
        Self::of_rows(rows, [at(0), first], size, &mut slot)
    }

    /// Elements of `rows`, whose positions count from the first address; the second is that of the first element.
    fn of_rows(
        rows: Rows,
        [base, first]: [Shared<u8>; 2],
        size: usize,
        slot: &mut dyn FnMut() -> usize,
    ) -> Self {
        match rows.dims() {
            [(_, 1)] => Self::Linear { from: first, size },
            [(_, 0)] => Self::Repeated {
                from: first,
                size,
                slot: slot(),
            },
            [(_, 0), (len, 1)] if *len <= CYCLE => Self::Cyclic {
                from: first,
                size,
                slot: slot(),
                len: *len,
            },
            _ => Self::Strided {
                from: base,
                size,
                slot: slot(),
                rows: Box::new(rows),
            },
        }
    }

    /// Where it is read and the size of an element, if that is memory that goes on and on.
    pub(crate) fn stream(&self) -> Option<(Shared<u8>, usize)> {
        match self {
            Self::Linear { from, size } | Self::Staged { from, size, .. } => Some((*from, *size)),
            Self::Repeated { .. } | Self::Cyclic { .. } | Self::Strided { .. } => None,
        }
    }

    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Linear { size, .. }
            | Self::Staged { size, .. }
            | Self::Repeated { size, .. }
            | Self::Cyclic { size, .. }
            | Self::Strided { size, .. } => *size,
        }
    }

    /// Brings elements side by side if they are not, and says where they are.
    pub(crate) fn find(&self, part: Range<usize>, slot: &dyn Fn(usize) -> *mut u8) -> *const u8 {
        match self {
            Self::Linear { from, size } => from.get().wrapping_add(part.start * size),
            Self::Repeated { slot: at, .. } => slot(*at),
            Self::Cyclic {
                size,
                slot: at,
                len,
                ..
            } => slot(*at).wrapping_add(part.start % len * size),
            Self::Staged {
                from,
                size,
                slot: at,
            } => {
                let to = slot(*at);
                // SAFETY: the source holds the range and the slot a block; slots overlap nothing.
                unsafe {
                    let from = from.get().add(part.start * size);
                    from.copy_to_nonoverlapping(to, part.len() * size);
                }
                to
            }
            Self::Strided {
                from,
                size,
                slot: at,
                rows,
            } => {
                let (columns, stride) = rows.inner();
                if stride == 1 && part.start % columns + part.len() <= columns {
                    return from
                        .get()
                        .wrapping_offset(rows.at(part.start) * *size as isize);
                }
                let (from, to) = (from.get(), slot(*at));
                // SAFETY: rows of a tensor are inside its storage; the slot holds a block and overlaps nothing.
                unsafe {
                    match size {
                        1 => pack::<u8>(rows, part, from, to),
                        2 => pack::<u16>(rows, part, from.cast(), to.cast()),
                        4 => pack::<u32>(rows, part, from.cast(), to.cast()),
                        _ => pack::<u64>(rows, part, from.cast(), to.cast()),
                    }
                }
                to
            }
        }
    }
}

/// Repeats the element at `from`.
///
/// # Safety
/// `from` is readable for `size` bytes, and `to`, which is aligned for them, writable for `len` times as many.
pub(crate) unsafe fn fill(from: *const u8, size: usize, to: *mut u8, len: usize) {
    /// # Safety
    /// As the function around it.
    unsafe fn typed<T: Copy>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: the caller's promise. The bytes of a scalar have no alignment.
        unsafe {
            let value = from.cast::<T>().read_unaligned();
            core::slice::from_raw_parts_mut(to.cast::<T>(), len).fill(value);
        }
    }
    // SAFETY: as above.
    unsafe {
        match size {
            1 => typed::<u8>(from, to, len),
            2 => typed::<u16>(from, to, len),
            4 => typed::<u32>(from, to, len),
            _ => typed::<u64>(from, to, len),
        }
    }
}
