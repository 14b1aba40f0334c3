//! What a module holds: parameters ([`Param`]), switches, running statistics and plain tensors.

mod base;
mod flag;
mod ignored;
mod running;
mod tensor;

pub use base::{Param, ParamMapper, Parameter, ParameterValue};
pub use flag::Flag;
pub use ignored::Ignored;
pub use running::RunningState;

/// Keeps the set of parameter types closed: a module shows its parameters to visitors, which
/// know these types only.
mod sealed {
    pub trait Sealed {
        /// Whether a parameter made from this value is to be trained.
        fn wants_grad(&self) -> bool;
    }
}
