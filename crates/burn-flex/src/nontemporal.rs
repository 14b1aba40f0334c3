//! Stores that go around the caches ("non-temporal"): the machine does not read from memory what is overwritten in full,
//! and keeps what it has. They pay where a result is too large to be in a cache when it is read next.

/// Bytes that one kernel reads and writes from which its results go around the caches: what a large last level of them
/// holds.
const FAR: usize = 32 * 1024 * 1024;

/// Whether a kernel that moves this many bytes is to write around the caches.
pub(crate) fn pays(bytes: usize) -> bool {
    cfg!(all(
        target_arch = "x86_64",
        target_feature = "sse2",
        not(miri)
    )) && bytes > FAR
}

/// Copies around the caches. Other threads see the copy once this one has called [`finish`].
///
/// # Safety
/// `from` is readable and `to` writable for `len` bytes; they do not overlap.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    const VECTOR: usize = size_of::<__m128i>();
    /// The unit of what goes to memory at once.
    const LINE: usize = 64;
    let head = to.align_offset(LINE).min(len);
    let end = head + (len - head) / LINE * LINE;
    // SAFETY: the caller's promise; vectors are stored from an aligned address on.
    unsafe {
        to.copy_from_nonoverlapping(from, head);
        for line in (head..end).step_by(LINE) {
            let part = |at: usize| line + at * VECTOR;
            let vectors: [_; LINE / VECTOR] =
                core::array::from_fn(|at| _mm_loadu_si128(from.add(part(at)).cast()));
            for (at, vector) in vectors.into_iter().enumerate() {
                _mm_stream_si128(to.add(part(at)).cast(), vector);
            }
        }
        to.add(end)
            .copy_from_nonoverlapping(from.add(end), len - end);
    }
}

/// Orders the copies of this thread before whatever it does next.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
pub(crate) fn finish() {
    // SAFETY: the target has the instruction.
    unsafe { core::arch::x86_64::_mm_sfence() };
}

/// Copies as usual, where there is nothing else.
///
/// # Safety
/// `from` is readable and `to` writable for `len` bytes; they do not overlap.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(miri))))]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { to.copy_from_nonoverlapping(from, len) };
}

/// Nothing: copies are those of any other code.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(miri))))]
pub(crate) fn finish() {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn copies_of_any_length_and_alignment_write_that_and_no_more() {
        let from: Vec<u8> = (0..400).map(|at| at as u8).collect();
        for start in [0, 1, 16, 63, 64] {
            for len in [0, 1, 15, 63, 64, 65, 200, 256] {
                let mut to = alloc::vec![0xaau8; 400];
                // SAFETY: both are longer than the start and the length together.
                unsafe { copy(from.as_ptr().add(3), to.as_mut_ptr().add(start), len) };
                finish();
                assert_eq!(to[start..start + len], from[3..3 + len]);
                let around = to[..start].iter().chain(&to[start + len..]);
                assert!(around.copied().all(|byte| byte == 0xaa));
            }
        }
    }
}
