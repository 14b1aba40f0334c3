//! The door that the user's instructions go through, the layers over devices, and the interpreter of programs.
//!
//! Devices come from the crates of their engines. Nothing here knows an engine or an operation by name.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

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
