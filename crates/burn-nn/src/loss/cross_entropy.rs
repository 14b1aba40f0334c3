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
            .add_debug_attribute("smoothing", &self.smoothing)
            .add("logits", &self.logits)
            .optional()
    }
}
