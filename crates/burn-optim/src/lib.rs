//! Optimizers, schedules of the learning rate, gradients by parameter, and gradient clipping.
//!
//! A rule for one parameter is an [`Optimizer`], made by `build` of its configuration; [`ModuleOptimizer`], made by
//! `init`, applies rules to the parameters of a module. [`LBFGS`] is neither: it looks at all parameters together, and
//! evaluates the loss itself.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;
// The derive macro names this crate, also within it.
extern crate self as burn_optim;

pub mod decay;
pub mod grad_clipping;
pub mod lr_scheduler;
pub mod module_optimizer;
pub mod momentum;
pub mod record;

mod accumulator;
mod adafactor;
mod adagrad;
mod adam;
mod adamw;
mod adan;
mod adaptive;
#[doc(hidden)]
pub mod field;
mod grads;
mod lamb;
mod lbfgs;
mod lion;
mod muon;
mod numeric;
mod optimizer;
mod rmsprop;
mod sgd;
mod state;

pub use accumulator::GradientsAccumulator;
pub use adafactor::{Adafactor, AdafactorConfig, AdafactorState};
pub use adagrad::{AdaGrad, AdaGradConfig, AdaGradState, LrDecayState};
pub use adam::{Adam, AdamConfig, AdamState};
pub use adamw::{AdamW, AdamWConfig, AdamWState};
pub use adan::{Adan, AdanConfig, AdanState, AdaptiveNesterovMomentumState};
pub use adaptive::AdaptiveMomentumState;
pub use burn_derive::RecordState;
pub use grads::{GradAdaptor, GradientsParams, MultiGradientsParams};
pub use lamb::{Lamb, LambConfig, LambState};
pub use lbfgs::{LBFGS, LBFGSConfig, LBFGSState, LineSearchFn};
pub use lion::{Lion, LionConfig, LionState};
pub use module_optimizer::ModuleOptimizer;
pub use muon::{AdjustLrFn, Muon, MuonConfig, MuonState};
pub use optimizer::{DynOptimizer, Optimizer};
pub use record::OptimizerRecord;
pub use rmsprop::{
    CenteredState, RmsProp, RmsPropConfig, RmsPropMomentum, RmsPropMomentumState, RmsPropState,
    SquareAvgState,
};
pub use sgd::{Sgd, SgdConfig, SgdState};
pub use state::{DynState, RecordState, StateSink, StateSource};

/// How far a step goes.
pub type LearningRate = f64;
