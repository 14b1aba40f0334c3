//! [`Dropout`]: zeros by chance in training.

use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::{Flag, Module, Param};
use burn_core::tensor::{Distribution, Tensor};

/// Describes a [`Dropout`].
#[derive(Config, Debug)]
pub struct DropoutConfig {
    /// The chance of each element to become zero, at least 0 and below 1.
    pub prob: f64,
}

/// Sets elements to zero by chance in training, and scales the others so that the mean stays (Srivastava and others
/// 2014). Off a tape nothing happens.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Dropout {
    /// The chance of each element to become zero.
    pub prob: f64,
    /// On in training.
    pub training: Param<Flag>,
}

impl DropoutConfig {
    /// The layer.
    ///
    /// # Panics
    /// If the chance is negative, or not below 1.
    #[track_caller]
    pub fn init(&self) -> Dropout {
        let chance = (0.0..1.0).contains(&self.prob);
        check::field(chance, "Dropout", "prob", self.prob, "at least 0, below 1");
        Dropout {
            prob: self.prob,
            training: Param::from_bool(true),
        }
    }
}

impl Dropout {
    /// Drops elements of a tensor of any shape.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        if !self.training.val().is_enabled() || !input.is_autodiff() || self.prob == 0.0 {
            return input;
        }
        let kept = 1.0 - self.prob;
        let mask = input.random_like(Distribution::Bernoulli(kept));
        input.mul(mask).div_scalar(kept)
    }
}

in_one_line! {
    Dropout { prob }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use burn_core::tensor::Device;

    fn values(tensor: Tensor<1>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn elements_are_dropped_in_training_and_kept_in_validation() {
        let device = Device::default().autodiff();
        let layer = DropoutConfig::new(0.25).init();
        let ones = || Tensor::<1>::ones([10_000], &device);
        let found = values(layer.forward(ones()));
        let dropped = found.iter().filter(|x| **x == 0.0).count();
        // Seven standard deviations: √(10000 · 0.25 · 0.75) = 43.
        assert!((2200..2800).contains(&dropped), "{dropped}");
        assert!(
            found
                .iter()
                .all(|x| *x == 0.0 || (x - 4.0 / 3.0).abs() < 1e-6)
        );
        let found = values(layer.valid().forward(ones()));
        assert!(found.iter().all(|x| *x == 1.0));
    }

    #[test]
    fn nothing_is_dropped_off_a_tape() {
        let layer = DropoutConfig::new(0.5).init();
        let ones = Tensor::<1>::ones([100], &Device::default());
        assert!(values(layer.forward(ones)).iter().all(|x| *x == 1.0));
        assert_eq!(format!("{layer}"), "Dropout {prob: 0.5}");
    }

    #[test]
    #[should_panic(expected = "`Dropout`: the field `prob` is 1.0\n  legal: at least 0, below 1")]
    fn not_everything_can_be_dropped() {
        DropoutConfig::new(1.0).init();
    }
}
