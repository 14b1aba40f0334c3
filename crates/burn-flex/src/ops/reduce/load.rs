//! Elements as accumulators and back: the only code here that knows how elements are stored.

use super::acc::Acc;
use crate::simd::simd;
use alloc::vec::Vec;
use burn_std::{Bytes, bf16, f16};
use bytemuck::{Pod, Zeroable};
use half::slice::HalfFloatSliceExt;

/// How an element is stored.
pub(crate) trait Leaf: Pod + Send + Sync {
    /// What it accumulates in.
    type Acc: Acc;
    /// Whether elements are accumulators already.
    const NATIVE: bool;
    /// The element as an accumulator.
    fn lift(self) -> Self::Acc;
    /// The nearest element; integers keep their lower bits.
    fn lower(acc: Self::Acc) -> Self;
    /// Lifts elements side by side.
    #[inline(always)]
    fn lift_all(elems: &[Self], accs: &mut [Self::Acc]) {
        for (acc, elem) in accs.iter_mut().zip(elems) {
            *acc = elem.lift();
        }
    }
    /// Lowers accumulators side by side.
    #[inline(always)]
    fn lower_all(accs: &[Self::Acc], elems: &mut [Self]) {
        for (elem, acc) in elems.iter_mut().zip(accs) {
            *elem = Self::lower(*acc);
        }
    }
}

macro_rules! leaf {
    ($($ty:ty => $acc:ty, $native:literal;)+) => {
        $(impl Leaf for $ty {
            type Acc = $acc;
            const NATIVE: bool = $native;
            #[inline(always)]
            fn lift(self) -> $acc {
                self as $acc
            }
            #[inline(always)]
            fn lower(acc: $acc) -> Self {
                acc as $ty
            }
        })+
    };
}

leaf! {
    f64 => f64, true;
    f32 => f32, true;
    i64 => i64, true;
    i32 => i64, false;
    i16 => i64, false;
    i8 => i64, false;
    u64 => u64, true;
    u32 => u64, false;
    u16 => u64, false;
    u8 => u64, false;
}

impl Leaf for f16 {
    type Acc = f32;
    const NATIVE: bool = false;
    #[inline(always)]
    fn lift(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    fn lower(acc: f32) -> Self {
        Self::from_f32(acc)
    }
    // Machines have instructions for these, which loops over elements do not become.
    #[inline(always)]
    fn lift_all(elems: &[Self], accs: &mut [f32]) {
        elems.convert_to_f32_slice(accs);
    }
    #[inline(always)]
    fn lower_all(accs: &[f32], elems: &mut [Self]) {
        elems.convert_from_f32_slice(accs);
    }
}

impl Leaf for bf16 {
    type Acc = f32;
    const NATIVE: bool = false;
    #[inline(always)]
    fn lift(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
    #[inline(always)]
    fn lower(acc: f32) -> Self {
        Self::from_f32(acc)
    }
}

/// A truth value of any width.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Truth<U>(U);

// SAFETY: nothing but the integer, for which zero is a value.
unsafe impl<U: Zeroable> Zeroable for Truth<U> {}
// SAFETY: nothing but the integer, for which any bits are a value.
unsafe impl<U: Pod> Pod for Truth<U> {}

impl Leaf for Truth<u8> {
    type Acc = u8;
    // Stored truth values are 0 or 1.
    const NATIVE: bool = true;
    #[inline(always)]
    fn lift(self) -> u8 {
        self.0
    }
    #[inline(always)]
    fn lower(acc: u8) -> Self {
        Self(acc)
    }
}

impl Leaf for Truth<u32> {
    type Acc = u8;
    const NATIVE: bool = false;
    #[inline(always)]
    fn lift(self) -> u8 {
        self.0 as u8
    }
    #[inline(always)]
    fn lower(acc: u8) -> Self {
        Self(acc.into())
    }
}

/// Elements in memory that can be read as accumulators, without the type of the elements.
#[derive(Clone, Copy)]
pub(crate) struct Source<A> {
    base: *const u8,
    size: usize,
    /// Whether elements are accumulators already.
    native: bool,
    load: unsafe fn(*const u8, isize, &mut [A]),
}

// SAFETY: a source only reads, from memory that its maker keeps unchanged while it lives.
unsafe impl<A> Send for Source<A> {}
// SAFETY: as above.
unsafe impl<A> Sync for Source<A> {}

impl<A: Acc> Source<A> {
    /// The elements of type `E` around `base`.
    pub(crate) fn new<E: Leaf<Acc = A>>(base: *const u8) -> Self {
        Self {
            base,
            size: size_of::<E>(),
            native: E::NATIVE,
            load: load::<E>,
        }
    }

