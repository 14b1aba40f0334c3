//! Element type conversion, over blocks. Half precision passes through single precision.

use super::map;
use alloc::vec::Vec;
use burn_std::DType;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// Converts a block.
///
/// # Safety
/// `x` is valid to read for `len` elements of `from`, `out` to write for as many of `to`; they do not overlap.
pub(crate) unsafe fn block(from: DType, to: DType, x: *const u8, out: *mut u8, len: usize) {
    /// # Safety
    /// As the function around it.
    unsafe fn slice<'a, T>(x: *const u8, len: usize) -> &'a [T] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(x.cast(), len) }
    }
    /// # Safety
    /// As the function around it.
    unsafe fn slice_mut<'a, T>(x: *mut u8, len: usize) -> &'a mut [T] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(x.cast(), len) }
    }
    // SAFETY: the caller's promise, and each pair of types is the one that was matched.
    unsafe {
        macro_rules! table {
            ($from:ty) => {
                match to {
                    DType::F64 => table!($from, f64),
                    DType::F32 => table!($from, f32),
                    DType::I64 => table!($from, i64),
                    DType::I32 => table!($from, i32),
                    DType::I16 => table!($from, i16),
                    DType::I8 => table!($from, i8),
                    DType::U64 => table!($from, u64),
                    DType::U32 => table!($from, u32),
                    DType::U16 => table!($from, u16),
                    DType::U8 => table!($from, u8),
                    DType::Bool(_) => {
                        let x = slice::<$from>(x, len);
                        map!(|x: $from| u8::from(x != 0 as $from), x => slice_mut::<u8>(out, len))
                    }
                    DType::F16 => to_half(slice::<$from>(x, len), slice_mut::<f16>(out, len)),
                    DType::BF16 => to_half(slice::<$from>(x, len), slice_mut::<bf16>(out, len)),
                    DType::Flex32 | DType::QFloat(_) => crate::unsupported(to),
                }
            };
            ($from:ty, $to:ty) => {{
                let x = slice::<$from>(x, len);
                map!(|x: $from| x as $to, x => slice_mut::<$to>(out, len))
            }};
        }
        match from {
            DType::F64 => table!(f64),
            DType::F32 if to == DType::F16 || to == DType::BF16 => {
                narrow(to, slice(x, len), out);
            }
            DType::F32 => table!(f32),
            DType::I64 => table!(i64),
            DType::I32 => table!(i32),
            DType::I16 => table!(i16),
            DType::I8 => table!(i8),
            DType::U64 => table!(u64),
            DType::U32 => table!(u32),
            DType::U16 => table!(u16),
            DType::U8 | DType::Bool(_) => table!(u8),
            DType::F16 | DType::BF16 if from == to => {
                core::ptr::copy_nonoverlapping(x, out, len * 2);
            }
            DType::F16 | DType::BF16 => {
                let mut wide = Vec::with_capacity(len);
                wide.resize(len, 0.0f32);
                widen(from, x, &mut wide);
                block(DType::F32, to, wide.as_ptr().cast(), out, len);
            }
            DType::Flex32 | DType::QFloat(_) => crate::unsupported(from),
        }
    }
}

/// A number that half precision is rounded from once: any integer of 16 bits and any float are exact in `f64`.
trait ToF64: Copy {
    fn to_f64(self) -> f64;
}

macro_rules! to_f64 {
    ($($ty:ty)*) => { $(impl ToF64 for $ty { fn to_f64(self) -> f64 { self as f64 } })* };
}
to_f64!(f64 f32 i64 i32 i16 i8 u64 u32 u16 u8);

trait FromF64 {
    fn from_f64(x: f64) -> Self;
}

impl FromF64 for f16 {
    fn from_f64(x: f64) -> Self {
        f16::from_f64(x)
    }
}

impl FromF64 for bf16 {
    fn from_f64(x: f64) -> Self {
        bf16::from_f64(x)
    }
}

fn to_half<T: ToF64, H: FromF64>(x: &[T], out: &mut [H]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = H::from_f64(x.to_f64());
    }
}

/// Half precision to single precision.
///
/// # Safety
/// `dtype` is [`DType::F16`] or [`DType::BF16`], and `x` is valid to read for as many of it as `out` has elements.
pub(crate) unsafe fn widen(dtype: DType, x: *const u8, out: &mut [f32]) {
    match dtype {
        DType::F16 => {
            // SAFETY: the caller's promise.
            let x = unsafe { core::slice::from_raw_parts(x.cast::<f16>(), out.len()) };
            x.convert_to_f32_slice(out);
        }
        _ => {
            // SAFETY: the caller's promise.
            let x = unsafe { core::slice::from_raw_parts(x.cast::<u16>(), out.len()) };
            map!(|x: u16| f32::from_bits(u32::from(x) << 16), x => out);
        }
    }
}

/// Single precision to half precision, rounded to nearest, halves to even.
///
/// # Safety
/// `dtype` is [`DType::F16`] or [`DType::BF16`], and `out` is valid to write for as many of it as `x` has elements.
pub(crate) unsafe fn narrow(dtype: DType, x: &[f32], out: *mut u8) {
    match dtype {
        DType::F16 => {
            // SAFETY: the caller's promise.
            let out = unsafe { core::slice::from_raw_parts_mut(out.cast::<f16>(), x.len()) };
            out.convert_from_f32_slice(x);
        }
        _ => {
            // SAFETY: the caller's promise.
            let out = unsafe { core::slice::from_raw_parts_mut(out.cast::<u16>(), x.len()) };
            map!(round_to_bf16, x => out);
        }
    }
}

/// The upper half of `x`, rounded by what the lower half adds; NaN stays NaN by its quiet bit.
#[inline(always)]
fn round_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let quiet = bits >> 16 | 0x40;
    (if x.is_nan() { quiet } else { rounded }) as u16
}
