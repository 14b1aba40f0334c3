//! CPU kernels in pure Rust.
