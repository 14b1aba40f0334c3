//! Activations as modules. The functions are in `burn_tensor::activation`; numbers that they take are fields here.
//!
//! Those without numbers are made by `new`, the others by `init` of their configurations. [`Activation`] is any of them,
//! chosen by an [`ActivationConfig`].

mod choice;
mod gated;
mod parametric;
mod plain;
mod prelu;
mod rrelu;

pub use choice::{Activation, ActivationConfig};
pub use gated::{GLU, SwiGlu, SwiGluConfig};
pub use parametric::{
    Celu, CeluConfig, Elu, EluConfig, HardShrink, HardShrinkConfig, HardSigmoid, HardSigmoidConfig,
    Hardtanh, HardtanhConfig, LeakyRelu, LeakyReluConfig, Shrink, ShrinkConfig, SoftShrink,
    SoftShrinkConfig, Softplus, SoftplusConfig, Threshold, ThresholdConfig, ThresholdedRelu,
    ThresholdedReluConfig,
};
pub use plain::{
    Gelu, HardSwish, LogSigmoid, Mish, Relu, Relu6, Selu, SiLU, Sigmoid, Softsign, Tanh, Tanhshrink,
};
pub use prelu::{PRelu, PReluConfig};
pub use rrelu::{RRelu, RReluConfig};
