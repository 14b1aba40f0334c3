//! The sample table of operations and its modes, run against any engine.
