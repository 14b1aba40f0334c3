//! What nearly every program uses.

pub use crate::config::Config;
pub use crate::module::Module;
pub use burn_std::cast::ToElement;
pub use burn_std::s;
pub use burn_tensor::{
    Bool, Device, DeviceIndex, DeviceKind, ElementConversion, Float, Int, Shape, SliceArg, Tensor,
    TensorData, assert_shape, debug_assert_shape,
};
