//! A computation that is run again and again.

use crate::Device;

/// A computation on a device, and what it gave last; [`capture`] makes one.
///
/// Recording the launches of a GPU, to start them all as one, is what the interface allows. No device here does: a replay
/// runs the closure, whose kernels and fused groups are those of the first run.
#[derive(Clone, Debug)]
pub struct Graph<T, F> {
    device: Device,
    closure: F,
    output: T,
}

/// Runs a closure on a device, and keeps it for [`Graph::replay`].
///
/// ```
/// # use burn_tensor::{Device, Tensor, capture};
/// let device = Device::flex();
/// let mut x = Tensor::<1>::zeros([2], &device);
/// let mut count = capture(&device, || {
///     x.inplace(|x| x + 1);
///     x.clone()
/// });
/// // SAFETY: the closure owns or outlives what it reads, and no other thread uses it.
/// unsafe { count.replay() };
/// assert_eq!(count.output().clone().try_into_vec_as::<f32>()?, [2.0, 2.0]);
/// # Ok::<(), burn_tensor::TensorReadError>(())
/// ```
pub fn capture<T, F: FnMut() -> T>(device: &Device, mut closure: F) -> Graph<T, F> {
    let output = started(device, &mut closure);
    Graph {
        device: device.clone(),
        closure,
        output,
    }
}

/// What a closure gives, its work handed to the device.
fn started<T>(device: &Device, closure: &mut impl FnMut() -> T) -> T {
    let output = closure();
    // What the device refuses poisons the output, and comes out of its read.
    let _ = device.flush();
    output
}

impl<T, F: FnMut() -> T> Graph<T, F> {
    /// Whether a replay is one launch on the device rather than a run of the closure: on no device yet.
    pub fn is_hardware(&self) -> bool {
        false
    }

    /// What the last run gave.
    pub fn output(&self) -> &T {
        &self.output
    }

    /// Runs the computation again, and gives what it gave.
    ///
    /// # Safety
    /// Where launches are recorded, every tensor that the closure read or wrote still exists, and no other thread uses one
    /// until the work is done. Where the closure runs again ([`Graph::is_hardware`] is false) there is nothing to keep.
    pub unsafe fn replay(&mut self) -> &T {
        self.output = started(&self.device, &mut self.closure);
        &self.output
    }
}
