//! Gradient clipping, for each parameter by itself.
//! [`GradientsParams::clip_global_norm`](crate::GradientsParams::clip_global_norm) looks at all of them together.

use burn_core::config::Config;
use burn_core::tensor::Tensor;

use crate::numeric::{norm, scale, shortening};

/// Describes a [`GradientClipping`].
#[derive(Config, Debug, PartialEq)]
pub enum GradientClippingConfig {
    /// Each element is limited to `±value`.
    Value(f32),
    /// The gradient is shortened to this Euclidean norm if it is longer.
    Norm(f32),
}

impl GradientClippingConfig {
    /// The clipping.
    ///
    /// # Panics
    /// If the threshold is negative or NaN.
    #[track_caller]
    pub fn init(&self) -> GradientClipping {
        let (clipping, threshold) = match *self {
            Self::Value(value) => (GradientClipping::Value(value), value),
            Self::Norm(norm) => (GradientClipping::Norm(norm), norm),
        };
        assert!(
            threshold >= 0.0,
            "gradients are clipped at 0 or more, not at {threshold}"
        );
        clipping
    }
}

/// Limits the gradient of a parameter. What is not finite does not become finite by it.
#[derive(Clone, Debug, PartialEq)]
pub enum GradientClipping {
    /// Each element is limited to `±value`.
    Value(f32),
    /// The gradient is shortened to this Euclidean norm if it is longer.
    Norm(f32),
}

impl GradientClipping {
    /// The limited gradient.
    pub fn clip_gradient<const D: usize>(&self, grad: Tensor<D>) -> Tensor<D> {
        match *self {
            Self::Value(value) => grad.clamp(-value, value),
            Self::Norm(norm) => clip_norm(grad, norm),
        }
    }
}

fn clip_norm<const D: usize>(grad: Tensor<D>, max: f32) -> Tensor<D> {
    let factor = shortening(norm(grad.clone()), f64::from(max));
    scale(grad, factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use burn_core::tensor::Device;

    fn clip<const N: usize>(config: GradientClippingConfig, grad: [f32; N]) -> Vec<f32> {
        let grad = Tensor::<1>::from_data(grad, &Device::default());
        config
            .init()
            .clip_gradient(grad)
            .into_data()
            .iter::<f32>()
            .collect()
    }

    #[test]
    fn clipping_by_value_keeps_nan() {
        let grad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.3];
        let clipped = clip(GradientClippingConfig::Value(0.5), grad);
        assert!(clipped[0].is_nan());
        assert_eq!(clipped[1..], [0.5, -0.5, 0.3]);
    }

    #[test]
    fn clipping_by_norm_keeps_the_direction() {
        // |(3, 4)| = 5
        let clipped = clip(GradientClippingConfig::Norm(1.0), [3.0, 4.0]);
        assert!((clipped[0] - 0.6).abs() < 1e-6 && (clipped[1] - 0.8).abs() < 1e-6);
        assert_eq!(
            clip(GradientClippingConfig::Norm(1.0), [0.3, 0.4]),
            [0.3, 0.4]
        );
        assert_eq!(
            clip(GradientClippingConfig::Norm(1.0), [0.0, 0.0]),
            [0.0, 0.0]
        );
    }

    #[test]
    fn clipping_by_norm_does_not_hide_what_is_not_finite() {
        let infinite = clip(GradientClippingConfig::Norm(1.0), [f32::INFINITY, 1.0]);
        assert!(infinite[0].is_nan() && infinite[1] == 0.0, "{infinite:?}");
        let nan = clip(GradientClippingConfig::Norm(1.0), [f32::NAN, 1.0]);
        assert!(nan.iter().all(|x| x.is_nan()), "{nan:?}");
    }

    #[test]
    #[should_panic(expected = "gradients are clipped at 0 or more, not at -1")]
    fn a_negative_threshold_is_refused() {
        GradientClippingConfig::Norm(-1.0).init();
    }
}
