//! Connectionist temporal classification, in logarithms.

use crate::emit;
use crate::kind::Bool;
use crate::{Int, Tensor};
use burn_ir::Described;

/// Minus the logarithm of the probability that steps spell a target, over all ways to repeat its letters and to put
/// blanks between them (Graves and others 2006, section 4.1). Infinite where there is no way.
///
/// # Shapes
/// - `log_probs`: `[steps, batch, classes]`, logarithms of probabilities
/// - `targets`: `[batch, letters]`; what is behind the length of a target does not count
/// - `input_lengths`, `target_lengths`: `[batch]`
/// - output: `[batch]`
#[track_caller]
pub fn ctc_loss(
    log_probs: Tensor<3>,
    targets: Tensor<2, Int>,
    input_lengths: Tensor<1, Int>,
    target_lengths: Tensor<1, Int>,
    blank: usize,
) -> Tensor<1> {
    let [steps, batch, classes] = log_probs.dims();
    let letters = targets.dims()[1];
    let lengths = [&input_lengths, &target_lengths];
    let fits = targets.dims()[0] == batch && lengths.iter().all(|it| it.dims() == [batch]);
    if !fits || steps == 0 || blank >= classes {
        emit::fail(
            "ctc_loss",
            log_probs.handle.meta(),
            format_args!(
                "targets of shape {} and blank {blank} do not fit",
                targets.shape()
            ),
            format_args!(
                "[steps, batch, classes] with a step, [batch, letters], a length of each for each, and a blank class"
            ),
        );
    }
    // A blank, a letter, a blank, …, a letter, a blank.
    let states = 2 * letters + 1;
    let ends = Tensor::<2, Int>::full(
        [batch, 1],
        blank as i64,
        (&targets.device(), targets.dtype()),
    );
    let blanks = targets.full_like(blank as i64);
    let pairs: Tensor<3, Int> = Tensor::stack(alloc::vec![blanks, targets], 2);
    let labels = Tensor::cat(alloc::vec![pairs.reshape([batch, 2 * letters]), ends], 1);
    // From a letter to the next without a blank between them, if they differ.
    let skips = skips(labels.clone(), blank, states);
    let every = labels.unsqueeze_dim::<3>(0).expand([steps, batch, states]);
    let scores = log_probs.gather(2, every);
    let at = |step: usize| scores.clone().narrow(0, step, 1).reshape([batch, states]);
    let state = Tensor::<1, Int>::arange(0..states as i64, &scores.device());
    let later = state
        .greater_scalar(1)
        .unsqueeze::<2>()
        .expand([batch, states]);
    let mut alpha = at(0).mask_fill(later, f64::NEG_INFINITY);
    for step in 1..steps {
        let stay = alpha.clone();
        let next = shifted(&alpha, 1);
        let skip = shifted(&alpha, 2).mask_fill(skips.clone(), f64::NEG_INFINITY);
        let sum = log_sum_exp([stay.clone(), next, skip]).add(at(step));
        let over = input_lengths.clone().lower_equal_scalar(step as i64);
        let over = over.unsqueeze_dim::<2>(1).expand([batch, states]);
        alpha = sum.mask_where(over, stay);
    }
    ending(alpha, target_lengths).neg()
}

/// The logarithm of the probability of all ways, each of which ends in the last letter or in the blank behind it.
fn ending(alpha: Tensor<2>, target_lengths: Tensor<1, Int>) -> Tensor<1> {
    let batch = alpha.dims()[0];
    let last = target_lengths.clone().mul_scalar(2).unsqueeze_dim::<2>(1);
    let letter = last.clone().sub_scalar(1).clamp_min(0);
    let empty = target_lengths.equal_scalar(0).unsqueeze_dim::<2>(1);
    let in_blank = alpha.clone().gather(1, last);
    let in_letter = alpha.gather(1, letter).mask_fill(empty, f64::NEG_INFINITY);
    let nowhere = in_blank.full_like(f64::NEG_INFINITY);
    log_sum_exp([in_blank, in_letter, nowhere]).reshape([batch])
}

/// True where a state may not be reached from the one before the last.
fn skips(labels: Tensor<2, Int>, blank: usize, states: usize) -> Tensor<2, Bool> {
    let before = labels.clone().roll_dim(2, 1);
    let same = labels.clone().equal(before);
    let is_blank = labels.clone().equal_scalar(blank as i64);
    let first = Tensor::<1, Int>::arange(0..states as i64, &labels.device()).lower_scalar(2);
    let first = first.unsqueeze::<2>().expand([labels.dims()[0], states]);
    same.bool_or(is_blank).bool_or(first)
}

/// Each state's predecessor by some states, minus infinity where there is none.
fn shifted(alpha: &Tensor<2>, by: usize) -> Tensor<2> {
    let [batch, states] = alpha.dims();
    let kept = states.saturating_sub(by);
    let none = Tensor::full(
        [batch, states - kept],
        f64::NEG_INFINITY,
        (&alpha.device(), alpha.dtype()),
    );
    Tensor::cat(alloc::vec![none, alpha.clone().narrow(1, 0, kept)], 1)
}

/// `ln Σ e^x`, whose gradient is 0 where everything is minus infinity.
fn log_sum_exp(terms: [Tensor<2>; 3]) -> Tensor<2> {
    let [a, b, c] = terms.clone();
    let max = a.max_pair(b).max_pair(c).detach();
    let nothing = max.clone().equal_scalar(f64::NEG_INFINITY);
    let max = max.mask_fill(nothing.clone(), 0.0);
    let [a, b, c] = terms.map(|term| term.sub(max.clone()).exp());
    let sum = a.add(b).add(c).mask_fill(nothing.clone(), 1.0);
    sum.log().add(max).mask_fill(nothing, f64::NEG_INFINITY)
}
