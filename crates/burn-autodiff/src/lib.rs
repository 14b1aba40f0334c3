//! Tapes, gradient rules and higher-order gradients.
