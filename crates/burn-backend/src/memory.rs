//! What a device's memory holds.

/// The memory that a device manages, all pools together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPoolUsage {
    /// The number of buffers in use.
    pub number_allocs: u64,
    /// Bytes in those buffers.
    pub bytes_in_use: u64,
    /// Bytes lost to alignment in those buffers.
    pub bytes_padding: u64,
    /// Bytes taken from the device, in use or kept for later.
    pub bytes_reserved: u64,
}

/// A pool that cuts its buffers from pages of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlicedPoolReport {
    /// Bytes of a page.
    pub page_size: u64,
    /// The number of pages.
    pub pages: u64,
    /// The largest number of pages so far.
    pub pages_peak: u64,
    /// Bytes of the largest buffer so far.
    pub largest_alloc: u64,
}
