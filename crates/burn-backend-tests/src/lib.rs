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
