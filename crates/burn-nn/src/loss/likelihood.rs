//! Losses of distributions: [`GaussianNLLLoss`], [`PoissonNllLoss`] and [`KLDivLoss`].

use super::Reduction;
use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::Tensor;
use core::f64::consts::PI;
#[cfg(not(feature = "std"))]
#[allow(
    unused_imports,
    reason = "unneeded where a dependency links the standard library"
)]
use num_traits::Float as _;

/// Describes a [`GaussianNLLLoss`].
#[derive(Config, Debug)]
pub struct GaussianNLLLossConfig {
    /// The least variance, above 0.
    #[config(default = 1e-6)]
    pub eps: f64,
    /// Whether the constant `ln(2π) / 2` is added.
    #[config(default = false)]
    pub full: bool,
}

/// How unlikely targets are under normal distributions: `(ln v + (x - y)² / v) / 2` with `v = max(variance, ε)` (Nix and
/// Weigend 1994, equation 3).
///
/// A variance below `ε` has the gradient of `ε`, so that it can grow.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct GaussianNLLLoss {
    /// The least variance.
    pub eps: f64,
    /// Whether the constant `ln(2π) / 2` is added.
    pub full: bool,
}

impl GaussianNLLLossConfig {
    /// The loss.
    ///
    /// # Panics
    /// If `eps` is not above 0.
    #[track_caller]
    pub fn init(&self) -> GaussianNLLLoss {
        check::field(
            self.eps > 0.0,
            "GaussianNLLLoss",
            "eps",
            self.eps,
            "above 0",
        );
        GaussianNLLLoss {
            eps: self.eps,
            full: self.full,
        }
    }
}

impl GaussianNLLLoss {
    /// The losses of means and variances, reduced.
    #[track_caller]
    pub fn forward<const D: usize>(
        &self,
        input: Tensor<D>,
        target: Tensor<D>,
        var: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward_no_reduction(input, target, var))
    }

    /// The loss of each mean and variance.
    #[track_caller]
    pub fn forward_no_reduction<const D: usize>(
        &self,
        input: Tensor<D>,
        target: Tensor<D>,
        var: Tensor<D>,
    ) -> Tensor<D> {
        // The value of the clamp, the gradient of the variance.
        let value = var.clone().detach();
        let slope = var.sub(value.clone());
        let var = value.clamp_min(self.eps).add(slope);
        let square = input.sub(target).square().div(var.clone());
        let losses = var.log().add(square).mul_scalar(0.5);
        match self.full {
            true => losses.add_scalar(0.5 * (2.0 * PI).ln()),
            false => losses,
        }
    }
}

/// Describes a [`PoissonNllLoss`].
#[derive(Config, Debug)]
pub struct PoissonNllLossConfig {
    /// Whether the input is the logarithm of the rate.
    #[config(default = true)]
    pub log_input: bool,
    /// Whether Stirling's approximation of `ln y!` is added for targets above 1.
    #[config(default = false)]
    pub full: bool,
    /// Added to a rate before its logarithm, above 0.
    #[config(default = 1e-8)]
    pub eps: f64,
}

/// How unlikely counts are under Poisson distributions: `eˣ - y · x`, or `x - y · ln(x + ε)` of a rate that is given as
/// it is.
///
/// What is full has `y · ln y - y + ln(2πy) / 2` in addition where `y > 1`.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct PoissonNllLoss {
    /// Whether the input is the logarithm of the rate.
    pub log_input: bool,
    /// Whether Stirling's approximation of `ln y!` is added for targets above 1.
    pub full: bool,
    /// Added to a rate before its logarithm.
    pub eps: f64,
}

impl PoissonNllLossConfig {
    /// The loss.
    ///
    /// # Panics
    /// If `eps` is not above 0.
    #[track_caller]
    pub fn init(&self) -> PoissonNllLoss {
        check::field(self.eps > 0.0, "PoissonNllLoss", "eps", self.eps, "above 0");
        PoissonNllLoss {
            log_input: self.log_input,
            full: self.full,
            eps: self.eps,
        }
    }
}

impl PoissonNllLoss {
    /// The losses, reduced.
    #[track_caller]
    pub fn forward<const D: usize>(
        &self,
        predictions: Tensor<D>,
        targets: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward_no_reduction(predictions, targets))
    }

    /// The loss of each element.
    #[track_caller]
    pub fn forward_no_reduction<const D: usize>(
        &self,
        predictions: Tensor<D>,
        targets: Tensor<D>,
    ) -> Tensor<D> {
        let (rate, log) = match self.log_input {
            true => (predictions.clone().exp(), predictions),
            false => {
                let log = predictions.clone().add_scalar(self.eps).log();
                (predictions, log)
            }
        };
        let losses = rate.sub(targets.clone().mul(log));
        match self.full {
            true => losses.add(stirling(targets)),
            false => losses,
        }
    }
}

/// `y · ln y - y + ln(2πy) / 2` above 1, 0 elsewhere (Abramowitz and Stegun 1964, 6.1.37).
fn stirling<const D: usize>(targets: Tensor<D>) -> Tensor<D> {
    let few = targets.clone().lower_equal_scalar(1.0);
    let targets = targets.mask_fill(few.clone(), 1.0);
    let log = targets.clone().log();
    let half = log.clone().add_scalar((2.0 * PI).ln()).mul_scalar(0.5);
    let sum = targets.clone().mul(log).sub(targets).add(half);
    sum.mask_fill(few, 0.0)
}

/// Describes a [`KLDivLoss`].
#[derive(Config, Debug)]
pub struct KLDivLossConfig {
    /// Whether targets are logarithms too.
    #[config(default = false)]
    pub log_target: bool,
}

