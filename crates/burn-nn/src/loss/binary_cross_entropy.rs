//! [`BinaryCrossEntropyLoss`]: how unlikely right answers to yes-no questions are.

use crate::check;
use crate::display::in_one_line;
use alloc::vec::Vec;
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::{Device, Int, Tensor, activation::log_sigmoid};

/// Describes a [`BinaryCrossEntropyLoss`].
#[derive(Config, Debug)]
pub struct BinaryCrossEntropyLossConfig {
    /// How much each class counts: for vectors 0 and 1, for more dims each position along the last one.
    pub weights: Option<Vec<f32>>,
    /// Share of the targets spread evenly over the classes, in `0..=1`.
    pub smoothing: Option<f32>,
    /// Whether the input is logits; otherwise it is probabilities.
    #[config(default = false)]
    pub logits: bool,
}

/// The mean of `-w · (y · ln p + (1 - y) · ln(1 - p))` over all elements.
///
/// Logarithms of probabilities are at least -100, as in PyTorch. With label smoothing `α` over `C` classes a target `y`
/// is `(1 - α) · y + α / C`, where `C` is the size of the last dim, or 2 for vectors.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct BinaryCrossEntropyLoss {
    /// `[classes]`: how much each class counts.
    pub weights: Option<Tensor<1>>,
    /// Share of the targets spread evenly over the classes.
    pub smoothing: Option<f32>,
    /// Whether the input is logits; otherwise it is probabilities.
    pub logits: bool,
}

impl BinaryCrossEntropyLossConfig {
    /// The loss on `device`.
    ///
    /// # Panics
    /// If the smoothing is not in `0..=1` or a weight is negative.
    #[track_caller]
    pub fn init(&self, device: &Device) -> BinaryCrossEntropyLoss {
        const NAME: &str = "BinaryCrossEntropyLoss";
        if let Some(smoothing) = self.smoothing {
            let ok = (0.0..=1.0).contains(&smoothing);
            check::field(ok, NAME, "smoothing", smoothing, "0 to 1");
        }
        let weights = self.weights.as_ref().map(|weights| {
            let ok = weights.iter().all(|weight| *weight >= 0.0);
            check::field(ok, NAME, "weights", weights, "at least 0 each");
            Tensor::from_data(weights.as_slice(), device)
        });
        BinaryCrossEntropyLoss {
            weights,
            smoothing: self.smoothing,
            logits: self.logits,
        }
    }
}

impl BinaryCrossEntropyLoss {
    /// The loss.
    ///
    /// # Shapes
    /// - `logits`: `[rows]` or `[…, classes]`, logits or probabilities
    /// - `targets`: the same, 0 or 1
    /// - output: `[1]`
    ///
    /// # Panics
    /// If the shapes differ, or there is another number of weights than of classes.
    #[track_caller]
    pub fn forward<const D: usize>(&self, logits: Tensor<D>, targets: Tensor<D, Int>) -> Tensor<1> {
        assert!(
            logits.dims() == targets.dims(),
            "`BinaryCrossEntropyLoss`: targets of shape {} for an input of shape {}\n  legal: one target for each element",
            targets.shape(),
            logits.shape()
        );
        let classes = if D > 1 { logits.dims()[D - 1] } else { 2 };
        let yes = targets.clone().float().cast(logits.dtype());
        let yes = match self.smoothing {
            Some(share) => yes
                .mul_scalar(1.0 - share)
                .add_scalar(share / classes as f32),
            None => yes,
        };
        let no = yes.clone().neg().add_scalar(1.0);
        // Each tail has its own logarithm, so that neither is a difference of large numbers.
        let [log_yes, log_no] = match self.logits {
            true => [log_sigmoid(logits.clone()), log_sigmoid(logits.neg())],
            false => [
                bounded_log(logits.clone()),
                bounded_log(logits.neg().add_scalar(1.0)),
            ],
        };
        let losses = yes.mul(log_yes).add(no.mul(log_no));
        let losses = match &self.weights {
            Some(weights) => losses.mul(weighted(weights.clone(), targets, classes)),
            None => losses,
        };
        losses.mean().neg()
    }
}

/// `ln p`, but -100 and without a gradient where `p` is 0.
fn bounded_log<const D: usize>(p: Tensor<D>) -> Tensor<D> {
    let least = p.dtype().finfo().map_or(0.0, |info| info.min_positive);
    let zero = p.clone().abs().lower_scalar(least);
    let log = p.mask_fill(zero.clone(), 1.0).log();
    log.mask_fill(zero, -100.0)
}

/// The weight of each element.
#[track_caller]
fn weighted<const D: usize>(
    weights: Tensor<1>,
    targets: Tensor<D, Int>,
    classes: usize,
) -> Tensor<D> {
    let [count] = weights.dims();
    assert!(
        count == classes,
        "`BinaryCrossEntropyLoss`: the field `weights` has {count} elements\n  legal: {classes} for targets of shape {}",
        targets.shape()
    );
    if D > 1 {
        return weights.unsqueeze();
    }
    let own = targets.equal_scalar(1);
    let every = own.shape();
    let [no, yes] = [0, 1].map(|at| weights.clone().narrow(0, at, 1).reshape([1; D]));
    no.expand(every.clone()).mask_where(own, yes.expand(every))
}

