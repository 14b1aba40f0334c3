//! Modules: trees of parameters that are visited, mapped, moved, saved and printed.
//!
//! A type becomes a module by [`#[derive(Module)]`](derive@Module), which writes `visit` and `map`. All else is
//! written once here, as visitors and mappers. Low-rank adapters and quantized weights are not
//! here yet.

mod base;
mod constant;
mod container;
mod display;
#[doc(hidden)]
pub mod field;
mod group;
mod param;
mod walk;

pub use base::{Module, ModuleMapper, ModuleVisitor};
pub use burn_derive::Module;
pub use burn_std::id::ParamId;
pub use display::{Attribute, Content, DisplaySettings, ModuleDisplay, ModuleDisplayDefault};
pub use group::{ParamGroup, ParamGroupError};
pub use param::{Flag, Ignored, Param, ParamMapper, Parameter, ParameterValue, RunningState};
pub(crate) use walk::Path;
