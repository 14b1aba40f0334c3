//! The type, and what is known of a tensor without reading it.

use crate::Device;
use crate::emit;
use crate::kind::{Basic, Float, Kind};
use burn_dispatch::Handle;
use burn_ir::{Described, TensorMeta};
use burn_std::{DType, Shape};
use core::fmt;
use core::marker::PhantomData;

/// A tensor of rank `D` with elements of kind `K` on some device.
///
/// Cloning shares the elements; a method takes its operands by value, so that a tensor that is not used again can be
/// overwritten in place.
///
/// # Panics
/// A method panics, naming the operation, its operands and what would be legal, if they do not fit together. No work
/// has been done then.
pub struct Tensor<const D: usize, K = Float>
where
    K: Basic,
{
    pub(crate) handle: Handle,
    kind: PhantomData<K>,
}

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// The tensor behind a handle.
    #[track_caller]
    pub(crate) fn new(handle: Handle) -> Self {
        expect(handle.meta(), D, K::KIND);
        Self {
            handle,
            kind: PhantomData,
        }
    }

    /// The number of dims.
    pub fn rank(&self) -> usize {
        D
    }

    /// The size of each dim.
    pub fn dims(&self) -> [usize; D] {
        emit::shape(&self.handle).dims()
    }

    /// The size of each dim, for any rank.
    pub fn shape(&self) -> Shape {
        emit::shape(&self.handle).clone()
    }

    /// How the elements are stored.
    pub fn dtype(&self) -> DType {
        emit::dtype(&self.handle)
    }

    /// Where the tensor lives.
    pub fn device(&self) -> Device {
        Device(self.handle.device())
    }

    /// The tensor on another device.
    ///
    /// Between a device and the same device with a tape this costs nothing: the tensor leaves its tape, or comes onto
    /// one as a constant. Between devices the elements go through the host, and between devices with tapes gradients come
    /// back the same way.
    ///
    /// # Panics
    /// If the elements cannot be read, or the tensor is tracked and the target executes elsewhere without a tape.
    #[track_caller]
    pub fn to_device(self, device: &Device) -> Self {
        match burn_dispatch::transfer(self.handle, device.0) {
            Ok(handle) => Self::new(handle),
            Err(error) => panic!("{error}"),
        }
    }

    /// Whether an operation that takes the tensor may overwrite it: nobody else holds its elements. A tape
    /// holds those that its rules read. `false` where the device cannot tell.
    pub fn can_mut(&self) -> bool {
        self.handle.can_mut()
    }

    /// Takes the tensor out and leaves an empty one.
    #[track_caller]
    pub fn extract(&mut self) -> Self {
        let empty = emit::create::full_on(
            self.handle.device(),
            Shape::new([0; D]),
            emit::scalar(0.0, &self.handle),
            emit::plain_dtype(&self.handle),
        );
        core::mem::replace(self, Self::new(empty))
    }

    /// Replaces the tensor by what `f` makes of it, without a second owner, so that it can be overwritten in place.
    #[track_caller]
    pub fn inplace<F: FnOnce(Self) -> Self>(&mut self, f: F) {
        *self = f(self.extract());
    }
}

/// The rank in the type of a tensor of any rank. Compositions are compiled for it once, here, and not for each rank in
/// each user crate.
pub(crate) const ANY: usize = usize::MAX;

impl<const D: usize, K: Basic> Tensor<D, K> {
    /// The tensor under another rank in the type: [`ANY`] and back.
    #[track_caller]
    pub(crate) fn ranked<const D2: usize>(self) -> Tensor<D2, K> {
        Tensor::new(self.handle)
    }
}

/// Stops if a tensor is not what the type says.
#[track_caller]
fn expect(meta: &TensorMeta, rank: usize, kind: Kind) {
    assert!(
        (meta.rank() == rank || rank == ANY) && Kind::from(meta.dtype) == kind,
        "a tensor of rank {rank} and kind {} was expected, and the result is {meta}\n  legal: a result type of rank {} and kind {}",
        kind.as_str(),
        meta.rank(),
        Kind::from(meta.dtype).as_str()
    );
}

impl<const D: usize, K: Basic> Clone for Tensor<D, K> {
    fn clone(&self) -> Self {
        Self {
            handle: self.handle.clone(),
            kind: PhantomData,
        }
    }
}

impl<const D: usize, K: Basic> fmt::Debug for Tensor<D, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Tensor({} on {})",
            self.handle.meta(),
            self.handle.device()
        )
    }
}
