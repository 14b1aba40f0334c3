//! [`CrossEntropyLoss`]: how unlikely the right classes are.

use alloc::vec::Vec;

use burn_core::config::Config;
use burn_core::module::{Content, DisplaySettings, Module, ModuleDisplay};
use burn_core::tensor::{Bool, Device, Int, Tensor, activation::log_softmax};

/// Describes a [`CrossEntropyLoss`].
#[derive(Config, Debug)]
pub struct CrossEntropyLossConfig {
    /// Classes that are padding: their rows do not count.
    pub pad_tokens: Option<Vec<usize>>,
    /// How much each class counts.
    pub weights: Option<Vec<f32>>,
    /// Share of the target spread evenly over all classes, in `0..=1`.
    pub smoothing: Option<f32>,
    /// Whether the input is logits; otherwise it is probabilities.
    #[config(default = true)]
    pub logits: bool,
}

/// The mean over the rows of `-ln p[target]`, weighted by class.
///
/// With label smoothing `α` over `C` classes a row is `(1 - α) · w[t] · -ln p[t]` plus
/// `α / C · Σ w[c] · -ln p[c]` (Szegedy et al., 2016); the sum is divided by `Σ w[t]`. Rows of
/// padding are in neither sum: if there are no others, the mean is NaN.
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct CrossEntropyLoss {
    /// Classes that are padding: their rows do not count.
    pub pad_tokens: Option<Vec<usize>>,
    /// `[classes]`: how much each class counts.
    pub weights: Option<Tensor<1>>,
    /// Share of the target spread evenly over all classes.
    pub smoothing: Option<f32>,
    /// Whether the input is logits; otherwise it is probabilities.
    pub logits: bool,
}

impl CrossEntropyLossConfig {
    /// The loss on `device`.
    ///
    /// # Panics
    /// If the smoothing is not in `0..=1` or a weight is negative.
    #[track_caller]
    pub fn init(&self, device: &Device) -> CrossEntropyLoss {
        if let Some(smoothing) = self.smoothing {
            assert!(
                (0.0..=1.0).contains(&smoothing),
                "the smoothing of a cross entropy is between 0 and 1, not {smoothing}"
            );
        }
        let weights = self.weights.as_ref().map(|weights| {
            assert!(
                weights.iter().all(|weight| *weight >= 0.0),
                "the weights of a cross entropy are at least 0, not {weights:?}"
            );
            Tensor::from_data(weights.as_slice(), device)
        });
        CrossEntropyLoss {
            pad_tokens: self.pad_tokens.clone(),
            weights,
            smoothing: self.smoothing,
            logits: self.logits,
        }
    }
}

impl CrossEntropyLoss {
    /// A loss of logits, in which the class `pad_index` is padding.
    pub fn new(pad_index: Option<usize>, device: &Device) -> Self {
        let pad_tokens = pad_index.map(|index| alloc::vec![index]);
        CrossEntropyLossConfig::new()
            .with_pad_tokens(pad_tokens)
            .init(device)
    }

    /// The loss.
    ///
    /// # Shapes
    /// - input: `[rows, classes]`, logits or probabilities
    /// - targets: `[rows]`, int; one that is neither a class nor padding makes the loss NaN
    /// - output: `[1]`
    ///
    /// # Panics
    /// If the numbers of rows differ.
    #[track_caller]
    pub fn forward(&self, input: Tensor<2>, targets: Tensor<1, Int>) -> Tensor<1> {
        let ([rows, classes], [targets_len]) = (input.dims(), targets.dims());
        assert!(
            rows == targets_len,
            "cross entropy takes one target for each row: {rows} rows, {targets_len} targets"
        );
        let losses = self.negative_log(input);
        let others = not_the_class(&targets, classes);
        let of_target = |values: Tensor<2>| {
            let values = values.mask_fill(others.clone(), 0.0).sum_dim(1);
            values.squeeze_dim::<1>(1)
        };

        let weights = match &self.weights {
            Some(weights) => of_target(weights.clone().expand([rows, classes])),
            None => Tensor::ones([rows], (&losses.device(), losses.dtype())),
        };
        let weights = self.without_padding(weights, &targets);
        let target_losses = Self::check(of_target(losses.clone()), &targets, classes);
        let target_losses = self.without_padding(target_losses, &targets) * weights.clone();
        let row_losses = match self.smoothing {
            None => target_losses,
            Some(smoothing) => {
                let even = self.weighted(losses).sum_dim(1).squeeze_dim::<1>(1);
                let even = self.without_padding(even, &targets);
                target_losses * (1.0 - smoothing) + even * (smoothing / classes as f32)
            }
        };
        row_losses.sum() / weights.sum()
    }

