//! Optimizers, gradients by parameter, and gradient clipping.
//!
//! So far: SGD with momentum, Adam and AdamW. Schedules of the learning rate are not here yet.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod decay;
pub mod grad_clipping;
pub mod lr_scheduler;
pub mod module_optimizer;
pub mod momentum;
pub mod record;

mod accumulator;
mod adam;
mod adamw;
mod adaptive;
mod grads;
mod optimizer;
mod sgd;
mod state;

pub use accumulator::GradientsAccumulator;
pub use adam::{Adam, AdamConfig, AdamState};
pub use adamw::{AdamW, AdamWConfig, AdamWState};
pub use adaptive::AdaptiveMomentumState;
pub use grads::{GradAdaptor, GradientsParams, MultiGradientsParams};
pub use module_optimizer::ModuleOptimizer;
pub use optimizer::{DynOptimizer, Optimizer};
pub use record::OptimizerRecord;
pub use sgd::{Sgd, SgdConfig, SgdState};
pub use state::{DynState, RecordState, StateSink, StateSource};

/// How far a step goes.
pub type LearningRate = f64;
