//! Behaviour of what lies between users and kernels: routing, tapes, captured programs, fusion, movements of views.

mod capture;
mod dispatch;
mod fusion;
mod groups;
mod slicing;
mod tape;

use burn_backend::{Device, Handle};
use burn_backend_tests::read;
use burn_flex::{Flex, FlexDevice};
use burn_std::{Shape, TensorData};
use std::sync::LazyLock;

/// The CPU, fusing the smallest tensors too.
fn fusing() -> Device {
    static ENGINE: LazyLock<Device> = LazyLock::new(|| burn_fusion::engine::<Flex>(FlexDevice, 0));
    ENGINE.fusing().expect("the engine names its pair")
}

/// A tensor of f64 on a device.
fn floats<const D: usize>(device: Device, shape: [usize; D], elements: &[f64]) -> Handle {
    device.upload(TensorData::new(elements.to_vec(), Shape::new(shape)))
}

/// The elements of a tensor of f64.
#[track_caller]
fn elements(tensor: &Handle) -> Vec<f64> {
    read(tensor.clone()).to_vec().expect("the tensor is of f64")
}
