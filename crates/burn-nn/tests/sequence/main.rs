//! Activations, recurrent layers, attention and transformers, compared with PyTorch: outputs and gradients.

#![cfg(all(feature = "flex", feature = "autodiff"))]

mod activations;
mod attention;
mod cached;
mod harness;
mod recurrent;
mod transformer;
