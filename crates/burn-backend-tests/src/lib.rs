//! The sample table of operations and the modes that run it against an engine.
//!
//! [`samples`] says what each operation means, independently of any kernel: a formula over `f64`, wrapping `i128` or
//! `bool`. Each of the [`modes`] is one function over the table and a device; the test binaries name the engines. The
//! user's tensor types are not tested here, only instructions.

mod array;
mod check;
mod fill;
mod layout;
pub mod modes;
pub mod reference;
mod sample;
pub mod samples;

pub use array::{Array, Num};
pub use check::{Expected, Failures, assert_same_bits, read, upload};
pub use fill::Generator;
pub use layout::Layout;
pub use sample::{Gradient, Input, Property, Sample};

/// One test for each mode, on an engine that compiles its kernels: `$opened` is what its constructor gives.
#[cfg(any(feature = "cpu", feature = "cuda", feature = "vulkan"))]
#[macro_export]
macro_rules! compiled {
    ($opened:expr) => {
        fn device() -> burn_backend::Device {
            $opened.unwrap_or_else(|error| panic!("{error}"))
        }

        #[test]
        fn values_agree_with_the_reference() {
            $crate::modes::values(device());
        }

        #[test]
        fn what_is_supported_executes() {
            let cube = burn_cubecl::CubeDevice::of(device());
            $crate::modes::support::<burn_cubecl::Cube>(cube.expect("the engine is of Cube"));
        }

        #[test]
        fn composites_agree_with_their_lowering() {
            $crate::modes::lowering(device());
        }

        #[test]
        fn fused_and_unfused_give_the_same_bits() {
            $crate::modes::fused(device(), burn_dispatch::registry::fused(device()));
        }
    };
}
