//! What the memory of a device holds. CubeCL's pools are per stream; a device is all of its streams.

use crate::CubeDevice;
use burn_backend::{MemoryPoolUsage, SlicedPoolReport};
use cubecl::{MemoryPoolKind, MemoryPoolReport, MemoryScope};

pub(crate) fn usage(device: &CubeDevice) -> MemoryPoolUsage {
    let usage = device.client().memory_report(MemoryScope::Device).usage();
    MemoryPoolUsage {
        number_allocs: usage.number_allocs,
        bytes_in_use: usage.bytes_in_use,
        bytes_padding: usage.bytes_padding,
        bytes_reserved: usage.bytes_reserved,
    }
}

pub(crate) fn report(device: &CubeDevice) -> Vec<SlicedPoolReport> {
    let report = device.client().memory_report(MemoryScope::Device);
    let pools = report.streams.into_iter().flat_map(|it| it.pools.dynamic);
    let sliced = |pool: MemoryPoolReport| match pool.kind {
        MemoryPoolKind::Sliced { page_size, .. } => Some(SlicedPoolReport {
            page_size,
            pages: pool.pages,
            pages_peak: pool.pages_peak,
            largest_alloc: pool.largest_alloc,
        }),
        _ => None,
    };
    pools.filter_map(sliced).collect()
}

pub(crate) fn cleanup(device: &CubeDevice) {
    // Refused only while a stream records a graph, which nothing here does; then memory stays as it is.
    let _ = device.client().memory_cleanup();
}
