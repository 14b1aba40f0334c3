//! The backend for CubeCL's runtimes.
//!
//! Kernels are written once in CubeCL's subset of Rust and compiled when they first run, for the runtime of the device:
//! nothing here is generic over it. Every elementwise family goes through one kernel, which is built from a list of
//! instructions (`ops`): a single instruction is a list of one. Every reduction goes through another, with a list before the
//! fold and one after it. Matrix products have kernels of their own, each with a list after it. Grouping is burn-fusion's work.

// Kernels are written in the part of Rust that CubeCL compiles, which lacks what these lints ask for; published
// coefficients keep their digits.
#![allow(
    clippy::assign_op_pattern,
    clippy::eq_op,
    clippy::excessive_precision,
    clippy::manual_is_multiple_of
)]

mod backend;
mod device;
mod engine;
#[cfg(not(target_family = "wasm"))]
mod exit;
mod fuse;
mod memory;
mod ops;
mod tensor;
mod transfer;
#[cfg(feature = "persistence")]
mod tune;

pub use backend::Cube;
pub use cubecl::device::WgpuDeviceKind;
pub use device::CubeDevice;
pub use engine::{
    DeviceUnavailable, Missing, Opened, Runtime, cpu, cuda, enumerate, gpu, metal, rocm, vulkan,
    webgpu, wgpu,
};
pub use tensor::CubeTensor;
