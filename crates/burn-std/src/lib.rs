//! Shapes, dtypes, elements, bytes, tensor data and errors shared by every crate.
