//! The fusing engine over a backend's device, for the crate of the backend to name as
//! [`Local::with_fusing`].

use crate::{Fusion, FusionDevice};
use alloc::boxed::Box;
use burn_backend::{Device, FuseBackend, Local};

/// The fusing engine over a backend's device, for the whole program: make it once for each.
pub fn engine<B: FuseBackend>(device: B::Device) -> Device {
    let device = FusionDevice::<B>::new(device);
    Device::new(Box::leak(Box::new(Local::<Fusion<B>>::new(device))))
}
