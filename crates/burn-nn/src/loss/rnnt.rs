//! [`RNNTLoss`]: sequences that a transducer emits.

use super::Reduction;
use burn_core::config::Config;
use burn_core::module::Module;
use burn_core::tensor::{Int, Tensor, activation::log_softmax};

/// Describes an [`RNNTLoss`].
#[derive(Config, Debug)]
pub struct RNNTLossConfig {
    /// The class of no label.
    #[config(default = 0)]
    pub blank: usize,
    /// Whether the input is logits; otherwise it is logarithms of probabilities.
    #[config(default = true)]
    pub logits: bool,
}

/// How unlikely it is that a transducer emits a target, over all ways to put its labels between the blanks that end the
/// steps (Graves 2012, equation 18).
#[derive(Module, Debug)]
pub struct RNNTLoss {
    blank: usize,
    logits: bool,
}

impl RNNTLossConfig {
    /// The loss.
    pub fn init(&self) -> RNNTLoss {
        RNNTLoss {
            blank: self.blank,
            logits: self.logits,
        }
    }
}

impl RNNTLoss {
    /// The loss of each sequence.
    ///
    /// # Shapes
    /// - `logits`: `[batch, steps, labels + 1, classes]`
    /// - `targets`: `[batch, labels]`; what is behind the length of a target does not count
    /// - `logit_lengths`: `[batch]`, steps of each sequence, at least 1
    /// - `target_lengths`: `[batch]`, labels of each sequence
    /// - output: `[batch]`
    ///
    /// # Panics
    /// If the shapes do not fit, or `blank` is no class.
    #[track_caller]
    pub fn forward(
        &self,
        logits: Tensor<4>,
        targets: Tensor<2, Int>,
        logit_lengths: Tensor<1, Int>,
        target_lengths: Tensor<1, Int>,
    ) -> Tensor<1> {
        let [batch, steps, rows, classes] = logits.dims();
        let lengths = [logit_lengths.dims(), target_lengths.dims()];
        assert!(
            steps > 0
                && targets.dims() == [batch, rows.saturating_sub(1)]
                && lengths == [[batch]; 2],
            "`RNNTLoss`: logits of shape {} do not fit targets of shape {}\n  legal: [batch, steps, labels + 1, classes] with a step, [batch, labels], and two lengths for each",
            logits.shape(),
            targets.shape()
        );
        assert!(
            self.blank < classes,
            "`RNNTLoss`: the field `blank` is {}\n  legal: one of {classes} classes",
            self.blank
        );
        let logs = match self.logits {
            true => log_softmax(logits, 3),
            false => logits,
        };
        let blanks = logs.clone().narrow(3, self.blank, 1).squeeze_dim::<3>(3);
        let labels = labels(logs, targets);
        let alphas = diagonals(&blanks, &labels);
        // A path ends with a blank in the last step, behind the last label.
        let step = logit_lengths.sub_scalar(1).reshape([batch, 1, 1]);
        let row = target_lengths.reshape([batch, 1, 1]);
        let pick = |logs: Tensor<3>, at: Tensor<3, Int>| {
            let column = logs.gather(1, at.expand([batch, 1, rows]));
            column.gather(2, row.clone()).reshape([batch])
        };
        let arrived = pick(alphas, step.clone().add(row.clone()));
        arrived.add(pick(blanks, step)).neg()
    }

    /// The losses, reduced.
    #[track_caller]
    pub fn forward_with_reduction(
        &self,
        logits: Tensor<4>,
        targets: Tensor<2, Int>,
        logit_lengths: Tensor<1, Int>,
        target_lengths: Tensor<1, Int>,
        reduction: Reduction,
    ) -> Tensor<1> {
        reduction.reduce(self.forward(logits, targets, logit_lengths, target_lengths))
    }
}

/// The logarithm of the probability of the label that leads to a row, from the row before: `[batch, steps, labels + 1]`,
/// minus infinity for the first row.
fn labels(logs: Tensor<4>, targets: Tensor<2, Int>) -> Tensor<3> {
    let [batch, steps, rows, _] = logs.dims();
    let none = Tensor::full(
        [batch, steps, 1],
        f64::NEG_INFINITY,
        (&logs.device(), logs.dtype()),
    );
    let every = targets.reshape([batch, 1, rows - 1, 1]);
    let found = logs
        .narrow(2, 0, rows - 1)
        .gather(3, every.expand([batch, steps, rows - 1, 1]));
    Tensor::cat(alloc::vec![none, found.squeeze_dim::<3>(3)], 2)
}

