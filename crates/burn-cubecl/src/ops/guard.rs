//! Launches that fail where it is seen: what a kernel could not write is an error at the read.
//!
//! CubeCL keeps with the outputs of a launch why they were not written, if a compiler refuses the kernel. It does not
//! if a compiler panics, which its thread for the device only logs, and its CPU runtime tries any number of units.

use crate::{CubeDevice, CubeTensor};
use core::hash::{BuildHasher, BuildHasherDefault, Hash};
use cubecl::prelude::*;
use std::hash::DefaultHasher;

/// Tells a kernel from others, by whatever it is built from.
pub(crate) fn fingerprint(kernel: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(kernel)
}

/// Runs `launch`, which writes `outputs` by a kernel with cubes of `cube_dim` units.
///
/// Until a kernel has once come through its compiler, its outputs fail beforehand, and a launch that writes them takes
/// that back.
pub(crate) fn guarded(
    device: &CubeDevice,
    kernel: u64,
    cube_dim: CubeDim,
    outputs: &[CubeTensor],
    launch: impl FnOnce(),
) {
    if let Some(reason) = impossible(device, cube_dim) {
        return refuse(device, outputs, &reason);
    }
    if device.built().contains(&kernel) {
        return launch();
    }
    let reason =
        "the compiler of the device panicked on the kernel; what it said is on the standard error";
    refuse(device, outputs, reason);
    launch();
    let handles = outputs.iter().map(CubeTensor::handle);
    if device.client().check(handles).is_ok() {
        device.built().insert(kernel);
    }
}

/// Why no cube of the device has so many units, if none has.
fn impossible(device: &CubeDevice, cube_dim: CubeDim) -> Option<String> {
    let hardware = &device.client().properties().hardware;
    let (x, y, z) = hardware.max_cube_dim;
    let asked = [cube_dim.x, cube_dim.y, cube_dim.z];
    let units: u64 = asked.iter().map(|it| u64::from(*it)).product();
    let fits = asked.iter().zip([x, y, z]).all(|(it, most)| *it <= most)
        && units <= u64::from(hardware.max_units_per_cube);
    (!fits).then(|| {
        let most = hardware.max_units_per_cube;
        format!(
            "a launch with cubes of {asked:?} units\n  legal: at most {x}, {y}, {z}, and {most} in all"
        )
    })
}

/// Fails what a launch would have written.
fn refuse(device: &CubeDevice, outputs: &[CubeTensor], reason: &str) {
    for output in outputs {
        let handle = output.handle().clone();
        let len = handle.size() as usize / size_of::<u32>();
        let (count, cube_dim) = (CubeCount::Static(1, 1, 1), CubeDim::new_1d(1));
        // SAFETY: the length is that of the buffer, and no compiler accepts the kernel.
        unsafe {
            let output = BufferArg::from_raw_parts(handle, len);
            refused::launch_unchecked(device.client(), count, cube_dim, output, reason.into());
        }
    }
}

/// A kernel that no compiler accepts.
#[cube(launch_unchecked)]
#[allow(unused_variables)]
fn refused(output: &mut [u32], #[comptime] reason: String) {
    output[0] = 0u32;
    intrinsic!(|scope| scope.push_error(reason));
}
