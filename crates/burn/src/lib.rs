//! A deep-learning framework in Rust: tensors, modules, training and inference.
