//! What an engine gave against what the reference expects.

use crate::array::{Array, Format, Num};
use burn_backend::{Device, Handle};
use burn_std::{DType, TensorData, read_sync};
use core::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// What the reference expects, before rounding to the element type.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The elements.
    pub array: Array,
    /// For each element, the error that any order of evaluation may make, in unit roundoffs of the type that the
    /// engine computes in.
    pub slack: Vec<f64>,
}

impl Expected {
    /// Elements that leave no choice of evaluation.
    pub fn exactly(array: Array) -> Self {
        Self {
            slack: vec![0.0; array.data.len()],
            array,
        }
    }

    /// The first element that is not as expected, as text.
    ///
    /// A float passes if it is the rounded reference, or within `ulps` units in the last place of it and what
    /// [`Expected::slack`] adds in unit roundoffs of `compute`.
    pub fn mismatch(&self, actual: &TensorData, ulps: f64, compute: DType) -> Option<String> {
        let expected = &self.array;
        if (actual.dtype(), &actual.shape()[..]) != (expected.dtype, &expected.shape[..]) {
            return Some(format!(
                "{} {:?} instead of {} {:?}",
                actual.dtype().name(),
                &actual.shape()[..],
                expected.dtype.name(),
                expected.shape
            ));
        }
        let actual = Array::from_data(actual);
        let at = (0..actual.data.len()).find(|at| {
            let (found, wanted) = (actual.data[*at], expected.data[*at]);
            !passes(found, wanted, expected.dtype, |format| {
                ulps * format.ulp(wanted.float()) + self.slack[*at] * Format::of(compute).unit()
            })
        })?;
        Some(format!(
            "element {at} is {:?} instead of {:?}",
            actual.data[at], expected.data[at]
        ))
    }
}

fn passes(found: Num, wanted: Num, dtype: DType, tolerance: impl Fn(Format) -> f64) -> bool {
    let (Num::Float(found), Num::Float(wanted)) = (found, wanted) else {
        return found == wanted;
    };
    let format = Format::of(dtype);
    found == format.round(wanted)
        || (found.is_nan() && wanted.is_nan())
        || (found - wanted).abs()
            <= if wanted.is_finite() {
                tolerance(format)
            } else {
                0.0
            }
}

/// Collects what is wrong, so that one run of a mode shows all of it.
#[derive(Debug, Default)]
pub struct Failures(Vec<String>);

impl Failures {
    /// Notes what is wrong, if anything is.
    pub fn note(&mut self, place: impl Display, problem: Option<String>) {
        if let Some(problem) = problem {
            self.0.push(format!("{place}: {problem}"));
        }
    }

    /// Fails if anything is wrong.
    ///
    /// # Panics
    /// With the first failures.
    #[track_caller]
    pub fn report(self) {
        let shown = self.0.iter().take(40).cloned().collect::<Vec<_>>();
        assert!(
            self.0.is_empty(),
            "{} failures, of them:\n{}",
            self.0.len(),
            shown.join("\n")
        );
    }
}

/// What goes wrong when `run` runs: what it says, or its panic.
pub fn attempt(run: impl FnOnce() -> Option<String>) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(problem) => problem,
        Err(panic) => Some(match panic.downcast::<String>() {
            Ok(text) => format!("panic: {text}"),
            Err(panic) => format!("panic: {:?}", panic.downcast_ref::<&str>()),
        }),
    }
}

/// Runs with a generator that restarts at `seed`, while no other test draws.
pub fn seeded<T>(device: Device, seed: u64, run: impl FnOnce() -> T) -> T {
    static DRAWING: Mutex<()> = Mutex::new(());
    // A test that failed while it drew left nothing behind that matters here.
    let _alone = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
    device.seed(seed);
    run()
}

/// Brings an array to a device.
pub fn upload(device: Device, array: &Array) -> Handle {
    device.upload(array.to_data())
}

/// Brings a tensor back.
///
/// # Panics
/// If the device reports an error.
#[track_caller]
pub fn read(tensor: Handle) -> TensorData {
    let device = tensor.device();
    read_sync(device.download(vec![tensor]))
        .expect("the device is sound")
        .pop()
        .expect("one tensor was read")
}

/// What differs between two tensors, if a bit does.
pub fn differing_bits(found: &TensorData, wanted: &TensorData) -> Option<String> {
    let same = found.dtype() == wanted.dtype()
        && found.shape() == wanted.shape()
        && found.as_bytes() == wanted.as_bytes();
    (!same).then(|| format!("{found} instead of {wanted}, bit by bit"))
}

/// Fails unless two tensors are equal bit by bit.
///
/// # Panics
/// If they are not.
#[track_caller]
pub fn assert_same_bits(found: &TensorData, wanted: &TensorData) {
    if let Some(problem) = differing_bits(found, wanted) {
        panic!("{problem}");
    }
}
