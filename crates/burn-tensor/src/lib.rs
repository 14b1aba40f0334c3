//! Tensors, devices, activations and functional modules.
