//! Which devices there are, the door that the user's instructions go through, and the interpreter of programs.
//!
//! Features choose the engines that are built in; a third party's engine joins by [`Device::new`]. Nothing here knows
//! an operation by name.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(any(feature = "cpu", feature = "cuda", feature = "wgpu"))]
mod compiled;
pub mod gradients;
mod interpret;
pub mod registry;
mod run;
mod transfer;

#[cfg(feature = "autodiff")]
pub use burn_autodiff as autodiff;
pub use burn_backend::{Device, Engine, Handle};
#[cfg(feature = "capture")]
pub use burn_capture as capture;
pub use interpret::{InterpretError, interpret};
pub use run::{RunError, run, try_run};
pub use transfer::{TransferError, transfer};
