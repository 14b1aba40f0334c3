//! What a user of tensors sees, on the CPU device. Kernels have their own tests; here are the promises of the methods.

mod accuracy;
mod activations;
mod autodiff;
mod capture;
mod compare;
mod create;
mod data;
mod derivatives;
mod device;
mod einsum;
mod errors;
mod grid;
mod index;
mod layers;
mod movement;
mod numeric;
mod print;
mod quantization;
mod random_programs;
mod reduce;
mod slopes;
mod sort;
mod tapes;

use burn_tensor::kind::Basic;
use burn_tensor::{Device, Tensor, TensorData, Tolerance};
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

fn dev() -> Device {
    Device::flex()
}

fn ad() -> Device {
    Device::flex().autodiff()
}

/// Equal up to what f32 arithmetic in another order changes: relative 1e-5, absolute 1e-6.
#[track_caller]
fn close<const D: usize>(found: Tensor<D>, expected: impl Into<TensorData>) {
    let expected = expected.into().convert::<f32>();
    let tolerance = Tolerance::rel_abs(1e-5, 1e-6);
    found
        .into_data()
        .convert::<f32>()
        .assert_approx_eq::<f32>(&expected, tolerance);
}

/// Equal in shape and in every element, whatever the element types.
#[track_caller]
fn equal<const D: usize, K: Basic>(found: Tensor<D, K>, expected: impl Into<TensorData>) {
    found.into_data().assert_eq(&expected.into(), false);
}

thread_local! {
    static STOPPED: RefCell<Option<(String, String, u32)>> = const { RefCell::new(None) };
}

/// The message of the panic in `f`, and its file and line.
fn stop<R>(f: impl FnOnce() -> R) -> (String, String, u32) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let message = info.payload_as_str().unwrap_or("no text").to_string();
            let place = info.location().expect("panics have a place");
            let found = (message, place.file().to_string(), place.line());
            STOPPED.with(|stopped| *stopped.borrow_mut() = Some(found));
            before(info);
        }));
    });
    let outcome = panic::catch_unwind(AssertUnwindSafe(f));
    assert!(outcome.is_err(), "a panic was expected");
    STOPPED
        .with(|stopped| stopped.borrow_mut().take())
        .expect("the hook ran on this thread")
}

/// The message of the panic in `f`.
fn message<R>(f: impl FnOnce() -> R) -> String {
    stop(f).0
}
