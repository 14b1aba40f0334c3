//! Tapes and gradient rules: a layer that records what runs below it and runs it backwards.
//!
//! An instruction on tracked tensors is kept by the tensors it defines (`tape`), with exactly the values its rule
//! asks for (`rules`), or with how to compute them again (`recipe`). There is no global graph: a tape lives and dies with
//! its tensors. Rules are instructions too, so gradients can be recorded and differentiated again, to any order. No
//! kernel is here, and nothing knows a backend.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod anomaly;
mod backward;
mod carry;
mod custom;
mod engine;
mod mode;
mod recipe;
mod rules;
mod tape;
mod tensor;

pub use backward::{BackwardError, Gradients, backward};
pub use carry::carry;
pub use custom::{Forward, Pullback, Pulled, custom};
pub use engine::Autodiff;
pub use mode::{GradientCheckpointingStrategy, Mode};
pub use tensor::{detach, is_leaf, is_tracked, require_grad};