    /// `-ln p` of each class.
    fn negative_log(&self, input: Tensor<2>) -> Tensor<2> {
        if self.logits {
            return log_softmax(input, 1).neg();
        }
        // The smallest positive number of the dtype: ln 0 would make the mean infinite.
        let least = input
            .dtype()
            .finfo()
            .map_or(f64::from(f32::MIN_POSITIVE), |i| i.min_positive);
        input.clamp_min(least).log().neg()
    }

    fn weighted(&self, losses: Tensor<2>) -> Tensor<2> {
        match &self.weights {
            Some(weights) => losses * weights.clone().unsqueeze::<2>(),
            None => losses,
        }
    }

    /// `rows` with NaN where the target is no class: reading it to say so would stop the device.
    fn check(rows: Tensor<1>, targets: &Tensor<1, Int>, classes: usize) -> Tensor<1> {
        let below = targets.clone().lower_elem(0);
        let above = targets.clone().greater_equal_elem(classes as i64);
        rows.mask_fill(below.bool_or(above), f32::NAN)
    }

    /// `rows` with 0 where the target is padding.
    fn without_padding(&self, rows: Tensor<1>, targets: &Tensor<1, Int>) -> Tensor<1> {
        match self.padding(targets) {
            Some(padding) => rows.mask_fill(padding, 0.0),
            None => rows,
        }
    }

    fn padding(&self, targets: &Tensor<1, Int>) -> Option<Tensor<1, Bool>> {
        let tokens = self.pad_tokens.as_deref()?.iter();
        let masks = tokens.map(|token| targets.clone().equal_elem(*token as i64));
        masks.reduce(Tensor::bool_or)
    }
}

/// `[rows, classes]`: whether the class is another than the target of the row.
fn not_the_class(targets: &Tensor<1, Int>, classes: usize) -> Tensor<2, Bool> {
    let options = (&targets.device(), targets.dtype());
    let columns = Tensor::<1, Int>::arange(0..classes as i64, options).unsqueeze::<2>();
    targets.clone().unsqueeze_dim::<2>(1).not_equal(columns)
}

impl ModuleDisplay for CrossEntropyLoss {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new()
            .with_new_line_after_attribute(false)
            .optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        content
            .add_debug_attribute("pad_tokens", &self.pad_tokens)
            .add("weights", &self.weights)
            .add("smoothing", &self.smoothing)
            .add("logits", &self.logits)
            .optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec;

