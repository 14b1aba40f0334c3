//! The end of the process, for which drivers that run shaders on the CPU finish what they were told to do.
//!
//! Such a driver compiles kernels, on a thread of its own, when they run. Libraries take down what compilers use while the
//! process ends: a kernel that nobody waited for would end it by a fault (lavapipe, Mesa 22.3.6, in its LLVM).

use crate::{Cube, CubeDevice, transfer};
use burn_backend::Backend;
use burn_ir::{Operation, UnaryOp};
use burn_std::TensorData;
use std::ffi::c_int;
use std::sync::mpsc::channel;
use std::sync::{Mutex, Once, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// How long the process waits for its devices: who ends it from the thread of a device would wait for ever.
const LIMIT: Duration = Duration::from_secs(60);

static DEVICES: Mutex<Vec<CubeDevice>> = Mutex::new(Vec::new());

// SAFETY: the signature is C's (C17, 7.22.4.2), and any function is welcome at any time.
unsafe extern "C" {
    safe fn atexit(function: extern "C" fn()) -> c_int;
}

/// Lets the process wait for a device, before it ends, if that takes place on the CPU.
///
/// What is registered last for the end of a process runs first. So the device runs a kernel before, for which its compiler
/// registers what it takes down.
pub(crate) fn wait_for(device: &CubeDevice) {
    if !device.is_software() {
        return;
    }
    let input = Cube::upload(device, TensorData::from([0.0f32]));
    let op = UnaryOp::Neg;
    let kernel = Operation::Unary { op, input }.check();
    let _ = Cube::execute(device, kernel.expect("floats have a sign"));
    // A failure comes up at the user's first read as well.
    let _ = transfer::sync(device);
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    devices.push(device.clone());
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Where there is no room for one more function, the process ends without it.
        let _ = atexit(wait);
    });
}

extern "C" fn wait() {
    let devices = std::mem::take(&mut *DEVICES.lock().unwrap_or_else(PoisonError::into_inner));
    let (done, waiting) = channel();
    // The variables of the thread that ends the process are gone: what needs them runs on another.
    let thread = Builder::new().spawn(move || {
        for device in &devices {
            // What failed has nobody left to hear of it.
            let _ = transfer::sync(device);
        }
        let _ = done.send(());
    });
    if thread.is_ok() {
        let _ = waiting.recv_timeout(LIMIT);
    }
}
