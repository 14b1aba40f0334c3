//! Handwritten digits.
fn main() {}