/// The divergence of distributions from target distributions: `p · (ln p - x)`, where `x` are logarithms of
/// probabilities (Kullback and Leibler 1951, equation 2.5). What is impossible in the target counts as 0.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct KLDivLoss {
    /// Whether targets are logarithms too.
    pub log_target: bool,
}

impl KLDivLossConfig {
    /// The loss.
    pub fn init(&self) -> KLDivLoss {
        KLDivLoss {
            log_target: self.log_target,
        }
    }
}

impl KLDivLoss {
    /// The losses, reduced: by the batch mean, which is the divergence, if that is left open.
    #[track_caller]
    pub fn forward<const D: usize>(
        &self,
        predictions: Tensor<D>,
        targets: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        let losses = self.forward_no_reduction(predictions, targets);
        match reduction {
            Reduction::Auto => Reduction::BatchMean.reduce(losses),
            reduction => reduction.reduce(losses),
        }
    }

    /// The loss of each element.
    #[track_caller]
    pub fn forward_no_reduction<const D: usize>(
        &self,
        predictions: Tensor<D>,
        targets: Tensor<D>,
    ) -> Tensor<D> {
        let targets_are_logs = self.log_target;
        let (target, impossible) = match targets_are_logs {
            true => (
                targets.clone().exp(),
                targets.clone().equal_scalar(f64::NEG_INFINITY),
            ),
            false => (targets.clone(), targets.clone().equal_scalar(0.0)),
        };
        // Neither the logarithm of 0 nor a product of 0 and infinity is formed.
        let log = match targets_are_logs {
            true => targets.mask_fill(impossible.clone(), 0.0),
            false => targets.mask_fill(impossible.clone(), 1.0).log(),
        };
        let predictions = predictions.mask_fill(impossible.clone(), 0.0);
        target.mul(log.sub(predictions)).mask_fill(impossible, 0.0)
    }
}

in_one_line! {
    GaussianNLLLoss { eps, full }
    PoissonNllLoss { log_input, full, eps }
    KLDivLoss { log_target }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use burn_core::tensor::Device;

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn a_variance_of_nothing_can_grow() {
        let device = Device::default().autodiff();
        let [x, y] = [[1.0], [3.0]].map(|x| Tensor::<1>::from_data(x, &device));
        let var = Tensor::<1>::from_data([-1e4], &device).require_grad();
        let loss = GaussianNLLLossConfig::new().with_eps(0.5).init();
        let loss = loss.forward_no_reduction(x, y, var.clone());
        let gradient = var.grad(&loss.clone().backward());
        // (ln 0.5 + 4 / 0.5) / 2, and (1 / 0.5 - 4 / 0.25) / 2
        assert!((values(loss)[0] - 3.653_426_4).abs() < 1e-6);
        assert_eq!(values(gradient.expect("the variance is a leaf")), [-7.0]);
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn what_is_impossible_diverges_by_nothing() {
        let device = Device::default().autodiff();
        let inf = f32::INFINITY;
        let x = Tensor::<1>::from_data([-inf, -2.0, -1e4], &device).require_grad();
        let targets = [[0.0, 1.0, 0.0], [-inf, 0.0, -inf]];
        for (log_target, target) in [false, true].into_iter().zip(targets) {
            let loss = KLDivLossConfig::new().with_log_target(log_target).init();
            let target = Tensor::<1>::from_data(target, &device).require_grad();
            let losses = loss.forward_no_reduction(x.clone(), target.clone());
            assert_eq!(values(losses.clone()), [0.0, 2.0, 0.0]);
            let gradients = losses.sum().backward();
            let gradient = x.grad(&gradients).expect("the input is a leaf");
            assert_eq!(values(gradient), [0.0, -1.0, 0.0]);
            let gradient = target.grad(&gradients).expect("the target is a leaf");
            assert_eq!(values(gradient), [0.0, 3.0, 0.0]);
        }
    }

    #[test]
    fn a_divergence_is_a_mean_over_the_batch() {
        let device = Device::default();
        let log = Tensor::<2>::from_data([[0.5, 0.5], [0.5, 0.5]], &device).log();
        let target = Tensor::<2>::from_data([[1.0, 0.0], [0.0, 1.0]], &device);
        let loss = KLDivLossConfig::new().init();
        let mean: f32 = loss.forward(log, target, Reduction::Auto).into_scalar();
        assert!((mean - 2f32.ln()).abs() < 1e-6);
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn a_rate_of_0_has_a_finite_loss() {
        let device = Device::default().autodiff();
        let rate = Tensor::<1>::from_data([0.0, 0.0], &device).require_grad();
        let counts = Tensor::<1>::from_data([0.0, 2.0], &device);
        let loss = PoissonNllLossConfig::new().with_log_input(false).init();
        let losses = loss.forward_no_reduction(rate.clone(), counts);
        let gradient = rate.grad(&losses.clone().sum().backward());
        // -2 · ln 1e-8, and 1 - 2 / 1e-8
        assert_eq!(values(losses), [0.0, 36.841_362]);
        assert_eq!(values(gradient.expect("the rate is a leaf")), [1.0, -2e8]);
    }

    #[test]
    fn losses_print_their_options() {
        assert_eq!(
            format!("{}", GaussianNLLLossConfig::new().init()),
            "GaussianNLLLoss {eps: 0.000001, full: false}"
        );
        assert_eq!(
            format!("{}", PoissonNllLossConfig::new().init()),
            "PoissonNllLoss {log_input: true, full: false, eps: 0.00000001}"
        );
    }

    #[test]
    #[should_panic(expected = "`GaussianNLLLoss`: the field `eps` is 0.0\n  legal: above 0")]
    fn a_least_variance_of_0_is_refused() {
        GaussianNLLLossConfig::new().with_eps(0.0).init();
    }
}
