//! [`CTCLoss`]: sequences that are spelled by longer ones.

use super::Reduction;
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::{Int, Tensor, module::ctc_loss};

/// Describes a [`CTCLoss`].
#[derive(Config, Debug)]
pub struct CTCLossConfig {
    /// The class of no letter.
    #[config(default = 0)]
    pub blank: usize,
    /// Whether a target that cannot be spelled counts as 0, with no gradient.
    #[config(default = false)]
    pub zero_infinity: bool,
}

/// How unlikely it is that steps spell a target, over all ways to repeat its letters and to put blanks between them
/// (Graves and others 2006, equation 5). Infinite where there are too few steps.
#[derive(Module, Debug)]
pub struct CTCLoss {
    blank: usize,
    zero_infinity: bool,
}

impl CTCLossConfig {
    /// The loss.
    pub fn init(&self) -> CTCLoss {
        CTCLoss {
            blank: self.blank,
            zero_infinity: self.zero_infinity,
        }
    }
}

impl CTCLoss {
    /// The loss of each sequence.
    ///
    /// # Shapes
    /// - `log_probs`: `[steps, batch, classes]`, logarithms of probabilities
    /// - `targets`: `[batch, letters]`; what is behind the length of a target does not count
    /// - `input_lengths`, `target_lengths`: `[batch]`
    /// - output: `[batch]`
    #[track_caller]
    pub fn forward(
        &self,
        log_probs: Tensor<3>,
        targets: Tensor<2, Int>,
        input_lengths: Tensor<1, Int>,
        target_lengths: Tensor<1, Int>,
    ) -> Tensor<1> {
        let losses = ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
        );
        if !self.zero_infinity {
            return losses;
        }
        let impossible = losses.clone().equal_scalar(f64::INFINITY);
        losses.mask_fill(impossible, 0.0)
    }

    /// The losses, reduced. For the mean each is divided by the length of its target, at least 1.
    #[track_caller]
    pub fn forward_with_reduction(
        &self,
        log_probs: Tensor<3>,
        targets: Tensor<2, Int>,
        input_lengths: Tensor<1, Int>,
        target_lengths: Tensor<1, Int>,
        reduction: Reduction,
    ) -> Tensor<1> {
        let lengths = target_lengths.clone();
        let losses = self.forward(log_probs, targets, input_lengths, target_lengths);
        let losses = match reduction {
            Reduction::Mean | Reduction::Auto => {
                let letters = lengths.clamp_min(1).float().cast(losses.dtype());
                losses.div(letters)
            }
            Reduction::Sum | Reduction::BatchMean => losses,
        };
        reduction.reduce(losses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use burn_core::tensor::{Device, activation::log_softmax};

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.try_into_vec_as().expect("a CPU tensor can be read")
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn a_target_that_cannot_be_spelled_counts_as_nothing_if_asked_for() {
        let device = Device::default().autodiff();
        let logits = Tensor::<3>::zeros([2, 2, 3], &device).require_grad();
        let int = |rows: [i32; 2]| Tensor::<1, Int>::from_data(rows, &device);
        let loss = |zero_infinity: bool| {
            // The first target needs a blank between its letters; the second is empty.
            let targets = Tensor::from_data([[1, 1], [1, 2]], &device);
            let config = CTCLossConfig::new().with_zero_infinity(zero_infinity);
            let probs = log_softmax(logits.clone(), 2);
            config.init().forward_with_reduction(
                probs,
                targets,
                int([2, 2]),
                int([2, 0]),
                Reduction::Mean,
            )
        };
        assert_eq!(values(loss(false)), [f32::INFINITY]);
        let loss = loss(true);
        let gradient = logits.grad(&loss.backward()).expect("logits are a leaf");
        // Half of 2 · ln 3: both steps are blank, and an empty target is divided by 1.
        assert!((values(loss)[0] - 3f32.ln()).abs() < 1e-6);
        let gradient = values(gradient);
        for (at, found) in gradient.into_iter().enumerate() {
            // (softmax - target) / 2 in the second sequence.
            let expected = [0.0, 0.0, 0.0, -1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0][at % 6];
            assert!((found - expected).abs() < 1e-6, "{at}: {found}");
        }
    }
}
