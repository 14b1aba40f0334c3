//! Losses of differences: [`MseLoss`], [`LpLoss`], [`HuberLoss`] and [`SmoothL1Loss`].

use super::Reduction;
use crate::{check, display::in_one_line};
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::{AsIndex, Tensor};

/// The square of each difference: `(x - y)²`.
#[derive(Module, Debug, Default)]
pub struct MseLoss;

impl MseLoss {
    /// The loss.
    pub fn new() -> Self {
        Self
    }

    /// The losses, reduced.
    #[track_caller]
    pub fn forward<const D: usize>(
        &self,
        logits: Tensor<D>,
        targets: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward_no_reduction(logits, targets))
    }

    /// The loss of each element.
    #[track_caller]
    pub fn forward_no_reduction<const D: usize>(
        &self,
        logits: Tensor<D>,
        targets: Tensor<D>,
    ) -> Tensor<D> {
        logits.sub(targets).square()
    }
}

/// Describes an [`LpLoss`].
#[derive(Config, Debug)]
pub struct LpLossConfig {
    /// The power, above 0.
    pub p: f64,
}

/// A power of each difference: `|x - y|ᵖ`.
#[derive(Module, Debug)]
pub struct LpLoss {
    /// The power.
    pub p: f64,
}

impl LpLossConfig {
    /// The loss.
    ///
    /// # Panics
    /// If `p` is not above 0.
    #[track_caller]
    pub fn init(&self) -> LpLoss {
        let ok = self.p > 0.0 && self.p.is_finite();
        check::field(ok, "LpLoss", "p", self.p, "a number above 0");
        LpLoss { p: self.p }
    }

    /// The loss with `p = 1`: the size of each difference.
    pub fn l1() -> LpLoss {
        LpLoss { p: 1.0 }
    }

    /// The loss with `p = 2`: the square of each difference.
    pub fn l2() -> LpLoss {
        LpLoss { p: 2.0 }
    }
}

impl LpLoss {
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
        let difference = predictions.sub(targets);
        if self.p == 2.0 {
            return difference.square();
        }
        let size = difference.abs();
        if self.p == 1.0 {
            return size;
        }
        // The slope at 0 is infinite for powers below 1, and is given as 0 there.
        let zero = size.clone().equal_scalar(0.0);
        let power = size.mask_fill(zero.clone(), 1.0).powf_scalar(self.p);
        power.mask_fill(zero, 0.0)
    }

    /// The means of the losses along dims, which keep size 1.
    #[track_caller]
    pub fn forward_reduce_dims<const D: usize>(
        &self,
        predictions: Tensor<D>,
        targets: Tensor<D>,
        dims: &[impl AsIndex],
    ) -> Tensor<D> {
        means(self.forward_no_reduction(predictions, targets), dims)
    }
}

/// The means along dims, which keep size 1; of no dims the tensor itself.
#[track_caller]
fn means<const D: usize>(losses: Tensor<D>, dims: &[impl AsIndex]) -> Tensor<D> {
    match dims {
        [] => losses,
        dims => losses.mean_dims(dims),
    }
}

/// Describes a [`HuberLoss`].
#[derive(Config, Debug)]
pub struct HuberLossConfig {
    /// The difference from which on the loss is linear, above 0.
    pub delta: f32,
}

/// `r² / 2` of differences `|r| ≤ δ`, and `δ · (|r| - δ / 2)` of larger ones (Huber 1964).
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct HuberLoss {
    /// The difference from which on the loss is linear.
    pub delta: f32,
    /// What the linear part is lowered by: `δ² / 2`.
    pub lin_bias: f32,
}

impl HuberLossConfig {
    /// The loss.
    ///
    /// # Panics
    /// If `delta` is not above 0.
    #[track_caller]
    pub fn init(&self) -> HuberLoss {
        let delta = self.delta;
        let ok = delta > 0.0 && delta.is_finite();
        check::field(ok, "HuberLoss", "delta", delta, "a number above 0");
        HuberLoss {
            delta,
            lin_bias: delta * delta * 0.5,
        }
    }
}

impl HuberLoss {
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
        self.forward_residuals(predictions.sub(targets))
    }

    /// The loss of each difference.
    #[track_caller]
    pub fn forward_residuals<const D: usize>(&self, residuals: Tensor<D>) -> Tensor<D> {
        bowl(residuals, self.delta, 1.0, self.lin_bias)
    }
}

/// `r² · s / 2` where `|r| ≤ edge`, and a line of slope `edge · s`, lowered by `bias`, beyond.
fn bowl<const D: usize>(residuals: Tensor<D>, edge: f32, scale: f32, bias: f32) -> Tensor<D> {
    let size = residuals.abs();
    let beyond = size.clone().greater_scalar(edge);
    let line = size.clone().mul_scalar(edge * scale).sub_scalar(bias);
    let square = size.square().mul_scalar(0.5 * scale);
    square.mask_where(beyond, line)
}

/// Describes a [`SmoothL1Loss`].
#[derive(Config, Debug)]
pub struct SmoothL1LossConfig {
    /// The difference from which on the loss is linear, above 0.
    #[config(default = 1.0)]
    pub beta: f32,
}

