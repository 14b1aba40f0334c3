//! Layers, initializers and losses.
