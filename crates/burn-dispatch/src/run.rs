//! The single door for the user's instructions: check once, route, run.

use alloc::vec::Vec;
use burn_backend::{Device, Handle};
use burn_ir::{Described, Operation, OperationError, Outputs, TensorMeta};
use core::fmt;

/// Runs an instruction on the highest layer among `device` and its operands.
///
/// # Panics
/// With the report of [`try_run`]. No kernel has run then.
#[track_caller]
pub fn run(device: Device, operation: Operation<Handle>) -> Outputs<Handle> {
    match try_run(device, operation) {
        Ok(outputs) => outputs,
        Err(error) => panic!("{error}"),
    }
}

/// Runs an instruction on the highest layer among `device` and its operands.
///
/// # Errors
/// If the instruction is illegal or its operands live on different devices, naming the operation, its operands and
/// what would be legal. No kernel has run then.
pub fn try_run(device: Device, operation: Operation<Handle>) -> Result<Outputs<Handle>, RunError> {
    let operation = operation.check().map_err(RunError::Operation)?;
    Ok(route(device, operation.operation())?.run(operation))
}

/// The highest layer among `device` and the operands, which all have one base.
fn route(device: Device, operation: &Operation<Handle>) -> Result<Device, RunError> {
    let (mut highest, mut mixed) = (device, false);
    operation.each(&mut |tensor| {
        let other = tensor.device();
        if other != highest {
            mixed |= other.base() != highest.base();
            if other.level() > highest.level() {
                highest = other;
            }
        }
    });
    if !mixed {
        return Ok(highest);
    }
    let mut operands = Vec::new();
    operation.each(&mut |tensor| operands.push((tensor.meta().clone(), tensor.device())));
    Err(RunError::Devices {
        operation: operation.name(),
        device,
        operands,
    })
}

/// Why an instruction did not run.
#[derive(Clone, Debug)]
pub enum RunError {
    /// It is illegal.
    Operation(OperationError),
    /// Its operands live on different devices.
    Devices {
        /// The name of the operation.
        operation: &'static str,
        /// The device it was sent to.
        device: Device,
        /// The operands, in order, with their devices.
        operands: Vec<(TensorMeta, Device)>,
    },
}

impl core::error::Error for RunError {}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(error) => error.fmt(f),
            Self::Devices {
                operation,
                device,
                operands,
            } => {
                write!(f, "`{operation}`: the operands live on different devices")?;
                for (at, (meta, device)) in operands.iter().enumerate() {
                    write!(f, "\n  operand {at}: {meta} on {device}")?;
                }
                write!(
                    f,
                    "\n  legal: operands on one device; move them with `to_device`, here to {device}"
                )
            }
        }
    }
}