/// `r² / (2 · β)` of differences `|r| ≤ β`, and `|r| - β / 2` of larger ones (Girshick 2015, equation 3).
#[derive(Module, Debug)]
pub struct SmoothL1Loss {
    /// The difference from which on the loss is linear.
    pub beta: f32,
}

impl SmoothL1LossConfig {
    /// The loss.
    ///
    /// # Panics
    /// If `beta` is not above 0.
    #[track_caller]
    pub fn init(&self) -> SmoothL1Loss {
        let ok = self.beta > 0.0 && self.beta.is_finite();
        check::field(ok, "SmoothL1Loss", "beta", self.beta, "a number above 0");
        SmoothL1Loss { beta: self.beta }
    }
}

impl SmoothL1Loss {
    /// The loss of each element.
    #[track_caller]
    pub fn forward<const D: usize>(&self, predictions: Tensor<D>, targets: Tensor<D>) -> Tensor<D> {
        let scale = self.beta.recip();
        bowl(predictions.sub(targets), self.beta, scale, 0.5 * self.beta)
    }

    /// The losses, reduced.
    #[track_caller]
    pub fn forward_with_reduction<const D: usize>(
        &self,
        predictions: Tensor<D>,
        targets: Tensor<D>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward(predictions, targets))
    }

    /// The means of the losses along dims, which keep size 1.
    #[track_caller]
    pub fn forward_reduce_dims<const D: usize>(
        &self,
        predictions: Tensor<D>,
        targets: Tensor<D>,
        dims: &[impl AsIndex],
    ) -> Tensor<D> {
        means(self.forward(predictions, targets), dims)
    }
}

in_one_line! {
    HuberLoss { delta, lin_bias }
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
    fn equal_values_have_the_loss_and_the_gradient_0() {
        let device = Device::default().autodiff();
        for p in [0.5, 1.0, 1.5, 2.0, 3.0] {
            let x = Tensor::<1>::from_data([0.0, 2.0], &device).require_grad();
            let loss = LpLossConfig::new(p).init();
            let loss = loss.forward(x.clone(), x.clone().detach(), Reduction::Sum);
            let gradient = x.grad(&loss.backward()).expect("the input is a leaf");
            assert_eq!(values(loss), [0.0], "{p}");
            assert_eq!(values(gradient), [0.0, 0.0], "{p}");
        }
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn large_differences_have_a_finite_slope() {
        let device = Device::default().autodiff();
        let x = Tensor::<1>::from_data([1e4, -1e30], &device).require_grad();
        let zeros = || Tensor::<1>::zeros([2], &device);
        let loss = HuberLossConfig::new(1.0).init();
        let loss = loss.forward(x.clone(), zeros(), Reduction::Sum);
        let gradient = x.grad(&loss.backward()).expect("the input is a leaf");
        assert_eq!(values(loss), [1e30]);
        assert_eq!(values(gradient), [1.0, -1.0]);
        let loss = SmoothL1LossConfig::new().with_beta(2.0).init();
        let losses = loss.forward(x.clone(), zeros());
        let gradient = x.grad(&losses.clone().sum().backward());
        assert_eq!(values(losses), [9999.0, 1e30]);
        assert_eq!(values(gradient.expect("the input is a leaf")), [1.0, -1.0]);
    }

    #[test]
    fn dims_that_are_reduced_keep_size_1() {
        let device = Device::default();
        let x = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 5.0]], &device);
        let zeros = || Tensor::<2>::zeros([2, 2], &device);
        let losses = LpLossConfig::l1().forward_reduce_dims(x.clone(), zeros(), &[-1]);
        assert_eq!(losses.dims(), [2, 1]);
        assert_eq!(values(losses), [1.5, 4.0]);
        let loss = SmoothL1LossConfig::new().init();
        let losses = loss.forward_reduce_dims(x.clone(), zeros(), &[0]);
        assert_eq!(values(losses), [1.5, 3.0]);
        let none: [usize; 0] = [];
        let losses = LpLossConfig::l2().forward_reduce_dims(x, zeros(), &none);
        assert_eq!(values(losses), [1.0, 4.0, 9.0, 25.0]);
    }

    #[test]
    fn losses_print_their_options() {
        let loss = HuberLossConfig::new(1.5).init();
        assert_eq!(format!("{loss}"), "HuberLoss {delta: 1.5, lin_bias: 1.125}");
        assert_eq!(format!("{}", MseLoss::new()), "MseLoss");
        assert_eq!(format!("{}", LpLossConfig::l2()), "LpLoss {\n  p: 2.0\n}");
    }

    #[test]
    #[should_panic(expected = "`LpLoss`: the field `p` is 0.0\n  legal: a number above 0")]
    fn a_power_of_0_is_refused() {
        LpLossConfig::new(0.0).init();
    }

    #[test]
    #[should_panic(expected = "`SmoothL1Loss`: the field `beta` is -1.0")]
    fn a_negative_beta_is_refused() {
        SmoothL1LossConfig::new().with_beta(-1.0).init();
    }
}
