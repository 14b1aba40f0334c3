//! Modules: trees of parameters that are visited, mapped, moved, saved and printed.
//!
//! A type becomes a module by [`#[derive(Module)]`](derive@Module), which writes `visit` and `map`. All else is
//! written once here, as visitors and mappers. Parameters that are computed, as with low-rank adapters, are in `reparam`.
//!
//! ```
//! use burn_core::module::{Module, Param};
//! use burn_core::tensor::{Device, Tensor};
//!
//! #[derive(Module, Debug)]
//! struct Scale {
//!     factors: Param<Tensor<1>>,
//!     width: usize,
//! }
//!
//! let factors = Param::from_data([1.0, 2.0], &Device::default());
//! let scale = Scale { factors, width: 2 };
//! assert_eq!(scale.num_params(), 2);
//! ```
//!
//! A field that is neither a module nor plain data is an error at the field, which names the two
//! ways out:
//!
//! ```compile_fail,E0277
//! use burn_core::module::Module;
//!
//! #[derive(Clone, Debug)]
//! struct Cache;
//!
//! #[derive(Module, Debug)]
//! struct Net {
//!     cache: Cache,
//! }
//! ```
//!
//! With `#[module(skip)]` it is none:
//!
//! ```
//! # use burn_core::module::Module;
//! # #[derive(Clone, Debug)]
//! # struct Cache;
//! #[derive(Module, Debug)]
//! struct Net {
//!     #[module(skip)]
//!     cache: Cache,
//! }
//! ```

mod base;
mod constant;
mod container;
mod display;
#[doc(hidden)]
pub mod field;
mod group;
mod param;
mod quantize;
mod reparam;
mod walk;

pub use base::{Devices, Module, ModuleMapper, ModuleVisitor};
pub use burn_derive::Module;
pub use burn_std::id::ParamId;
pub use display::{Attribute, Content, DisplaySettings, ModuleDisplay, ModuleDisplayDefault};
pub use group::{ParamGroup, ParamGroupError, list_param_ids};
pub use param::{Flag, Ignored, Param, ParamMapper, Parameter, ParameterValue, RunningState};
pub use quantize::Quantizer;
#[doc(hidden)]
pub use reparam::{Attached, Erased};
pub use reparam::{
    Lora, LoraAdapter, QLora, Reparameterization, Reparameterizer, WeightNorm, WeightNormScale,
};
pub(crate) use walk::Path;