in_one_line! {
    BinaryCrossEntropyLoss { weights, smoothing, logits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec;

    fn loss<const D: usize>(
        config: BinaryCrossEntropyLossConfig,
        logits: Tensor<D>,
        targets: Tensor<D, Int>,
    ) -> f32 {
        let device = logits.device();
        config.init(&device).forward(logits, targets).into_scalar()
    }

    fn line() -> (Tensor<1>, Tensor<1, Int>) {
        let device = Device::default();
        let logits = Tensor::from_data([0.2, -1.5, 3.0], &device);
        (logits, Tensor::from_data([1, 0, 1], &device))
    }

    #[track_caller]
    fn assert_close(found: f32, expected: f32) {
        // f32: a handful of roundings of values around 1.
        assert!((found - expected).abs() < 2e-6, "{found} for {expected}");
    }

    // Expected values are of the formula in the docs of `BinaryCrossEntropyLoss`, in f64.

    #[test]
    fn a_vector_has_a_weight_for_each_answer() {
        let config = BinaryCrossEntropyLossConfig::new().with_logits(true);
        let (logits, targets) = line();
        assert_close(loss(config.clone(), logits, targets), 0.282_713_2);
        let config = config.with_weights(Some(vec![1.0, 2.0]));
        let (logits, targets) = line();
        assert_close(loss(config.clone(), logits, targets), 0.498_288_6);
        let (logits, targets) = line();
        let config = config.with_smoothing(Some(0.1));
        assert_close(loss(config, logits, targets), 0.629_955_3);
    }

    #[test]
    fn more_dims_have_a_weight_along_the_last() {
        let device = Device::default();
        let rows = [[0.2, -1.5, 3.0], [0.7, 2.0, -0.4]];
        let logits = || Tensor::<2>::from_data(rows, &device);
        let targets = || Tensor::<2, Int>::from_data([[1, 0, 1], [0, 0, 1]], &device);
        let config = BinaryCrossEntropyLossConfig::new()
            .with_logits(true)
            .with_weights(Some(vec![1.0, 2.0, 3.0]));
        assert_close(loss(config.clone(), logits(), targets()), 1.540_469);
        let config = config.with_smoothing(Some(0.1));
        assert_close(loss(config, logits(), targets()), 1.619_913_6);
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn certain_answers_have_finite_losses_and_gradients() {
        let device = Device::default().autodiff();
        let targets = || Tensor::<1, Int>::from_data([1, 0, 1, 0], &device);
        let logits = Tensor::<1>::from_data([1e4, -1e4, -1e4, 1e4], &device).require_grad();
        let config = BinaryCrossEntropyLossConfig::new();
        let mean = config.clone().with_logits(true).init(&device);
        let mean = mean.forward(logits.clone(), targets());
        let gradient = logits.grad(&mean.backward()).expect("logits are a leaf");
        assert_eq!(mean.into_scalar::<f32>(), 5e3);
        let gradient: Vec<f32> = gradient.into_data().iter().collect();
        assert_eq!(gradient, [0.0, 0.0, -0.25, 0.25]);

        let probs = Tensor::<1>::from_data([1.0, 0.0, 0.0, 1.0], &device).require_grad();
        let mean = config.init(&device).forward(probs.clone(), targets());
        let gradient = probs.grad(&mean.backward()).expect("they are a leaf");
        assert_eq!(mean.into_scalar::<f32>(), 50.0);
        let gradient: Vec<f32> = gradient.into_data().iter().collect();
        assert!(gradient.iter().all(|x| x.is_finite()), "{gradient:?}");
        assert_eq!(gradient[..2], [-0.25, 0.25]);
    }

    #[test]
    fn the_loss_prints_its_options() {
        let config = BinaryCrossEntropyLossConfig::new()
            .with_weights(Some(vec![1.0, 2.0]))
            .with_smoothing(Some(0.1));
        assert_eq!(
            format!("{}", config.init(&Device::default())),
            "BinaryCrossEntropyLoss {weights: Tensor {rank: 1, shape: [2]}, smoothing: 0.1, logits: false}"
        );
    }

    #[test]
    #[should_panic(
        expected = "`BinaryCrossEntropyLoss`: the field `weights` has 3 elements\n  legal: 2"
    )]
    fn another_number_of_weights_is_refused() {
        let config = BinaryCrossEntropyLossConfig::new().with_weights(Some(vec![1.0; 3]));
        let (logits, targets) = line();
        loss(config, logits, targets);
    }

    #[test]
    #[should_panic(
        expected = "`BinaryCrossEntropyLoss`: targets of shape [2] for an input of shape [3]"
    )]
    fn an_element_without_a_target_is_refused() {
        let (logits, targets) = line();
        loss(
            BinaryCrossEntropyLossConfig::new(),
            logits,
            targets.narrow(0, 0, 2),
        );
    }
}
