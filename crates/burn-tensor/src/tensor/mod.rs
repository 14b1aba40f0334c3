//! The tensor, one file a family of methods. The instructions behind them are in [`emit`](crate::emit).

mod args;
mod autodiff;
mod base;
mod bools;
mod cast;
mod compare;
mod create;
mod data;
mod float;
mod index;
mod int;
mod movement;
mod numeric;
mod ordered;
mod print;
mod quant;
mod reduce;
mod serialize;
mod sort;

pub use args::{BroadcastArgs, IntoPadding, MovedimArgs, ReshapeArgs};
#[cfg(feature = "autodiff")]
pub use autodiff::Gradients;
pub(crate) use base::ANY;
pub use base::Tensor;
pub use cast::Cast;
pub use movement::DimIter;
pub use print::{PrintOptions, set_print_options};