    const LOGITS: [[f32; 3]; 3] = [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0]];

    #[track_caller]
    fn assert_close(found: f32, expected: f32) {
        // f32: a handful of roundings of values around 1.
        assert!((found - expected).abs() < 2e-6, "{found} for {expected}");
    }

    fn loss(config: CrossEntropyLossConfig, targets: [i32; 3]) -> f32 {
        let device = Device::default();
        let logits = Tensor::from_data(LOGITS, &device);
        let targets = Tensor::from_data(targets, &device);
        config.init(&device).forward(logits, targets).into_scalar()
    }

    // Expected values are of the formula in the docs of `CrossEntropyLoss`, in f64.

    #[test]
    fn the_mean_is_over_the_rows() {
        assert_close(loss(CrossEntropyLossConfig::new(), [0, 1, 2]), 0.477_693_34);
    }

    #[test]
    fn a_class_counts_by_its_weight() {
        let config = CrossEntropyLossConfig::new().with_weights(Some(vec![1.0, 2.0, 3.0]));
        assert_close(loss(config, [0, 1, 2]), 0.620_871_24);
    }

    #[test]
    fn smoothing_spreads_a_share_of_the_target_over_all_classes() {
        let config = CrossEntropyLossConfig::new().with_smoothing(Some(0.1));
        assert_close(loss(config.clone(), [0, 1, 2]), 0.588_804_4);
        let config = config.with_weights(Some(vec![1.0, 2.0, 3.0]));
        assert_close(loss(config.clone(), [0, 1, 2]), 0.728_775_75);
        let config = config.with_pad_tokens(Some(vec![2]));
        assert_close(loss(config, [0, 1, 2]), 0.395_559_5);
    }

    #[test]
    fn padding_counts_neither_in_the_sum_nor_in_the_number_of_rows() {
        let device = Device::default().autodiff();
        let logits = Tensor::<2>::from_data(LOGITS, &device).require_grad();
        let targets = Tensor::from_data([0, 1, 2], &device);
        let loss = CrossEntropyLoss::new(Some(2), &device).forward(logits.clone(), targets);
        assert_close(loss.clone().into_scalar(), 0.167_233_88);

        let grads = logits.grad(&loss.backward()).expect("logits are a leaf");
        let grads: Vec<f32> = grads.try_into_vec_as().expect("it can be read");
        // (softmax - target) / 2 in the first two rows.
        let expected = [
            -0.106_507,
            0.053_253_5,
            0.053_253_5,
            0.022_639_2,
            -0.045_278_5,
            0.022_639_2,
            0.0,
            0.0,
            0.0,
        ];
        for (found, expected) in grads.into_iter().zip(expected) {
            assert_close(found, expected);
        }
    }

    #[test]
    fn padding_need_not_be_a_class() {
        let config = CrossEntropyLossConfig::new().with_pad_tokens(Some(vec![7, 9]));
        // The third row's loss is ln 3, the mean of all three 0.477…
        assert_close(
            loss(config, [0, 1, 9]),
            (3.0 * 0.477_693_34 - 3f32.ln()) / 2.0,
        );
    }

    #[test]
    fn a_mean_of_nothing_is_nan() {
        let config = CrossEntropyLossConfig::new().with_pad_tokens(Some(vec![0, 1]));
        assert!(loss(config, [0, 1, 0]).is_nan());
    }

    #[test]
    fn a_target_that_is_no_class_is_not_hidden() {
        assert!(loss(CrossEntropyLossConfig::new(), [0, 1, 3]).is_nan());
        assert!(loss(CrossEntropyLossConfig::new(), [-1, 1, 2]).is_nan());
    }

    #[test]
    fn probabilities_are_taken_as_they_are() {
        let device = Device::default();
        let loss = |probabilities: [[f32; 3]; 2], targets: [i32; 2]| -> f32 {
            let loss = CrossEntropyLossConfig::new()
                .with_logits(false)
                .init(&device);
            let probabilities = Tensor::from_data(probabilities, &device);
            loss.forward(probabilities, Tensor::from_data(targets, &device))
                .into_scalar()
        };
        // (ln 4 + ln 1.25) / 2
        assert_close(
            loss([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]], [1, 1]),
            0.804_719,
        );
        let impossible = loss([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], [0, 1]);
        assert!(impossible.is_finite() && impossible > 40.0, "{impossible}");
    }

    #[test]
    #[cfg(feature = "autodiff")]
    fn certain_answers_have_finite_losses_and_gradients() {
        let device = Device::default().autodiff();
        let run = |logits: bool, rows: [[f32; 2]; 2]| -> (f32, Vec<f32>) {
            let input = Tensor::<2>::from_data(rows, &device).require_grad();
            let loss = CrossEntropyLossConfig::new()
                .with_logits(logits)
                .init(&device);
            let loss = loss.forward(input.clone(), Tensor::from_data([0, 1], &device));
            let grads = input.grad(&loss.backward()).expect("it is a leaf");
            (loss.into_scalar(), grads.into_data().iter().collect())
        };
        let (loss, grads) = run(true, [[1e4, -1e4], [1e4, -1e4]]);
        assert_eq!(loss, 1e4);
        assert_eq!(grads, [0.0, 0.0, 0.5, -0.5]);
        let (loss, grads) = run(false, [[1.0, 0.0], [1.0, 0.0]]);
        assert!(loss.is_finite() && loss > 40.0, "{loss}");
        assert!(grads.iter().all(|x| x.is_finite()), "{grads:?}");
        assert_eq!(grads[..3], [-0.5, 0.0, 0.0]);
    }

    #[test]
    #[should_panic(expected = "cross entropy takes one target for each row: 3 rows, 2 targets")]
    fn a_row_without_a_target_is_refused() {
        let device = Device::default();
        let targets = Tensor::from_data([0, 1], &device);
        let logits = Tensor::from_data(LOGITS, &device);
        CrossEntropyLoss::new(None, &device).forward(logits, targets);
    }

    #[test]
    #[should_panic(expected = "the smoothing of a cross entropy is between 0 and 1, not 1.5")]
    fn a_smoothing_above_1_is_refused() {
        let config = CrossEntropyLossConfig::new().with_smoothing(Some(1.5));
        config.init(&Device::default());
    }

    #[test]
    fn the_loss_prints_what_it_was_made_of() {
        let device = Device::default();
        let config = CrossEntropyLossConfig::new().with_weights(Some(vec![1.0, 2.0]));
        assert_eq!(
            format!("{}", config.init(&device)),
            "CrossEntropyLoss {pad_tokens: None, weights: Tensor {rank: 1, shape: [2]}, \
             smoothing: None, logits: true}"
        );
    }
}