/// The forward variable (Graves 2012, equation 16) by diagonals: `[batch, steps + labels, labels + 1]` has that of
/// step `n - u` and row `u` at `(n, u)`. What is on a diagonal depends on the one before only.
fn diagonals(blanks: &Tensor<3>, labels: &Tensor<3>) -> Tensor<3> {
    let [batch, steps, rows] = blanks.dims();
    let count = steps + rows - 1;
    let (blanks, labels) = (skewed(blanks, 1), skewed(labels, 0));
    let none = Tensor::full(
        [batch, 1],
        f64::NEG_INFINITY,
        (&blanks.device(), blanks.dtype()),
    );
    let first = alloc::vec![none.zeros_like(), none.clone().expand([batch, rows - 1])];
    let mut alphas = alloc::vec![Tensor::cat(first, 1)];
    for n in 1..count {
        let before = &alphas[n - 1];
        let on = |logs: &Tensor<3>| logs.clone().narrow(1, n, 1).reshape([batch, rows]);
        let stay = before.clone().add(on(&blanks));
        let previous = before.clone().narrow(1, 0, rows - 1);
        let previous = Tensor::cat(alloc::vec![none.clone(), previous], 1);
        alphas.push(log_add(stay, previous.add(on(&labels))));
    }
    Tensor::stack(alphas, 1)
}

/// Values of steps and rows by diagonals: that of step `n - u - late` and row `u` at `(n, u)`, minus infinity where there
/// is no such step.
fn skewed(logs: &Tensor<3>, late: i64) -> Tensor<3> {
    let [batch, steps, rows] = logs.dims();
    let count = steps + rows - 1;
    let device = logs.device();
    let line = |size: usize| Tensor::<1, Int>::arange(0..size as i64, &device);
    let step = line(count).reshape([1, count, 1]);
    let step = step
        .sub(line(rows).reshape([1, 1, rows]))
        .sub_scalar(late)
        .expand([batch, count, rows]);
    let last = steps as i64 - 1;
    let outside = step.clone().lower_scalar(0);
    let outside = outside.bool_or(step.clone().greater_scalar(last));
    let found = logs.clone().gather(1, step.clamp(0, last));
    found.mask_fill(outside, f64::NEG_INFINITY)
}

/// `ln(eᵃ + eᵇ)`, whose gradient is 0 where both are minus infinity.
fn log_add(a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
    let max = a.clone().max_pair(b.clone()).detach();
    let nothing = max.clone().equal_scalar(f64::NEG_INFINITY);
    let max = max.mask_fill(nothing.clone(), 0.0);
    let sum = a.sub(max.clone()).exp().add(b.sub(max.clone()).exp());
    let log = sum.mask_fill(nothing.clone(), 1.0).log().add(max);
    log.mask_fill(nothing, f64::NEG_INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_core::tensor::Device;

    fn int<const D: usize>(data: impl Into<burn_core::tensor::TensorData>) -> Tensor<D, Int> {
        Tensor::from_data(data, &Device::default())
    }

    #[test]
    fn every_path_counts_once() {
        // All classes are as likely: each of `C(T - 1 + U, U)` paths has `T + U` emissions of probability 1/3.
        let logits = Tensor::<4>::zeros([2, 4, 3, 3], &Device::default());
        let targets = int([[1, 2], [2, 0]]);
        let loss = RNNTLossConfig::new().init();
        let losses = loss.forward(logits, targets, int([4, 2]), int([2, 1]));
        let losses: alloc::vec::Vec<f32> = losses.into_data().iter().collect();
        let expected = [6.0 * 3f32.ln() - 10f32.ln(), 3.0 * 3f32.ln() - 2f32.ln()];
        for (found, expected) in losses.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
        }
    }

    #[test]
    #[should_panic(
        expected = "`RNNTLoss`: logits of shape [1, 2, 2, 3] do not fit targets of shape [1, 2]"
    )]
    fn there_is_a_row_more_than_labels() {
        let logits = Tensor::<4>::zeros([1, 2, 2, 3], &Device::default());
        let loss = RNNTLossConfig::new().init();
        loss.forward(logits, int([[1, 2]]), int([2]), int([2]));
    }

    #[test]
    #[should_panic(expected = "`RNNTLoss`: the field `blank` is 3\n  legal: one of 3 classes")]
    fn the_blank_is_a_class() {
        let logits = Tensor::<4>::zeros([1, 2, 2, 3], &Device::default());
        let loss = RNNTLossConfig::new().with_blank(3).init();
        loss.forward(logits, int([[1]]), int([2]), int([1]));
    }
}
