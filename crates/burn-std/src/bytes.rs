//! An owned buffer of bytes with a known alignment: the storage of tensors on the host.
//!
//! Sharing and views are not here; put it into an `Arc`.

use alloc::alloc::{alloc, alloc_zeroed, dealloc, handle_alloc_error};
use alloc::vec::Vec;
use core::alloc::Layout;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use bytemuck::{CheckedBitPattern, NoUninit};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Alignment in bytes of buffers allocated here: a cache line, and the widest vector register.
const ALIGN: usize = align_of::<CacheLine>();

#[repr(align(64))]
struct CacheLine;

/// Memory that is worth a call of the allocator, in bytes.
const LARGE: usize = 1 << 16;

/// An owned, aligned buffer of bytes.
///
/// Takes over the allocation of a vector without a copy, and gives it back where it fits.
pub struct Bytes {
    // Invariant: `ptr` is aligned to `layout` and, unless the layout has size 0, allocated with it
    // by the global allocator and owned by this value. `len <= layout.size()`.
    ptr: NonNull<u8>,
    len: usize,
    layout: Layout,
}

// SAFETY: the buffer is owned and plain memory, as that of a `Vec<u8>`.
unsafe impl Send for Bytes {}
// SAFETY: as above; a shared reference only reads.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// Takes over the elements without a copy. Of a large vector that is half empty, the rest goes back to the allocator
    /// first: a vector collected in place from wider elements keeps all their memory.
    pub fn from_elems<E: NoUninit>(mut elems: Vec<E>) -> Self {
        let spare = size_of::<E>() * (elems.capacity() - elems.len());
        if spare >= LARGE && elems.capacity() / 2 >= elems.len() {
            elems.shrink_to_fit();
        }
        let mut elems = ManuallyDrop::new(elems);
        let layout = Layout::array::<E>(elems.capacity()).expect("the vector has this layout");
        Self {
            // SAFETY: the pointer of a vector is never null.
            ptr: unsafe { NonNull::new_unchecked(elems.as_mut_ptr().cast()) },
            len: size_of::<E>() * elems.len(),
            layout,
        }
    }

    /// Takes over the bytes without a copy.
    pub fn from_bytes_vec(bytes: Vec<u8>) -> Self {
        Self::from_elems(bytes)
    }

    /// `len` bytes of zero, aligned to 64 bytes.
    pub fn zeroed(len: usize) -> Self {
        Self::allocate(len, true)
    }

    /// `len` bytes of any content, aligned to 64 bytes. Large buffers that were freed are used again.
    ///
    /// # Safety
    /// Every byte is written before it is read, also by [`Clone`], comparison and serialization.
    pub unsafe fn uninit(len: usize) -> Self {
        Self::allocate(len, false)
    }

    /// From now on every new buffer is an allocation of its own, for tests that count what the allocator is asked for.
    #[doc(hidden)]
    pub fn allocate_singly() {
        #[cfg(feature = "std")]
        crate::arena::leave();
    }

    /// A copy of the bytes, aligned to 64 bytes.
    pub fn copy_from(bytes: &[u8]) -> Self {
        // SAFETY: the line below writes all bytes.
        let copy = unsafe { Self::uninit(bytes.len()) };
        // SAFETY: both are valid for `len` bytes, and the new buffer overlaps nothing.
        unsafe {
            copy.ptr
                .copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len())
        };
        copy
    }

    fn allocate(len: usize, zero: bool) -> Self {
        let layout = Layout::from_size_align(len, ALIGN).expect("no buffer exceeds isize::MAX");
        #[cfg(feature = "std")]
        if let Some((ptr, layout)) = crate::reuse::take(layout) {
            let ptr = NonNull::new(ptr).expect("what is kept was allocated");
            if zero {
                // SAFETY: the layout is of at least this size.
                unsafe { ptr.write_bytes(0, len) };
            }
            return Self { ptr, len, layout };
        }
        let ptr = match (len, zero) {
            (0, _) => NonNull::<CacheLine>::dangling().cast(),
            _ => {
                let alloc = if zero { alloc_zeroed } else { alloc };
                // SAFETY: the size is not 0.
                let ptr = unsafe { alloc(layout) };
                let ptr = NonNull::new(ptr).unwrap_or_else(|| handle_alloc_error(layout));
                #[cfg(feature = "std")]
                crate::pages::enlarge(ptr.as_ptr(), len);
                ptr
            }
        };
        Self { ptr, len, layout }
    }

    /// The alignment in bytes that the buffer was allocated with.
    pub fn align(&self) -> usize {
        self.layout.align()
    }

    /// The first byte, to read.
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr.as_ptr()
    }

    /// The first byte, to write.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Gives the allocation to a vector, without a copy.
    ///
    /// # Errors
    /// The bytes themselves, if they were not allocated as a vector of `E` would be, or are no
    /// valid elements.
    pub fn try_into_vec<E: CheckedBitPattern + NoUninit>(self) -> Result<Vec<E>, Self> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let size = size_of::<E>();
        // A vector frees with exactly the layout of its capacity, and to the allocator.
        let fits = size != 0
            && self.layout.align() != ALIGN
            && self.layout.align() == align_of::<E>()
            && self.layout.size().is_multiple_of(size);
        if !fits || bytemuck::checked::try_cast_slice::<u8, E>(&self).is_err() {
            return Err(self);
        }
        let len = self.len / size;
        let bytes = ManuallyDrop::new(self);
        let capacity = bytes.layout.size() / size;
        // SAFETY: the global allocator gave the pointer for an array of `capacity` elements of the
        // alignment of `E`; the cast just checked the first `len`; nothing else owns it any more.
        Ok(unsafe { Vec::from_raw_parts(bytes.ptr.as_ptr().cast(), len, capacity) })
    }
}

/// Gives freed buffers that are kept back to the allocator.
pub fn release_kept() {
    #[cfg(feature = "std")]
    crate::reuse::release();
}

impl Drop for Bytes {
    fn drop(&mut self) {
        #[cfg(feature = "std")]
        if self.layout.align() == ALIGN && self.layout.size() != 0 {
            // SAFETY: as below.
            unsafe { crate::reuse::give(self.ptr.as_ptr(), self.layout) };
            return;
        }
        if self.layout.size() != 0 {
            // SAFETY: allocated with this layout and owned, as the invariant says.
            unsafe { dealloc(self.ptr.as_ptr(), self.layout) }
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` bytes are allocated and, but for the promise of `uninit`, initialized.
        unsafe { core::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the buffer is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }
}

impl Clone for Bytes {
    fn clone(&self) -> Self {
        Self::copy_from(self)
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bytes")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from_bytes_vec(bytes)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes::copy_from(bytes))
            }

            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes::from_bytes_vec(bytes))
            }

            // Text formats write bytes as a list of numbers.
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Bytes, A::Error> {
                // Reserves nothing: the length is the sender's claim.
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes::from_bytes_vec(bytes))
            }
        }

        deserializer.deserialize_byte_buf(Visitor)
    }
}