    /// Whether [`Source::row`] reads elements at this distance where they are.
    pub(crate) fn is_direct(&self, stride: isize) -> bool {
        self.native && stride == 1
    }

    /// `len` elements from position `start` in steps of `stride`: where they are, or in `scratch`.
    ///
    /// # Safety
    /// The positions are inside the memory of the source, which holds elements of its type there.
    pub(crate) unsafe fn row<'a>(
        &self,
        start: isize,
        stride: isize,
        len: usize,
        scratch: &'a mut Vec<A>,
    ) -> &'a [A] {
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_direct(stride) {
                return self.direct(start, len);
            }
            scratch.resize(len, A::ZERO);
            self.load(start, stride, scratch);
        }
        scratch
    }

    /// `len` elements from position `start` where they are, which [`Source::is_direct`] allows.
    ///
    /// # Safety
    /// As [`Source::row`], and nobody writes the memory while the result is in use.
    pub(crate) unsafe fn direct<'a>(&self, start: isize, len: usize) -> &'a [A] {
        debug_assert!(self.native);
        let first = self.base.wrapping_offset(start * self.size as isize);
        // SAFETY: the elements are accumulators; the caller vouches for the positions.
        unsafe { core::slice::from_raw_parts(first.cast(), len) }
    }

    /// Reads elements from position `start` in steps of `stride`.
    ///
    /// # Safety
    /// As [`Source::row`].
    pub(crate) unsafe fn load(&self, start: isize, stride: isize, accs: &mut [A]) {
        let first = self.base.wrapping_offset(start * self.size as isize);
        // SAFETY: `load` was made for the type of the elements.
        unsafe { (self.load)(first, stride, accs) }
    }
}

/// # Safety
/// `first` and what follows in steps of `stride` elements are elements of type `E`.
unsafe fn load<E: Leaf>(first: *const u8, stride: isize, accs: &mut [E::Acc]) {
    let first: *const E = first.cast();
    simd(
        #[inline(always)]
        || match stride {
            // SAFETY: the caller's promise.
            1 => E::lift_all(
                unsafe { core::slice::from_raw_parts(first, accs.len()) },
                accs,
            ),
            // SAFETY: as above; there is an element to read only if one is wanted.
            0 if !accs.is_empty() => accs.fill(unsafe { first.read() }.lift()),
            _ => {
                for (i, acc) in accs.iter_mut().enumerate() {
                    // SAFETY: as above.
                    *acc = unsafe { first.wrapping_offset(i as isize * stride).read() }.lift();
                }
            }
        },
    )
}

/// Accumulators as elements, side by side.
pub(crate) fn lower<E: Leaf>(accs: &[E::Acc], elems: &mut [E]) {
    simd(
        #[inline(always)]
        || E::lower_all(accs, elems),
    )
}

/// Accumulators as a buffer of elements.
pub(crate) fn store<E: Leaf>(accs: Vec<E::Acc>) -> Bytes {
    if E::NATIVE {
        return Bytes::from_elems(accs);
    }
    let mut elems = alloc::vec![E::zeroed(); accs.len()];
    lower(&accs, &mut elems);
    Bytes::from_elems(elems)
}
