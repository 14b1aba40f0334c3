//! A tensor's place on a tape. Without the feature `autodiff` there are no tapes, and every tensor is a constant.

#[cfg(feature = "autodiff")]
pub use burn_autodiff::{detach, is_leaf, is_tracked, require_grad};

#[cfg(not(feature = "autodiff"))]
mod constants {
    use burn_backend::Handle;

    /// The tensor as a new leaf of a tape: never.
    pub fn require_grad(_tensor: Handle) -> Option<Handle> {
        None
    }

    /// The tensor without its place on the tape: as it is.
    pub fn detach(tensor: Handle) -> Handle {
        tensor
    }

    /// Whether gradients flow to the tensor: never.
    pub fn is_tracked(_tensor: &Handle) -> bool {
        false
    }

    /// Whether the tensor is a leaf: never.
    pub fn is_leaf(_tensor: &Handle) -> bool {
        false
    }
}

#[cfg(not(feature = "autodiff"))]
pub use constants::{detach, is_leaf, is_tracked, require_grad};
