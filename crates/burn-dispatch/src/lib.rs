//! The device registry, routing and the graph interpreter.
