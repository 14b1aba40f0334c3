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
/// If the instruction is illegal, its operands live on different devices, or its output has elements of a type that the
/// device does not have, naming the operation, its operands and what would be legal. No kernel has run then.
pub fn try_run(device: Device, operation: Operation<Handle>) -> Result<Outputs<Handle>, RunError> {
    let operation = match operation.try_check() {
        Ok(operation) => operation,
        Err(failed) => return on_floats(device, *failed),
    };
    let device = route(device, operation.operation())?;
    // Operands are of the device, which has their types already.
    let outputs = operation.outputs().as_slice();
    if let Some(output) = outputs.iter().find(|it| !device.supports_dtype(it.dtype)) {
        return Err(RunError::DType {
            operation: operation.operation().name(),
            device,
            output: output.clone(),
        });
    }
    Ok(device.run(operation))
}

/// Runs what is illegal on quantized operands on the floats that they stand for.
#[cold]
fn on_floats(
    device: Device,
    (operation, error): (Operation<Handle>, OperationError),
) -> Result<Outputs<Handle>, RunError> {
    if !error.is_of_codes() {
        return Err(RunError::Operation(error));
    }
    let float = device.settings().float_dtype;
    // What gives the floats is legal wherever there are codes.
    let plain = operation.dequantized(float, &mut |operation| run(device, operation).one());
    match plain {
        Ok(plain) => try_run(device, plain),
        Err(_) => Err(RunError::Operation(error)),
    }
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
    /// The device does not compute with elements of this type.
    DType {
        /// The name of the operation.
        operation: &'static str,
        /// The device.
        device: Device,
        /// The output that it cannot hold.
        output: TensorMeta,
    },
}

impl core::error::Error for RunError {}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation(error) => error.fmt(f),
            Self::DType {
                operation,
                device,
                output,
            } => write!(
                f,
                "`{operation}`: {device} has no elements of type {}\n  output: {output}\n  legal: an element type that the device supports",
                output.dtype.name()
            ),
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
