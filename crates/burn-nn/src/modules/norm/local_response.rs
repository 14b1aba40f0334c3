//! [`LocalResponseNorm`]: channels damped by their neighbours.

use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::Tensor;
use burn_core::tensor::module::avg_pool2d;
use burn_core::tensor::ops::AvgPoolOptions;

/// Describes a [`LocalResponseNorm`].
#[derive(Config, Debug)]
pub struct LocalResponseNormConfig {
    /// Channels that damp a channel, itself among them.
    pub size: usize,
    /// Factor of the mean square.
    #[config(default = 1e-4)]
    pub alpha: f64,
    /// Power of the damping.
    #[config(default = 0.75)]
    pub beta: f64,
    /// Added to the mean square.
    #[config(default = 1.0)]
    pub k: f64,
}

/// Each channel (dimension 1) divided by `(k + α · m)^β`, where `m` is the sum of the squares of the `size` channels
/// around it, divided by `size` (Krizhevsky, Sutskever and Hinton 2012, section 3.3; there `α` takes no part of `size`).
///
/// Of an even number of channels one more comes from before, as in PyTorch; ONNX takes it from behind.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct LocalResponseNorm {
    size: usize,
    alpha: f64,
    beta: f64,
    k: f64,
}

impl LocalResponseNormConfig {
    /// The layer.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    pub fn init(&self) -> LocalResponseNorm {
        check::positive("LocalResponseNorm", "size", &[self.size]);
        LocalResponseNorm {
            size: self.size,
            alpha: self.alpha,
            beta: self.beta,
            k: self.k,
        }
    }
}

impl LocalResponseNorm {
    /// Normalizes `[batch, channels, …]`.
    ///
    /// # Panics
    /// If the input has no channels.
    #[track_caller]
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let shape = input.shape();
        assert!(
            D >= 2,
            "`LocalResponseNorm`: the input has the shape {shape}\n  legal: [batch, channels, …]"
        );
        let rest = shape[2..].iter().product::<usize>();
        let squares = input.clone().square();
        let squares = squares.reshape([shape[0], 1, shape[1], rest]);
        // What lies outside counts as 0.
        let around = (self.size / 2, (self.size - 1) / 2);
        let windows = AvgPoolOptions::new([self.size, 1])
            .with_stride([1, 1])
            .with_padding_pairs([around, (0, 0)])
            .with_count_include_pad(true);
        let means: Tensor<D> = avg_pool2d(squares, windows).reshape(shape);
        let damping = means.mul_scalar(self.alpha).add_scalar(self.k);
        input.div(damping.powf_scalar(self.beta))
    }
}

in_one_line! {
    LocalResponseNorm { size, alpha, beta, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "`LocalResponseNorm`: the field `size` is 0\n  legal: at least 1")]
    fn a_window_of_nothing_is_refused() {
        LocalResponseNormConfig::new(0).init();
    }
}
