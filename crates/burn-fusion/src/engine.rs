//! Engines over a backend's device, with fusion and without.

use crate::{Fusion, FusionDevice};
use burn_backend::{Device, FuseBackend, Local};

/// The engine that runs each instruction when it is called, naming the one that fuses. Instructions that make fewer than
/// `smallest` elements run at once there too.
///
/// Both live as long as the program: make them once for each device.
pub fn engine<B: FuseBackend>(device: B::Device, smallest: usize) -> Device {
    let fusing = FusionDevice::<B>::new(device.clone(), smallest);
    Local::<B>::new(device).paired(Local::<Fusion<B>>::new(fusing))
}
